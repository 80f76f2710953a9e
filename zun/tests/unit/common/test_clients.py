# SPDX-License-Identifier: Apache-2.0
"""Whose tokens go to the neighbours."""

from zun.common import clients
from zun.common import context as zun_context
from zun.tests import base

URL = 'http://127.0.0.1:9/v3'


class UserTokenTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.config(group='cinder_client', endpoint_override=URL)
        self.config(group='keystone_auth', auth_type='none')
        self.forget()
        self.addCleanup(self.forget)

    def forget(self):
        clients.session.cache_clear()
        clients.service_auth.cache_clear()

    def headers(self):
        context = zun_context.RequestContext(auth_token='of the user', overwrite=False)
        adapter = clients.rest_of_user(context, 'cinder_client', 'block-storage')
        return adapter.session.get_auth_headers(adapter.auth)

    def test_alone(self):
        self.assertEqual({'X-Auth-Token': 'of the user'}, self.headers())

    def test_with_the_token_of_the_service(self):
        self.config(group='service_user', send_service_user_token=True, auth_type='admin_token')
        self.conf_fixture.load_raw_values(
            group='service_user', token='of the service', endpoint=URL)
        self.assertEqual(
            {'X-Auth-Token': 'of the user', 'X-Service-Token': 'of the service'}, self.headers())
