# SPDX-License-Identifier: Apache-2.0
"""What it means when a cloud lacks a service."""

from keystoneauth1 import access
from keystoneauth1 import adapter
from keystoneauth1 import fixture
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import access as identity

from zun.common import exception
from zun.common import rest
from zun.tests import base


class MissingServiceTest(base.TestCase):
    def _send(self, service_type: str) -> None:
        token = fixture.V3Token()
        token.set_project_scope()
        token.add_service('network').add_standard_endpoints(public='http://127.0.0.1:9')
        auth = identity.AccessInfoPlugin(access.create(body=token))
        service = rest.Rest('image service', lambda: adapter.Adapter(
            ks_session.Session(auth=auth), service_type=service_type), '/v2')
        service.send('GET', '/images')

    def test_is_told(self):
        error = self.assertRaises(exception.ServiceMissing, self._send, 'image')
        self.assertEqual((501, 'This cloud has no image service.'),
                         (error.code, error.message))

    def test_is_not_one_that_does_not_answer(self):
        error = self.assertRaises(exception.ServiceUnavailable, self._send, 'network')
        self.assertEqual(503, error.code)
        self.assertRegex(error.message, r'^The image service does not answer: .*[^.]\.$')
