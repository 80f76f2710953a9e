# SPDX-License-Identifier: Apache-2.0
"""TLS of the stand-alone server."""

import contextlib
import socket
import ssl
import threading

from cheroot import wsgi
import fixtures

from zun.common import exception
from zun.tests import base
from zun.tests.functional.console import base as console
from zun.wsgi import server


def answer(environ, start_response):
    start_response('200 OK', [('Content-Length', '2')])
    return [b'ok']


class TlsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.tls = self.useFixture(fixtures.TempDir()).path
        console.certificates(self.tls, f'api={console.LOOPBACK}')
        self.config(group='ssl', cert_file=f'{self.tls}/api.pem', key_file=f'{self.tls}/api.key')

    def serve(self):
        made = wsgi.Server((console.LOOPBACK, 0), answer, timeout=5, shutdown_timeout=1)
        made.ssl_adapter = server.tls()
        made.prepare()
        threading.Thread(target=made.serve, daemon=True).start()
        self.addCleanup(made.stop)
        self.port = made.bind_addr[1]

    def fetch(self, certificate=None, newest=ssl.TLSVersion.TLSv1_3):
        """The first line of an answer, and the cipher it came with."""
        context = ssl.create_default_context(cafile=f'{self.tls}/ca.pem')
        context.maximum_version = newest
        if certificate:
            context.load_cert_chain(f'{self.tls}/{certificate}.pem',
                                    f'{self.tls}/{certificate}.key')
        plain = socket.create_connection((console.LOOPBACK, self.port), timeout=10)
        with contextlib.closing(plain), context.wrap_socket(
                plain, server_hostname=console.LOOPBACK) as secure:
            secure.sendall(b'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
            return secure.recv(100).split(b'\r\n')[0], secure.cipher()[0]

    def test_any_client(self):
        self.serve()
        self.assertEqual(b'HTTP/1.1 200 OK', self.fetch()[0])

    def test_clients_with_a_certificate_only(self):
        self.config(group='ssl', ca_file=f'{self.tls}/ca.pem')
        self.serve()
        self.assertRaises((ssl.SSLError, ConnectionError), self.fetch)
        self.assertEqual(b'HTTP/1.1 200 OK', self.fetch('zun-wsproxy')[0])

    def test_ciphers(self):
        wanted = 'ECDHE-ECDSA-CHACHA20-POLY1305'
        self.config(group='ssl', ciphers=wanted)
        self.serve()
        self.assertEqual(wanted, self.fetch(newest=ssl.TLSVersion.TLSv1_2)[1])

    def test_what_cannot_be_used(self):
        for values in ({'cert_file': None}, {'key_file': '/nowhere.key'},
                       {'key_file': f'{self.tls}/ca.key'}, {'ciphers': 'nonsense'}):
            with self.subTest(**values):
                good = {name: self.CONF.ssl[name] for name in values}
                self.config(group='ssl', **values)
                error = self.assertRaises(exception.ConfigInvalid, server.tls)
                self.assertIn('[ssl]: ', error.message)
                self.config(group='ssl', **good)
