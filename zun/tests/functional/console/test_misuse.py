# SPDX-License-Identifier: Apache-2.0
"""What must not work, at the proxy and at the node."""

import contextlib
import pathlib
import socket
import ssl
import urllib.parse

import fixtures
from oslo_utils import uuidutils
import sqlalchemy as sa
from websockets import exceptions as ws_exceptions

from zun.common import context as zun_context
from zun.common import exception
from zun.compute import streams
from zun.console import tickets
from zun.db import clock
from zun.db import engine as db_engine
from zun.db import models_console
from zun.objects import console_session
from zun.rpc import stream as rpc_stream
from zun.tests.functional import engine
from zun.tests.functional.console import base

_WRONG = 'The ticket is not valid: it is wrong, used or expired. Ask for a new console.'

#: How a client sees that TLS is refused, or the connection cut.
_CUT = (OSError, ws_exceptions.InvalidMessage, ws_exceptions.ConnectionClosedError)


class TestTickets(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.config(group='websocket_proxy', max_failures=0)
        self.serve_node()
        self.serve_proxy()
        self.target = self.shell()

    def refused(self, url: str, **options: str) -> None:
        self.assertEqual((403, _WRONG), base.refusal(lambda: self.dial(url, **options)))

    def works(self, url: str, **options: str) -> None:
        ws = self.dial(url, **options)
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')
        ws.close()

    def why(self, url: str) -> tuple[int, str]:
        """What the terminal page is told."""
        status, _, text = base.fetch(url.replace('/?', '/ticket?'))
        return status, text

    def test_used(self):
        url = self.attach_url(self.target)
        self.assertEqual((200, tickets.REASONS['valid']), self.why(url))
        self.works(url)
        self.refused(url)
        self.assertEqual((403, tickets.REASONS['used']), self.why(url))

    def test_one_of_many_wins(self):
        url = self.attach_url(self.target)
        results = base.together([lambda: self.dial(url)] * 20)
        opened = [each for each in results if not isinstance(each, Exception)]
        self.assertEqual(1, len(opened))
        for each in results:
            if isinstance(each, Exception):
                self.assertIsInstance(each, ws_exceptions.InvalidStatus)
                self.assertEqual(403, each.response.status_code)

    def test_expired(self):
        url = self.attach_url(self.target)
        table = models_console.console_session
        with db_engine.writer() as session:
            session.execute(sa.update(table).values(expires_at=clock.utc_now(-1)))
        self.refused(url)
        self.assertEqual((403, tickets.REASONS['expired']), self.why(url))

    def test_time_to_connect(self):
        self.assertEqual(600, self.CONF.console.token_ttl)
        self.config(group='console', token_ttl=1)
        url = self.attach_url(self.target)
        engine.wait_for('the ticket to expire', lambda: self.why(url)[0] == 403)
        self.refused(url)

    def test_forged(self):
        url = self.attach_url(self.target)
        head, token = url.split('token=')[0], url.split('token=')[1].split('&')[0]
        for wrong in ('0' * len(token), token[:-1], token + 'x', token.swapcase(), '', '%00', 'é'):
            self.refused(f'{head}token={urllib.parse.quote(wrong)}&uuid={self.target.uuid}')
        for without in (f'{head}token={token}', f'{head}uuid={self.target.uuid}', head,
                        f'{head}token={token}&uuid={self.target.name}',
                        f'{head}token={token}&uuid=%25', head + '&'.join('a=1' for _ in range(99))):
            self.refused(without)
        self.assertEqual((403, tickets.REASONS['unknown']), self.why(url.replace(token, 'x')))
        self.works(url)

    def test_of_another_container(self):
        other = self.shell()
        url = self.attach_url(self.target)
        self.refused(url.replace(self.target.uuid, other.uuid))
        self.refused(url.replace(self.target.uuid, uuidutils.generate_uuid()))
        self.works(url)

    def test_of_another_project(self):
        """A ticket says nothing of who brings it; its row does, and it opens nothing else."""
        stranger = zun_context.RequestContext(user_id='u', project_id='other', overwrite=False)
        self.assertRaises(exception.ContainerNotFound, type(self.target).get_by_uuid, stranger,
                          self.target.uuid)
        theirs = self.shell(project_id='other')
        token = streams.prepare_attach(self.node, stranger, theirs)
        self.refused(self.url(token, self.target))
        self.works(self.url(token, theirs))

    def test_of_an_exec(self):
        exec_id, token = streams.prepare_exec(self.node, self.context, self.target, 'sh', True)
        self.refused(self.url(token, self.target))
        self.refused(self.url(token, self.target, '0' * 64))
        self.refused(self.url(streams.prepare_attach(self.node, self.context, self.target),
                              self.target, exec_id))
        self.works(self.url(token, self.target, exec_id))

    def test_origin(self):
        self.config(group='websocket_proxy', allowed_origins=['dashboard.example'],
                    additional_base_urls=['wss://console.example/z/'])
        self.serve_again()
        url = self.attach_url(self.target)
        for origin in ('http://evil.example', 'https://dashboard.example.evil.example', 'null',
                       'https://127.0.0.1', 'http://console.example', 'file://', 'http://[bad'):
            status, text = base.refusal(lambda o=origin: self.dial(url, origin=o))
            self.assertEqual((403, 'Consoles cannot be opened from this page.'), (status, text))
        # Neither a refusal nor a Host header makes an origin known.
        status, _ = base.refusal(lambda: self.dial(
            url, origin='http://evil.example', additional_headers={'Host': 'evil.example'}))
        self.assertEqual(403, status)
        twice = [('Origin', 'http://127.0.0.1'), ('Origin', 'http://evil.example')]
        self.assertEqual(403, base.refusal(lambda: self.dial(url, additional_headers=twice))[0])
        for origin in ('http://127.0.0.1:None', 'http://dashboard.example:8080',
                       'https://DASHBOARD.example', 'https://console.example:444'):
            self.works(url, origin=origin)
            url = self.attach_url(self.target)

    def serve_again(self) -> None:
        port = base.free_port()
        self.base_url = f'ws://{base.LOOPBACK}:{port}/'
        self.config(group='websocket_proxy', base_url=self.base_url, wsproxy_port=port)
        self.serve_proxy()

    def test_tls_in_front(self):
        self.config(group='websocket_proxy', base_url='wss://console.example/')
        self.serve_proxy_behind()
        url = self.attach_url(self.target)
        for headers in ({'X-Forwarded-Proto': 'http'}, {'X-Forwarded-Proto': 'gopher'}):
            status, _ = base.refusal(lambda h=headers: self.dial(url, additional_headers=h))
            self.assertEqual(403, status)
        self.works(url, additional_headers={'X-Forwarded-Proto': 'https'},
                   origin='http://console.example')

    def serve_proxy_behind(self) -> None:
        port = base.free_port()
        self.base_url = f'ws://{base.LOOPBACK}:{port}/'
        self.config(group='websocket_proxy', wsproxy_port=port)
        self.config(group='oslo_middleware', enable_proxy_headers_parsing=True)
        self.serve_proxy()

    def test_too_many_failures(self):
        self.config(group='websocket_proxy', max_failures=5)
        url = self.attach_url(self.target)
        for _ in range(5):
            self.refused(url.replace('token=', 'token=x'))
        self.assertEqual(429, base.refusal(lambda: self.dial(url))[0])
        self.assertEqual(429, self.why(url)[0])

    def test_limit_of_sessions(self):
        self.config(group='websocket_proxy', max_sessions=2)
        for _ in range(2):
            self.dial(self.attach_url(self.target))
        url = self.attach_url(self.target)
        self.assertEqual(503, base.refusal(lambda: self.dial(url))[0])
        self.config(group='websocket_proxy', max_sessions=3)
        self.works(url)

    def test_limit_of_a_container(self):
        self.config(group='console', max_sessions_per_container=2)
        urls = [self.attach_url(self.target) for _ in range(3)]
        for url in urls[:2]:
            ws = self.dial(url)
            ws.send(b'echo sum=$((40+2))\n')
            base.read_until(ws, b'sum=42')
        _, code, reason = base.drain(self.dial(urls[2]))
        self.assertEqual(1013, code)
        self.assertIn('2 console sessions', reason)
        self.assertRaises(exception.Conflict, self.attach_url, self.target)
        self.works(self.attach_url(self.shell()))

    def test_limit_of_a_node(self):
        self.config(group='console', max_sessions=1)
        ws = self.dial(self.attach_url(self.target))
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')
        self.assertEqual(1013, base.drain(self.dial(self.attach_url(self.target)))[1])

    def test_frame_too_large(self):
        ws = self.dial(self.attach_url(self.target))
        ws.send(bytes(rpc_stream.MAX_FRAME + 1))
        self.assertEqual(1009, base.drain(ws)[1])
        self.works(self.attach_url(self.target))

    def test_node_that_is_not_there(self):
        url = self.attach_url(self.target)
        table = models_console.console_session
        with db_engine.writer() as session:
            session.execute(sa.update(table).values(node_url='unix:/nowhere'))
        _, code, reason = base.drain(self.dial(url))
        self.assertEqual((1011, 'The node cannot be reached.'), (code, reason))
        self.assertEqual(403, self.why(url)[0])

    def test_garbage_at_the_door(self):
        port = self.CONF.websocket_proxy.wsproxy_port
        for noise in (b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', b'\r\n\r\n\r\n',
                      b'GET /' + b'a' * 20000, b'POST / HTTP/1.1\r\nHost: x\r\n\r\n',
                      b'GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n'):
            with socket.create_connection((base.LOOPBACK, port), timeout=15) as sock:
                sock.sendall(noise)
                sock.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    while sock.recv(65536):
                        pass
        self.works(self.attach_url(self.target))

    def test_half_open_handshake_burns_no_ticket(self):
        url = self.attach_url(self.target)
        port = self.CONF.websocket_proxy.wsproxy_port
        target = '/' + url.split('/', 3)[3]
        with socket.create_connection((base.LOOPBACK, port), timeout=15) as sock:
            sock.sendall(f'GET {target} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n'
                         'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n'.encode())
            self.assertIn(b'400', sock.recv(65536))
        self.works(url)

    def test_what_is_no_websocket(self):
        port = self.CONF.websocket_proxy.wsproxy_port
        for method, path, expected in (('GET', '/nothing', 404), ('POST', '/', 405),
                                       ('GET', '/static/../proxy.py', 404),
                                       ('GET', '/', 200), ('GET', '/prefix/', 200),
                                       ('GET', '/prefix/static/xterm.mjs', 200)):
            status, headers, _ = base.fetch(f'http://{base.LOOPBACK}:{port}{path}', method)
            self.assertEqual(expected, status, path)
            self.assertNotIn('Server', headers)


class TestNode(base.ConsoleTestCase):
    """The node's endpoint, spoken to without a proxy."""

    def setUp(self) -> None:
        super().setUp()
        self.tls = self.useFixture(fixtures.TempDir()).path
        base.certificates(self.tls, f'{base.HOST}={base.LOOPBACK}')
        self.config(group='console', listen_address=base.LOOPBACK,
                    listen_port=base.free_port(), **self.files(self.tls))
        self.endpoint = self.serve_node()
        self.target = self.shell()

    def files(self, directory: str) -> dict[str, str]:
        return {'ca_file': f'{directory}/ca.pem', 'cert_file': f'{directory}/{base.HOST}.pem',
                'key_file': f'{directory}/{base.HOST}.key',
                'proxy_cert_file': f'{directory}/zun-wsproxy.pem',
                'proxy_key_file': f'{directory}/zun-wsproxy.key'}

    def redeemed(self) -> tuple[str, str]:
        token = streams.prepare_attach(self.node, self.context, self.target)
        session, key = console_session.ConsoleSession.redeem(token, self.target.uuid, None, 'x')
        return session.id, key

    def knock(self, session_id: str, key: str | None,
              context: ssl.SSLContext | None = None) -> base.TlsClient:
        headers = {} if key is None else {'Authorization': f'Bearer {key}'}
        connection = base.TlsClient(
            f'{streams.node_url()}/v1/console/{session_id}', additional_headers=headers,
            ssl=context or rpc_stream.client_context())
        self.addCleanup(connection.stop)
        return connection

    def test_whole_way_over_tls(self):
        self.serve_proxy()
        ws = self.dial(self.attach_url(self.target))
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')

    def test_key_opens_once(self):
        session_id, key = self.redeemed()
        first = self.knock(session_id, key)
        first.send(b'echo sum=$((40+2))\n')
        base.read_until(first, b'sum=42')
        self.assertEqual(1008, base.drain(self.knock(session_id, key))[1])
        first.close()
        self.wait_idle(self.target)
        self.assertEqual(1008, base.drain(self.knock(session_id, key))[1])

    def test_wrong_keys(self):
        session_id, key = self.redeemed()
        for wrong in ('x', key + 'x', key[:-1]):
            self.assertEqual(1008, base.drain(self.knock(session_id, wrong))[1])
        for path, none in ((session_id, None), (session_id, ''), ('x' * 32, key)):
            self.assertEqual(403, base.refusal(lambda p=path, n=none: self.knock(p, n))[0])
        self.assertEqual(1008, base.drain(self.knock('0' * 32, key))[1])

    def test_key_of_a_session_that_nobody_redeemed(self):
        streams.prepare_attach(self.node, self.context, self.target)
        with db_engine.reader() as session:
            row = session.execute(sa.select(models_console.console_session.c.id)).scalar_one()
        self.assertEqual(1008, base.drain(self.knock(row, 'None'))[1])

    def test_key_after_its_time(self):
        session_id, key = self.redeemed()
        with db_engine.writer() as session:
            session.execute(sa.update(models_console.console_session).values(
                consumed_at=clock.utc_now(-31)))
        self.assertEqual(1008, base.drain(self.knock(session_id, key))[1])

    def test_session_of_another_node(self):
        session_id, key = self.redeemed()
        with db_engine.writer() as session:
            session.execute(sa.update(models_console.console_session).values(host='node-two'))
        self.assertEqual(1008, base.drain(self.knock(session_id, key))[1])

    def test_without_certificate(self):
        session_id, key = self.redeemed()
        context = ssl.create_default_context(cafile=f'{self.tls}/ca.pem')
        self.assertRaises(_CUT,
                          self.knock, session_id, key, context)

    def test_certificate_of_another_authority(self):
        session_id, key = self.redeemed()
        other = self.useFixture(fixtures.TempDir()).path
        base.certificates(other)
        context = ssl.create_default_context(cafile=f'{self.tls}/ca.pem')
        context.load_cert_chain(f'{other}/zun-wsproxy.pem', f'{other}/zun-wsproxy.key')
        self.assertRaises(_CUT,
                          self.knock, session_id, key, context)

    def test_certificate_of_a_node_is_none_of_a_proxy(self):
        session_id, key = self.redeemed()
        context = ssl.create_default_context(cafile=f'{self.tls}/ca.pem')
        context.load_cert_chain(f'{self.tls}/{base.HOST}.pem', f'{self.tls}/{base.HOST}.key')
        self.assertRaises(_CUT,
                          self.knock, session_id, key, context)

    def test_certificate_with_another_name(self):
        self.config(group='console', allowed_client_names=['somebody-else'])
        self.assertEqual(403, base.refusal(lambda: self.knock(*self.redeemed()))[0])

    def test_node_with_a_certificate_of_another_authority(self):
        """The proxy does not send a key to it."""
        other = self.useFixture(fixtures.TempDir()).path
        base.certificates(other, f'{base.HOST}={base.LOOPBACK}')
        self.config(group='console', ca_file=f'{other}/ca.pem')
        self.serve_proxy()
        _, code, reason = base.drain(self.dial(self.attach_url(self.target)))
        self.assertEqual((1011, 'The node cannot be reached.'), (code, reason))

    def test_certificates_are_read_again(self):
        before = pathlib.Path(f'{self.tls}/{base.HOST}.pem').read_text()
        pathlib.Path(f'{self.tls}/{base.HOST}.pem').unlink()
        base.certificates(self.tls, f'{base.HOST}={base.LOOPBACK}')
        self.assertNotEqual(before, pathlib.Path(f'{self.tls}/{base.HOST}.pem').read_text())
        self.endpoint.reload()
        ws = self.knock(*self.redeemed())
        self.assertNotEqual(ssl.PEM_cert_to_DER_cert(before), ws.peer())

    def test_without_certificates_there_is_no_console(self):
        self.config(group='console', cert_file=None)
        error = self.assertRaises(exception.OperationNotSupported, self.redeemed)
        self.assertEqual(501, error.code)

    def test_nothing_secret_is_logged(self):
        log = self.useFixture(fixtures.FakeLogger(nuke_handlers=False))
        self.serve_proxy()
        url = self.attach_url(self.target)
        ws = self.dial(url)
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')
        ws.close()
        self.wait_idle(self.target)
        base.refusal(lambda: self.dial(url))
        token = url.split('token=')[1].split('&')[0]
        ours = [line for line in log.output.splitlines() if '[websockets.client]' not in line]
        self.assertIn(self.target.uuid, log.output)
        self.assertEqual([], [line for line in ours if token in line and 'GET' not in line])
