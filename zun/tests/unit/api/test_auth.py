# SPDX-License-Identifier: Apache-2.0

import base64
import os
import pathlib

import bcrypt
import fixtures
from keystonemiddleware import auth_token as keystone
from webob import exc

from zun.api.middleware import auth_token
from zun.tests.unit.api import base

ROUTES = '/, /v1'


def _basic(user, password):
    return {'Authorization': 'Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()}


class PublicRoutesTest(base.base.TestCase):
    def test_with_and_without_slash_and_format(self):
        routes = auth_token.public_routes(ROUTES)
        for path in ('', '/', '/v1', '/v1/', '/v1.json'):
            self.assertTrue(auth_token.is_public(routes, path), path)
        for path in ('/v1/containers', '/v2', '/v1x', '/containers', '/v1/.json/x', '/v1\n'):
            self.assertFalse(auth_token.is_public(routes, path), path)

    def test_nothing_is_public_by_default(self):
        self.assertEqual([], auth_token.public_routes(''))

    def test_forget_identity(self):
        kept = {'HTTP_X_AUTH_TOKEN': 't', 'HTTP_ACCEPT': '*', 'PATH_INFO': '/',
                'HTTP_X_OPENSTACK_REQUEST_ID': 'r'}
        environ = dict(kept, **dict.fromkeys((
            'HTTP_X_USER_ID', 'HTTP_X_PROJECT_ID', 'HTTP_X_ROLES', 'HTTP_X_ROLE',
            'HTTP_X_TENANT_ID', 'HTTP_X_DOMAIN_ID', 'HTTP_X_IDENTITY_STATUS',
            'HTTP_X_SERVICE_USER_ID', 'HTTP_X_SERVICE_ROLES', 'HTTP_X_IS_ADMIN_PROJECT',
            'HTTP_OPENSTACK_SYSTEM_SCOPE'), 'x'))
        auth_token.forget_identity(environ)
        self.assertEqual(kept, environ)


class TokensTest(base.ApiTest):
    def setUp(self):
        super().setUp()
        self.config('keystone_authtoken', www_authenticate_uri='http://keystone')
        self.wsgi = auth_token.AuthTokenMiddleware.factory({}, acl_public_routes=ROUTES)(
            self.wsgi)

    def test_without_token(self):
        response = self.call('/v1/containers')
        self.assertEqual(401, response.status_int)
        self.assertEqual('Keystone uri="http://keystone"', response.headers['WWW-Authenticate'])

    def test_public(self):
        self.assertEqual(200, self.call('/v1').status_int)

    def test_keystone_does_not_answer(self):
        self.useFixture(fixtures.MockPatchObject(
            keystone.AuthProtocol, 'process_request', side_effect=exc.HTTPServiceUnavailable))
        self.assert_error(self.call('/v1/containers'), 503, 'service-unavailable')


class UsersTest(base.ApiTest):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'htpasswd'
        self.write(admin='root', joe='secret')
        self.config('api', auth_strategy='http_basic', http_basic_auth_user_file=str(self.file))
        self.wsgi = auth_token.AuthTokenMiddleware.factory({}, acl_public_routes=ROUTES)(
            self.wsgi)

    def write(self, **users):
        self.file.write_text(''.join(
            f'{name}:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()}\n'
            for name, password in users.items()))

    def test_users_are_members_of_one_project(self):
        base.insert_container('11111111-1111-4111-8111-111111111111', project_id='default',
                              host='compute-1')
        view, = self.call('/v1/containers', identity=_basic('joe', 'secret')).json['containers']
        self.assertNotIn('host', view)
        view, = self.call('/v1/containers', identity=_basic('admin', 'root')).json['containers']
        self.assertEqual('compute-1', view['host'])

    def test_refused(self):
        for identity in ({}, _basic('joe', 'wrong'), _basic('jim', 'secret'),
                         _basic('joe', 'x' * 100), {'Authorization': 'Basic !'},
                         {'Authorization': 'Bearer x'}, {'Authorization': ''}):
            response = self.call('/v1/containers', identity=identity)
            self.assert_error(response, 401, 'unauthorized')
            self.assertEqual('Basic realm="zun"', response.headers['WWW-Authenticate'])

    def test_client_cannot_name_itself(self):
        response = self.call('/v1/containers', identity={**base.ADMIN})
        self.assertEqual(401, response.status_int)
        response = self.call('/v1/services', identity={**base.ADMIN, **_basic('joe', 'secret')})
        self.assertEqual(403, response.status_int)

    def test_public(self):
        self.assertEqual(200, self.call('/', identity={}).status_int)

    def test_changed_file_counts_at_once(self):
        joe = _basic('joe', 'secret')
        self.assertEqual(200, self.call('/v1/containers', identity=joe).status_int)
        self.write(joe='other')
        os.utime(self.file, (1, 1))
        self.assertEqual(401, self.call('/v1/containers', identity=joe).status_int)

    def test_password_is_hashed_once(self):
        check = self.useFixture(fixtures.MockPatch(
            'oslo_middleware.basic_auth.authenticate')).mock
        for _ in range(3):
            self.call('/v1/containers', identity=_basic('joe', 'secret'))
        self.assertEqual(1, check.call_count)
