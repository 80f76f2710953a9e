# SPDX-License-Identifier: Apache-2.0
"""What every test starts from: default options and a captured log."""

import typing
import unittest

from keystoneauth1 import loading
from oslo_config import fixture as config_fixture
from oslotest import base
import testtools

from zun.common import config
import zun.conf
from zun.conf import keystone


class TestCase(base.BaseTestCase):
    """A test with options of its own.

    :ivar CONF: the global options, with their defaults
    :ivar conf_fixture: oslo.config's fixture around them
    """

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(_forget_auth_plugin)
        self.conf_fixture = self.useFixture(config_fixture.Config(zun.conf.CONF))
        self.CONF = self.conf_fixture.conf
        config.parse_args([], program='zun-tests', default_config_files=[])
        self.config(allow_default_encryption_key=True)

    def useFixture(self, fixture: typing.Any) -> typing.Any:  # noqa: N802
        """As everywhere, but a fixture that finds nothing to work with skips the test."""
        try:
            return super().useFixture(fixture)
        except testtools.MultipleExceptions as error:
            for _, reason, _ in error.args:
                if isinstance(reason, unittest.SkipTest):
                    raise reason from None
            raise

    def config(self, group: str | None = None, **values: typing.Any) -> None:
        """Set options of one group for the rest of the test.

        :param group: name of the group; None means [DEFAULT]
        """
        self.conf_fixture.config(group=group, **values)


def _forget_auth_plugin() -> None:
    """Unregister what loading the password plugin registers: some of it is required ever after."""
    options = loading.get_auth_plugin_conf_options(keystone.DEFAULT_AUTH_TYPE)
    for group, _ in keystone.GROUPS:
        zun.conf.CONF.unregister_opts(options, group=group.name)
