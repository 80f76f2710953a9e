# SPDX-License-Identifier: Apache-2.0
"""Cinder and Glance, over HTTP."""

import http.server
import json
import threading

import fixtures

from zun.common import clients
from zun.common import context as zun_context
from zun.common import exception
from zun.control import cinder
from zun.control import glance
from zun.tests import base

_ID = 'c1000000-0000-4000-8000-000000000001'


class _Server(fixtures.Fixture):
    """
    :ivar answers: (method, path) -> (status, body)
    :ivar seen: (method, path with query, token, body)
    """

    def _setUp(self):  # noqa: N802
        self.answers, self.seen = {}, []
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                """Nothing on the console."""

            def _serve(self):
                length = int(self.headers.get('Content-Length') or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                fixture.seen.append((self.command, self.path, self.headers['X-Auth-Token'], body))
                status, answer = fixture.answers.get(
                    (self.command, self.path.partition('?')[0]),
                    (404, {'itemNotFound': {'message': 'gone'}}))
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            do_GET = do_POST = do_DELETE = _serve  # noqa: N815
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f'http://127.0.0.1:{server.server_port}'


class _TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.server = self.useFixture(_Server())
        self.context = zun_context.RequestContext(
            project_id='p1', user_id='u1', auth_token='token', overwrite=False)
        self.addCleanup(self._forget)
        self._forget()

    @staticmethod
    def _forget():
        clients.session.cache_clear()
        clients.service_auth.cache_clear()

    def _connect(self, group, path=''):
        self.config(group=group, endpoint_override=self.server.url + path)
        self.config(group='keystone_auth', auth_type='none')


class CinderTest(_TestCase):
    def test_find(self):
        self._connect('cinder_client', '/v3')
        self.server.answers['GET', f'/v3/volumes/{_ID}'] = (200, {'volume': {'id': _ID}})
        self.server.answers['GET', '/v3/volumes/detail'] = (200, {'volumes': [{'id': 'x'}]})
        client = cinder.Cinder()
        self.assertEqual({'id': _ID}, client.find(self.context, _ID))
        self.assertEqual({'id': 'x'}, client.find(self.context, 'data'))
        self.assertEqual([('GET', f'/v3/volumes/{_ID}', 'token', None),
                          ('GET', '/v3/volumes/detail?name=data', 'token', None)],
                         self.server.seen)
        self.server.answers['GET', '/v3/volumes/detail'] = (200, {'volumes': []})
        self.assertRaises(exception.VolumeNotFound, client.find, self.context, 'data')
        self.server.answers['GET', '/v3/volumes/detail'] = (200, {'volumes': [{}, {}]})
        self.assertRaises(exception.Conflict, client.find, self.context, 'data')

    def test_the_users_project_is_in_the_path(self):
        self._connect('cinder_client', '/v3/service-project')
        self.server.answers['GET', f'/v3/p1/volumes/{_ID}'] = (200, {'volume': {'id': _ID}})
        self.assertEqual({'id': _ID}, cinder.Cinder().find(self.context, _ID))

    def test_create_and_delete(self):
        self._connect('cinder_client', '/v3')
        self.server.answers['POST', '/v3/volumes'] = (202, {'volume': {'id': _ID}})
        client = cinder.Cinder()
        self.assertEqual(_ID, client.create(self.context, 2))
        self.assertEqual(('POST', '/v3/volumes', 'token', {'volume': {'size': 2}}),
                         self.server.seen[-1])
        client.delete(self.context, _ID)
        self.server.answers['POST', '/v3/volumes'] = (
            413, {'overLimit': {'message': 'quota exceeded'}})
        error = self.assertRaises(exception.VolumeCreateFailed, client.create, self.context, 2)
        self.assertEqual((400, 'Volume Creation failed: quota exceeded'),
                         (error.code, error.message))

    def test_not_configured(self):
        client = cinder.Cinder()
        error = self.assertRaises(exception.VolumeNotFound, client.find, self.context, 'data')
        self.assertEqual(404, error.code)
        error = self.assertRaises(exception.VolumeCreateFailed, client.create, self.context, 2)
        self.assertEqual(400, error.code)


class GlanceTest(_TestCase):
    def test_life(self):
        self._connect('glance_client')
        self.server.answers['POST', '/v2/images'] = (201, {'id': _ID})
        client = glance.Glance()
        self.assertEqual(_ID, client.create(self.context, 'snap', ['v1'], {'zun_x': 'y'}))
        self.assertEqual(('POST', '/v2/images', 'token', {
            'name': 'snap', 'tags': ['v1'], 'visibility': 'private', 'zun_x': 'y',
            'container_format': 'docker', 'disk_format': 'raw'}), self.server.seen[-1])
        client.delete(self.context, _ID)
        self.assertEqual(('DELETE', f'/v2/images/{_ID}', 'token', None), self.server.seen[-1])

    def test_refused(self):
        self._connect('glance_client')
        self.server.answers['POST', '/v2/images'] = (403, 'no')
        self.assertRaises(exception.NotAuthorized, glance.Glance().create, self.context, 'n', [],
                          {})
