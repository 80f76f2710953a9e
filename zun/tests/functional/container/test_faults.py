# SPDX-License-Identifier: Apache-2.0
"""An engine that hangs, breaks off, or is none: a server of the test's own on a unix socket."""

import contextlib
import http.server
import io
import json
import os
import socketserver
import threading
import time

import fixtures

from zun import objects
from zun.common import exception
from zun.container.docker import client
from zun.container.docker import driver as docker_driver
from zun.tests import base

_VERSION = {'Version': '99', 'ApiVersion': '1.47', 'MinAPIVersion': '1.24'}


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def address_string(self):
        return 'test'

    def log_message(self, *args):
        pass

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self):
        length = int(self.headers.get('Content-Length') or 0)
        self.rfile.read(length)
        self.server.engine.answer(self)

    do_POST = do_DELETE = do_GET  # noqa: N815

    def json(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class FakeEngine(fixtures.Fixture):
    """:ivar seen: method and path of each request
    :ivar behave: path -> function of the handler; other paths answer 404
    """

    def _setUp(self):  # noqa: N802
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.path = os.path.join(self.directory, 'engine.sock')
        self.seen = []
        self.connections = set()
        self.version = dict(_VERSION)
        self.behave = {}
        self.released = threading.Event()
        self.server = None
        self.start()
        self.addCleanup(self.stop)
        self.addCleanup(self.released.set)

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.server = _Server(self.path, _Handler)
        self.server.engine = self
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    def answer(self, handler):
        path = handler.path.partition('?')[0]
        self.seen.append((handler.command, path))
        self.connections.add(id(handler))
        if path == '/version':
            handler.json(200, self.version)
        elif path == '/_ping':
            handler.json(200, 'OK')
        else:
            action = self.behave.get(path.split('/', 2)[2], self.not_found)
            action(handler)

    @staticmethod
    def not_found(handler):
        handler.json(404, {'message': 'page not found'})

    def hang(self, handler):
        self.released.wait(30)
        handler.close_connection = True

    @staticmethod
    def cut(handler):
        handler.close_connection = True

    @staticmethod
    def cut_body(handler):
        handler.send_response(200)
        handler.send_header('Content-Length', '100')
        handler.end_headers()
        handler.wfile.write(b'{"half":')
        handler.close_connection = True


class TestFaults(base.TestCase):
    def setUp(self):
        super().setUp()
        self.engine = self.useFixture(FakeEngine())
        self.config(group='docker', api_url=f'unix://{self.engine.path}', default_timeout=1,
                    create_timeout=1, stop_grace_margin=1, pull_idle_timeout=1)
        self.driver = docker_driver.DockerDriver()
        self.container = objects.Container(
            uuid='11111111-2222-4333-8444-555555555555', status='Running', hostname=None,
            tty=False, name='test')

    def on(self, verb, behaviour):
        self.engine.behave[f'containers/zun-{self.container.uuid}{verb}'] = behaviour

    def assertUnavailableWithin(self, seconds, call, *args):  # noqa: N802
        begun = time.monotonic()
        error = self.assertRaises(exception.EngineUnavailable, call, *args)
        self.assertLess(time.monotonic() - begun, seconds)
        return error

    def test_engine_that_hangs(self):
        for verb, call, args in (
                ('/json', self.driver.inspect, (self.container,)),
                ('/start', self.driver.start, (self.container,)),
                ('/stop', self.driver.stop, (self.container, 1)),
                ('/restart', self.driver.reboot, (self.container, 1)),
                ('/exec', self.driver.execute, (self.container, 'true')),
                ('/logs', self.driver.logs, (self.container, True, True, False, None, None,
                                             io.BytesIO())),
                ('', self.driver.delete, (self.container.uuid,))):
            self.on(verb, self.engine.hang)
            error = self.assertUnavailableWithin(4, call, *args)
            self.assertRegex(error.message, r'no answer within \d seconds')
        self.engine.behave['images/create'] = self.engine.hang
        self.assertUnavailableWithin(4, self.driver.pull_image, 'x', 'y')

    def test_list_of_processes_without_an_end(self):
        def endless(handler):
            handler.send_response(200)
            handler.end_headers()
            handler.close_connection = True
            with contextlib.suppress(OSError):  # the reader has enough
                while True:
                    handler.wfile.write(b'["x"],' * 10000)

        self.on('/top', endless)
        error = self.assertRaises(exception.RequestTooLarge, self.driver.top, self.container, None)
        self.assertEqual('The list of processes is larger than the limit of 1048576 bytes.',
                         error.message)

    def test_one_call_that_hangs_does_not_hold_the_others(self):
        self.on('/json', self.engine.hang)
        self.engine.behave['containers/json'] = lambda handler: handler.json(200, [])
        thread = threading.Thread(target=lambda: self.assertRaises(
            exception.EngineUnavailable, self.driver.inspect, self.container))
        thread.start()
        begun = time.monotonic()
        self.assertEqual({}, self.driver.list())
        self.assertLess(time.monotonic() - begun, 0.9)
        thread.join()

    def test_answer_that_breaks_off(self):
        for behaviour in (self.engine.cut, self.engine.cut_body):
            self.on('/json', behaviour)
            self.on('/start', self.engine.cut)
            self.assertUnavailableWithin(4, self.driver.inspect, self.container)
            self.assertUnavailableWithin(4, self.driver.start, self.container)

    def test_change_is_sent_once(self):
        """Its result is unknown, so that it is not for the client to repeat it."""
        self.on('/start', self.engine.cut)
        self.assertUnavailableWithin(4, self.driver.start, self.container)
        self.assertEqual(1, [verb for verb, path in self.engine.seen
                             if path.endswith('/start')].count('POST'))

    def test_server_error(self):
        self.on('/pause', lambda handler: handler.json(500, {'message': 'something broke'}))
        error = self.assertRaises(exception.EngineUnavailable, self.driver.pause, self.container)
        self.assertIn('something broke', error.message)

    def test_image_that_is_not_loaded(self):
        """A full disk is the host's trouble, and another one is asked; all else is the image's."""
        for text, kind in (('write /var/lib/x: no space left on device', exception.DiskFull),
                           ('invalid tar header', exception.Invalid)):
            def refuse(handler, text=text):
                handler.close_connection = True  # the tar is not read
                handler.json(200, {'errorDetail': {'message': text}, 'error': text})
            self.engine.behave['images/load'] = refuse
            error = self.assertRaises(kind, self.driver.load_image, iter([b'tar']), 'a', '1')
            self.assertIn(text, error.message)

    def test_error_without_json(self):
        def plain(handler):
            handler.send_response(502)
            handler.send_header('Content-Length', '5')
            handler.end_headers()
            handler.wfile.write(b'proxy')
        self.on('/pause', plain)
        error = self.assertRaises(exception.EngineUnavailable, self.driver.pause, self.container)
        self.assertIn('proxy', error.message)

    def test_engine_that_is_not_there(self):
        self.engine.stop()
        os.unlink(self.engine.path)
        self.assertUnavailableWithin(2, self.driver.check)
        self.assertUnavailableWithin(2, self.driver.events(0).__enter__)
        self.engine.start()
        self.assertEqual('Docker Engine 99, API 1.47', self.driver.check())

    def test_another_engine_after_a_break_is_asked_for_its_version(self):
        self.on('/json', self.engine.not_found)
        self.assertRaises(exception.NotFound, self.driver.inspect, self.container)
        self.assertIn(('GET', f'/v1.47/containers/zun-{self.container.uuid}/json'),
                      self.engine.seen)
        self.on('/json', self.engine.cut)
        self.assertUnavailableWithin(4, self.driver.inspect, self.container)
        self.engine.version['ApiVersion'] = '1.52'
        self.on('/json', self.engine.not_found)
        self.assertRaises(exception.NotFound, self.driver.inspect, self.container)
        self.assertIn(('GET', f'/v1.52/containers/zun-{self.container.uuid}/json'),
                      self.engine.seen)

    def test_engine_too_new(self):
        self.engine.version.update(ApiVersion='1.90', MinAPIVersion='1.70')
        error = self.assertRaises(exception.ConfigInvalid, self.driver.check)
        self.assertIn('API 1.70 to 1.90', error.message)

    def test_engine_too_old(self):
        self.engine.version.update(ApiVersion='1.38', MinAPIVersion='1.12')
        self.assertRaises(exception.ConfigInvalid, self.driver.check)

    def test_connections_are_kept(self):
        self.on('/json', self.engine.not_found)
        for _ in range(20):
            self.assertRaises(exception.NotFound, self.driver.inspect, self.container)
        self.assertEqual(1, len(self.engine.connections))

    def test_idle_connection_that_the_engine_closed(self):
        """A restart of the engine between two calls is not seen, not even by a change."""
        handlers = []

        def note(handler):
            handlers.append(handler)
            handler.json(200, {})
        self.on('/pause', note)
        self.on('/json', self.engine.not_found)
        self.assertRaises(exception.NotFound, self.driver.pause, self.container)
        handlers[0].connection.shutdown(2)
        self.assertRaises(exception.NotFound, self.driver.pause, self.container)
        self.assertEqual(2, len(handlers))

    def test_events_end_when_the_engine_goes(self):
        def one(handler):
            line = json.dumps({
                'Type': 'container', 'Action': 'die', 'timeNano': 2500000000,
                'Actor': {'ID': 'x', 'Attributes': {'name': f'zun-{self.container.uuid}'}}})
            data = line.encode() + b'\n'
            handler.send_response(200)
            handler.send_header('Transfer-Encoding', 'chunked')
            handler.end_headers()
            handler.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
            handler.close_connection = True
        self.engine.behave['events'] = one
        with self.driver.events(1.5) as events:
            found = list(events)
        self.assertEqual([(self.container.uuid, 'changed', 2.5)],
                         [(event.uuid, event.kind, event.time) for event in found])

    def test_events_that_are_refused(self):
        self.engine.behave['events'] = lambda handler: handler.json(500, {'message': 'no'})
        self.assertRaises(exception.EngineUnavailable, self.driver.events(0).__enter__)

    def test_events_that_hang(self):
        self.engine.behave['events'] = self.engine.hang
        self.assertUnavailableWithin(4, self.driver.events(0).__enter__)


class TestAddress(base.TestCase):
    def test_address_that_is_none(self):
        for url in ('', 'ftp://x', 'unix', 'tcp://', 'ssh://host'):
            self.config(group='docker', api_url=url)
            self.assertRaises(exception.ConfigInvalid, client.Client)

    def test_certificate_that_is_not_there(self):
        self.config(group='docker', api_url='tcp://127.0.0.1:1', cert_file='/no/such',
                    key_file='/no/such')
        self.assertRaises(exception.ConfigInvalid, client.Client)
