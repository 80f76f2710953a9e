# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its own protocol."""

import contextlib
import http.client
import itertools
import json
import shutil
import subprocess
import time
import typing as ty

import fixtures
from websockets.sync import client as ws_client

_NAMES = ('chromium', 'chromium-browser', 'google-chrome')
#: It asks nobody but the page, and keeps nothing.
_FLAGS = ('--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
          '--disable-background-networking', '--disable-component-update', '--disable-sync',
          '--disable-dev-shm-usage', '--window-size=900,600')


def program() -> str | None:
    """Where this machine has one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Page(fixtures.Fixture):
    """One page.

    :param port: for the browser's own protocol
    """

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port
        self._numbers = itertools.count(1)

    def _setUp(self) -> None:  # noqa: N802
        profile = self.useFixture(fixtures.TempDir()).path
        process = subprocess.Popen(
            [program() or _NAMES[0], *_FLAGS, f'--user-data-dir={profile}',
             f'--remote-debugging-port={self._port}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self._ws = stack.enter_context(
            ws_client.connect(self._address(), max_size=None, proxy=None))
        self.call('Page.enable')

    def _address(self) -> str:
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError, StopIteration):
                connection = http.client.HTTPConnection('127.0.0.1', self._port, timeout=10)
                with contextlib.closing(connection):
                    connection.request('GET', '/json/list')
                    pages = json.loads(connection.getresponse().read())
                    return next(page['webSocketDebuggerUrl'] for page in pages
                                if page['type'] == 'page')
            if time.monotonic() > end:
                raise AssertionError('the browser does not answer')
            time.sleep(0.1)

    def call(self, method: str, **params: ty.Any) -> dict[str, ty.Any]:
        """One command of the protocol, and its result."""
        number = next(self._numbers)
        self._ws.send(json.dumps({'id': number, 'method': method, 'params': params}))
        while True:
            answer = json.loads(self._ws.recv(timeout=60))
            if answer.get('id') == number:
                if 'error' in answer:
                    raise AssertionError(answer['error'])
                return answer['result']

    def open(self, url: str) -> None:
        self.call('Page.navigate', url=url)

    def value(self, expression: str) -> ty.Any:
        """What JavaScript says of the page."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise AssertionError(answer['exceptionDetails'])
        return answer['result'].get('value')

    def wait(self, expression: str, what: str, seconds: float = 20) -> ty.Any:
        """The first true value of an expression."""
        end = time.monotonic() + seconds
        while not (found := self.value(expression)):
            if time.monotonic() > end:
                seen = self.value('document.body && document.body.innerText')
                raise AssertionError(f'waited in vain for {what}: {seen}')
            time.sleep(0.05)
        return found

    def type(self, text: str) -> None:
        """Keys, into what has the focus."""
        for character in text:
            if character == '\n':
                for kind in ('keyDown', 'keyUp'):
                    self.call('Input.dispatchKeyEvent', type=kind, key='Enter', code='Enter',
                              windowsVirtualKeyCode=13, text='\r' if kind == 'keyDown' else '')
            else:
                self.call('Input.insertText', text=character)

    def size(self, width: int, height: int) -> None:
        """Size of the window."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
