# SPDX-License-Identifier: Apache-2.0
"""What other services are told of consoles."""

import types

from oslo_messaging import conffixture
from oslo_messaging.notify import _impl_test

from zun.common import context as zun_context
from zun.compute import streams
from zun.rpc import notifications
from zun.tests import base


class TestNotifications(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.useFixture(conffixture.ConfFixture(self.CONF)).transport_url = 'fake:/'
        notifications._notifier.cache_clear()
        self.addCleanup(notifications._notifier.cache_clear)
        _impl_test.reset()
        self.context = zun_context.RequestContext(
            user_id='u', project_id='p', auth_token='secret', overwrite=False)
        self.session = types.SimpleNamespace(
            id='s', container_uuid='c', project_id='p', user_id='u', kind='attach', exec_id=None,
            client_address='192.0.2.1', close_code=None, token_hash='hash')

    def test_session(self):
        self.config(group='oslo_messaging_notifications', driver=['test'])
        streams.notify(self.context, 'node-one', 'session.start', self.session)
        [(context, message, priority, _)] = _impl_test.NOTIFICATIONS
        self.assertEqual('INFO', priority.upper())
        self.assertEqual('console.session.start', message['event_type'])
        self.assertEqual('zun-compute:node-one', message['publisher_id'])
        self.assertEqual('192.0.2.1', message['payload']['client_address'])
        self.assertNotIn('token_hash', message['payload'])
        self.assertNotIn('secret', str(context))

    def test_nobody_asked(self):
        streams.notify(self.context, 'node-one', 'session.start', self.session)
        self.assertEqual([], _impl_test.NOTIFICATIONS)
