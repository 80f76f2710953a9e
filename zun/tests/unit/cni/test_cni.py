# SPDX-License-Identifier: Apache-2.0

import http.server
import io
import json
import os
import socketserver
import tempfile
import threading

from zun.cni import plugin
from zun.tests import base


class _Daemon(http.server.BaseHTTPRequestHandler):
    """Answers as zun-cni-daemon would: by the name in CNI_ARGS."""

    def address_string(self):
        return 'zun-cni'

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        name = body['args'].get('K8S_POD_NAME')
        if self.path == '/v2/del':
            status, content = 204, None
        elif name == 'known':
            status, content = 200, {'result': {'cniVersion': body['cni_version']}}
        else:
            status, content = 404, {'code': 3, 'msg': f'no capsule {name} on this host'}
        text = json.dumps(content).encode() if content else b''
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class TestCni(base.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, 'cni.sock')

    def _serve(self):
        server = socketserver.ThreadingUnixStreamServer(self.socket, _Daemon)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def _run(self, command, name='known', version='1.0.0'):
        environ = {'CNI_COMMAND': command, 'CNI_CONTAINERID': 'c1', 'CNI_IFNAME': 'eth0',
                   'CNI_ARGS': f'IgnoreUnknown=1;K8S_POD_NAME={name}'}
        config = io.StringIO(json.dumps({'cniVersion': version, 'zun_socket': self.socket}))
        return plugin.run(environ, config)

    def test_version(self):
        self.assertEqual(plugin.SUPPORTED, self._run('VERSION')['supportedVersions'])

    def test_add(self):
        self._serve()
        self.assertEqual({'cniVersion': '1.0.0'}, self._run('ADD'))

    def test_delete_of_anything_succeeds(self):
        self._serve()
        self.assertIsNone(self._run('DEL', name='unknown'))

    def test_refusal_keeps_its_code(self):
        self._serve()
        error = self.assertRaises(plugin.CniError, self._run, 'ADD', name='unknown')
        self.assertEqual((3, 'no capsule unknown on this host'), (error.code, str(error)))

    def test_no_daemon_may_be_tried_again(self):
        error = self.assertRaises(plugin.CniError, self._run, 'ADD')
        self.assertEqual(plugin.AGAIN, error.code)

    def test_unsupported_version(self):
        error = self.assertRaises(plugin.CniError, self._run, 'ADD', version='9.9.9')
        self.assertEqual(plugin.INCOMPATIBLE, error.code)

    def test_unknown_verb(self):
        error = self.assertRaises(plugin.CniError, self._run, 'DANCE')
        self.assertEqual(plugin.ENVIRONMENT, error.code)

    def test_configuration_that_is_no_json(self):
        error = self.assertRaises(plugin.CniError, plugin.run, {'CNI_COMMAND': 'ADD'},
                                  io.StringIO('{'))
        self.assertEqual(plugin.DECODE, error.code)
