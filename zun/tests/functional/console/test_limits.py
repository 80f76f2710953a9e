# SPDX-License-Identifier: Apache-2.0
"""Time limits, signs of life, and the ends of processes."""

import os
import signal
import socket
import subprocess
import sys
import time

from websockets import exceptions as ws_exceptions

from zun.compute import streams
from zun.rpc import stream as rpc_stream
from zun.tests.functional import engine
from zun.tests.functional.console import base

#: A client that connects, says so, and then reads or not.
_CLIENT = """
import sys
from websockets.sync import client
with client.connect(sys.argv[1], subprotocols=['binary'], compression=None, proxy=None,
                    user_agent_header=sys.argv[2] or None, ping_interval=None) as ws:
    print('connected', flush=True)
    for message in ws:
        print(len(message), flush=True)
"""


class TestLimits(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.serve_node()

    def client(self, url: str, agent: str = 'test') -> subprocess.Popen[str]:
        process = subprocess.Popen([sys.executable, '-c', _CLIENT, url, agent], text=True,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual('connected\n', process.stdout.readline())
        return process

    def test_idle(self):
        self.config(group='websocket_proxy', idle_timeout=3)
        self.serve_proxy()
        container = self.container()
        ws = self.dial(self.exec_url(container))
        for number in range(8):
            ws.send(f'echo n=$(({number}+100))\n'.encode())
            base.read_until(ws, f'n={number + 100}'.encode())
            time.sleep(0.5)
        began = time.monotonic()
        self.assertEqual((4408, 'idle timeout'), base.drain(ws)[1:])
        self.assertLess(0.5, time.monotonic() - began)
        self.wait_idle(container)

    def test_pings_are_no_use_against_idleness(self):
        self.config(group='websocket_proxy', idle_timeout=1, ping_interval=0.1)
        self.serve_proxy()
        ws = self.dial(self.exec_url(self.container()), user_agent_header=None)
        self.assertEqual((4408, 'idle timeout'), base.drain(ws)[1:])

    def test_ping_of_a_client_is_answered_and_no_sign_of_use(self):
        self.config(group='websocket_proxy', idle_timeout=2)
        self.serve_proxy()
        ws = self.dial(self.exec_url(self.container()))
        end = time.monotonic() + 30
        with self.assertRaises(ws_exceptions.ConnectionClosed) as closed:
            while time.monotonic() < end:
                self.assertTrue(ws.ping().wait(10))
                time.sleep(0.1)
        self.assertEqual(4408, closed.exception.rcvd.code)

    def test_longest_session(self):
        self.config(group='websocket_proxy', max_session=1)
        self.serve_proxy()
        container = self.container()
        ws = self.dial(self.exec_url(container, 'yes'))
        self.assertEqual((4408, 'session time limit'), base.drain(ws)[1:])
        self.wait_idle(container)

    def test_stopped_client(self):
        """Half-open: its kernel answers, it does not. With and without output on the way."""
        self.config(group='websocket_proxy', ping_interval=0.5, ping_timeout=0.5)
        self.serve_proxy()
        container = self.container()
        for command, agent in (('sh', 'browser'), ('sh', ''), ('yes', 'browser')):
            client = self.client(self.exec_url(container, command), agent)
            engine.wait_for('the command', lambda: self.execs(container))
            client.send_signal(signal.SIGSTOP)
            self.wait_idle(container)

    def test_quiet_client_lives(self):
        self.config(group='websocket_proxy', ping_interval=0.2, ping_timeout=2)
        self.serve_proxy()
        for agent in ('browser', None):
            ws = self.dial(self.exec_url(self.container()), user_agent_header=agent)
            time.sleep(2.5)
            ws.send(b'echo sum=$((40+2))\n')
            seen = base.read_until(ws, b'sum=42')
            # Without a name it may be one that needs output after each ping.
            self.assertEqual(agent is None, b'\0' in seen)

    def test_quiet_client_without_terminal_gets_no_character(self):
        self.config(group='websocket_proxy', ping_interval=0.2, ping_timeout=2)
        self.serve_proxy()
        ws = self.dial(self.exec_url(self.container(), "sh -c 'sleep 2; echo end'",
                                     interactive=False), user_agent_header=None)
        self.assertEqual((b'end\n', 1000), base.drain(ws)[:2])

    def test_slow_reader_lives(self):
        self.config(group='websocket_proxy', ping_interval=3, ping_timeout=3)
        self.serve_proxy()
        container = self.container()
        ws = self.dial(self.exec_url(container, "sh -c 'head -c 8000000 /dev/zero'",
                                     interactive=False), max_queue=1)
        seen, began = 0, time.monotonic()
        while seen < 8000000:
            seen += len(ws.recv(timeout=10))
            if time.monotonic() - began < 10:
                time.sleep(0.1)
        self.assertEqual((b'', 1000), base.drain(ws)[:2])
        self.assertEqual(8000000, seen)

    def test_reader_whose_input_waits_lives(self):
        """It has sent more than the process takes, so that its answers to pings wait, too."""
        self.config(group='websocket_proxy', ping_interval=1, ping_timeout=1)
        self.serve_proxy()
        container = self.container(command=['sh', '-c', 'sleep 4; head -c 4000000 | wc -c'],
                                   interactive=True)
        ws = self.dial(self.attach_url(container))
        for _ in range(62):
            ws.send(bytes(65536))
        base.read_until(ws, b'4000000')

    def test_process_that_does_not_read_stops_the_client(self):
        self.config(group='websocket_proxy', ping_interval=1)
        self.serve_proxy()
        container = self.container(command=['sleep', '1000'], interactive=True)
        ws = self.dial(self.attach_url(container))
        sent = 0

        def flood() -> None:
            nonlocal sent
            try:
                while sent < 100 << 20:
                    ws.send(bytes(1 << 18))
                    sent += 1 << 18
            except ws_exceptions.ConnectionClosed:
                pass

        before = base.resident(os.getpid())
        [thread] = base.threads_of([flood])
        thread.join(4)
        self.assertTrue(thread.is_alive())
        self.assertLess(sent, 30 << 20)
        self.assertLess(base.resident(os.getpid()) - before, 40 << 10)
        ws.socket.shutdown(socket.SHUT_RDWR)
        thread.join(20)
        ws.socket.close()
        # The node, which waits for the process, finds out at its next sign of life.
        self.wait_idle(container, rpc_stream.BEAT_SECONDS + 15)

    def test_proxy_stops_in_order(self):
        proxy = self.spawn_proxy()
        container = self.container()
        ws = self.dial(self.exec_url(container))
        base.read_until(ws, b'# ')
        began = time.monotonic()
        self.assertEqual(0, proxy.end(signal.SIGTERM))
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(1001, base.drain(ws)[1])
        self.wait_idle(container)
        proxy.start()
        self.assertEqual(0, proxy.end(signal.SIGTERM))

    def test_node_stops_in_order(self):
        self.config(group='console', listen_address=f'unix:{self.directory}/second.sock')
        endpoint = self.serve_node()
        self.serve_proxy()
        container = self.container()
        ws = self.dial(self.exec_url(container))
        base.read_until(ws, b'# ')
        endpoint.stop()
        code, _ = base.drain(ws)[1:]
        self.assertIn(code, (1001, 1011))
        self.assertEqual([], self.execs(container))
        self.assertEqual(0, len(streams.LIVE))
