# SPDX-License-Identifier: Apache-2.0
"""A real Placement in this process, on SQLite, with the role defaults of production."""

import atexit
import functools
import pathlib
import shutil
import tempfile
import unittest

import fixtures
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
from oslo_config import cfg
import sqlalchemy as sa

from zun.placement import client

try:
    from placement import conf as placement_conf
    from placement import db_api
    from placement import deploy
    from wsgi_intercept import interceptor
except ImportError as error:
    raise unittest.SkipTest(f'no Placement: {error}') from None

#: Tests have a directory for temporary files each; Placement's outlives them.
_TEMPORARY = tempfile.gettempdir()
URL = 'http://placement.test:80'
_CONF = """
[placement_database]
connection = sqlite:///{path}
sync_on_startup = true
[api]
auth_strategy = noauth2
[oslo_policy]
enforce_new_defaults = true
"""
RESET = ('DELETE FROM allocations', 'DELETE FROM consumers', 'DELETE FROM inventories',
          'DELETE FROM resource_provider_traits', 'DELETE FROM resource_provider_aggregates',
          'DELETE FROM placement_aggregates',
          'UPDATE resource_providers SET root_provider_id = NULL, parent_provider_id = NULL',
          'DELETE FROM resource_providers')


@functools.cache
def _application():
    """The application and its database; Placement can be configured once a process."""
    directory = pathlib.Path(tempfile.mkdtemp(dir=_TEMPORARY))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    (directory / 'placement.conf').write_text(_CONF.format(path=directory / 'placement.db'))
    conf = cfg.ConfigOpts()
    placement_conf.register_opts(conf)
    conf(['--config-file', str(directory / 'placement.conf')], project='placement')
    db_api.configure(conf)
    return deploy.loadapp(conf), sa.create_engine(f'sqlite:///{directory / "placement.db"}')


class Placement(fixtures.Fixture):
    """An empty Placement; traits stay known from one test to the next.

    :ivar application: the WSGI application itself
    :ivar calls: (method, path) of every request
    :ivar versions: of the requests, without the question for them
    """

    def _setUp(self):  # noqa: N802
        self.application, self.engine = _application()
        self.execute(*RESET)
        self.calls, self.versions = [], set()

        def recorded(environ, start_response):
            self.calls.append((environ['REQUEST_METHOD'], environ['PATH_INFO']))
            if environ['PATH_INFO'] != '/':
                self.versions.add(environ.get('HTTP_OPENSTACK_API_VERSION'))
            return self.application(environ, start_response)

        intercept = interceptor.RequestsInterceptor(lambda: recorded, url=URL)
        intercept.install_intercept()
        self.addCleanup(intercept.uninstall_intercept)

    def execute(self, *statements):
        with self.engine.begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))

    @staticmethod
    def connection(roles='service', **headers):
        """A connection with these roles."""
        session = ks_session.Session(
            auth=token_endpoint.Token(URL, 'zun:service'),
            additional_headers={'X-Roles': roles, **headers})
        return client.Connection(ks_adapter.Adapter(
            session, service_type='placement', raise_exc=False, connect_retries=0))
