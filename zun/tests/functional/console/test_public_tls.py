# SPDX-License-Identifier: Apache-2.0
"""TLS of the proxy's own port."""

import pathlib
import ssl

import fixtures
from websockets import exceptions as ws_exceptions

from zun.common import exception
from zun.console import service
from zun.tests.functional.console import base


class TestPublicTls(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tls = self.useFixture(fixtures.TempDir()).path
        base.certificates(self.tls, f'public={base.LOOPBACK}')
        self.base_url = self.base_url.replace('ws://', 'wss://')
        self.config(group='websocket_proxy', base_url=self.base_url, ssl_only=True,
                    cert=f'{self.tls}/public.pem', key=f'{self.tls}/public.key')
        self.serve_node()

    def dial_tls(self, url: str) -> base.TlsClient:
        connection = base.TlsClient(
            url, ssl=ssl.create_default_context(cafile=f'{self.tls}/ca.pem'),
            origin=f'https://{base.LOOPBACK}:None', subprotocols=['binary'])
        self.addCleanup(connection.stop)
        return connection

    def test_session(self):
        self.serve_proxy()
        ws = self.dial_tls(self.exec_url(self.container()))
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')

    def test_plain_is_refused(self):
        self.serve_proxy()
        url = self.exec_url(self.container())
        self.assertRaises((OSError, ws_exceptions.InvalidHandshake), self.dial,
                          url.replace('wss://', 'ws://'), open_timeout=5)
        self.dial_tls(url)

    def test_new_certificate(self):
        proxy = self.serve_proxy()
        container = self.container()
        before = self.dial_tls(self.exec_url(container)).peer()
        pathlib.Path(f'{self.tls}/public.pem').unlink()
        base.certificates(self.tls, f'public={base.LOOPBACK}')
        proxy.reset()
        self.assertNotEqual(before, self.dial_tls(self.exec_url(container)).peer())

    def test_unusable_files(self):
        for values in ({'cert': ''}, {'cert': '/nowhere.pem'}, {'key': f'{self.tls}/ca.key'}):
            with self.subTest(**values):
                self.config(group='websocket_proxy', **values)
                self.assertRaises(exception.ConfigInvalid, service.ProxyService().start)
                self.config(group='websocket_proxy', cert=f'{self.tls}/public.pem',
                            key=f'{self.tls}/public.key')

    def test_address_that_is_taken(self):
        self.serve_proxy()
        error = self.assertRaises(exception.ConfigInvalid, service.ProxyService().start)
        self.assertIn(str(self.CONF.websocket_proxy.wsproxy_port), error.message)
