# SPDX-License-Identifier: Apache-2.0
"""The terminal of python-zunclient, unmodified, on a pseudo-terminal."""

import fcntl
import importlib.util
import os
import pty
import select
import struct
import sys
import termios
import time
import unittest

from zun import objects
from zun.compute import streams
from zun.tests.functional.console import base

#: Runs the client's terminal; what it asks of the API goes to the descriptor that is its argument.
_CLIENT = """
import os, sys
from zunclient.common.websocketclient import websocketclient
kind, url, uuid, exec_id, told = sys.argv[1:]
class Containers:
    def resize(self, ident, width, height):
        os.write(int(told), f'{height} {width}\\n'.encode())
    def execute_resize(self, ident, exec_id, width, height):
        os.write(int(told), f'{height} {width}\\n'.encode())
class Client:
    containers = Containers()
if kind == 'attach':
    websocketclient.do_attach(Client(), url, uuid, '~', 0.5)
else:
    websocketclient.do_exec(Client(), url, uuid, exec_id, '~', 0.5)
print('client is done')
"""


class Terminal:
    """The client in a terminal of 31 rows and 97 columns."""

    def __init__(self, kind: str, url: str, uuid: str, exec_id: str = '-') -> None:
        self.asked, told = os.pipe()
        os.set_inheritable(told, True)
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('hhhh', 31, 97, 0, 0))
            os.execv(sys.executable, [  # noqa: S606
                sys.executable, '-c', _CLIENT, kind, url, uuid, exec_id, str(told)])
        os.close(told)
        self.seen = b''

    def wait(self, needle: bytes, seconds: float = 20) -> None:
        """Read the screen up to the needle."""
        end = time.monotonic() + seconds
        while needle not in self.seen:
            if not select.select([self.screen], [], [], max(end - time.monotonic(), 0))[0]:
                raise AssertionError(f'{needle!r} did not come: {self.seen!r}')
            try:
                self.seen += os.read(self.screen, 65536)
            except OSError:
                raise AssertionError(f'the client has ended: {self.seen!r}') from None
        self.seen = self.seen.partition(needle)[2]

    def type(self, data: bytes) -> None:
        os.write(self.screen, data)

    def size(self) -> tuple[int, int]:
        """The size that the client has asked for."""
        height, width = os.read(self.asked, 100).split()
        return int(height), int(width)

    def end(self) -> int:
        """Wait for the client to end."""
        return os.waitpid(self.pid, 0)[1]


@unittest.skipUnless(importlib.util.find_spec('zunclient'), 'python-zunclient is not installed')
class TestClient(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.config(group='websocket_proxy', ping_interval=0.5, ping_timeout=5)
        self.serve_node()
        self.serve_proxy()

    def exec(self, container: objects.Container) -> Terminal:
        exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
        terminal = Terminal('exec', self.url(token, container, exec_id), container.uuid, exec_id)
        terminal.wait(b'connected to')
        streams.resize_exec(self.node, container, exec_id, *terminal.size())
        return terminal

    def test_exec(self):
        container = self.container()
        terminal = self.exec(container)
        terminal.type(b'stty size\r')
        terminal.wait(b'31 97')
        terminal.type('echo tëxt€😀\r'.encode())
        terminal.wait('\ntëxt€😀'.encode())
        terminal.type(b'exit 3\r')
        terminal.wait(b'client is done')
        self.assertEqual(0, terminal.end())
        self.wait_idle(container)

    def test_keyboard_lives_after_pings(self):
        """The client's library waits for output after each ping."""
        terminal = self.exec(self.container())
        terminal.wait(b'# ')
        for number in range(3):
            time.sleep(1.2)
            terminal.type(f'echo n=$(({number}+100))\r'.encode())
            terminal.wait(f'n={number + 100}'.encode(), 10)
        terminal.type(b'exit\r')
        self.assertEqual(0, terminal.end())

    def test_attach_leave_and_attach_again(self):
        container = self.shell()
        for _ in range(2):
            terminal = Terminal('attach', self.attach_url(container), container.uuid)
            terminal.wait(b'connected to')
            streams.resize_tty(self.node, container, *terminal.size())
            terminal.type(b'\r')
            terminal.wait(b'# ')
            terminal.type(b'echo sum=$((40+2))\r')
            terminal.wait(b'sum=42')
            os.close(terminal.screen)
            terminal.end()
            self.wait_idle(container)
        self.assertTrue(self.engine.inspect(container)['State']['Running'])

    def test_refusal(self):
        container = self.container()
        url = self.url('wrong', container)
        terminal = Terminal('attach', url, container.uuid)
        terminal.wait(b'Failed to connect to remote host')
        terminal.wait(b'client is done')
        self.assertEqual(0, terminal.end())

    def test_end_by_the_node(self):
        container = self.container()
        terminal = self.exec(container)
        terminal.wait(b'# ')
        streams.revoke(container.uuid)
        terminal.wait(b'client is done')
        self.assertEqual(0, terminal.end())
