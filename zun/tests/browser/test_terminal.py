# SPDX-License-Identifier: Apache-2.0
"""The terminal page in a real browser, with the real proxy, node and engine."""

import base64
import os
import unittest
import urllib.parse

from zun.compute import streams
from zun.console import tickets
from zun.db import clock
from zun.db import engine as db_engine
from zun.db import models_console
from zun.tests.browser import chromium
from zun.tests.functional.console import base

_SCREEN = ("[...document.querySelectorAll('.xterm-rows > div')]"
           ".map(row => row.innerText).join('\\n')")
_STATUS = "document.getElementById('status').innerText"


@unittest.skipUnless(chromium.program(), 'there is no Chromium')
class TestTerminal(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.serve_node()
        self.serve_proxy()
        self.page = self.useFixture(chromium.Page(base.free_port()))
        self.root = self.base_url.replace('ws://', 'http://')
        self.addCleanup(self._picture)

    def _picture(self) -> None:
        """Keep what was seen last, where somebody wants it."""
        folder = os.environ.get('ZUN_TEST_PICTURES')
        if folder:
            data = self.page.call('Page.captureScreenshot')['data']
            with open(os.path.join(folder, f'{self._testMethodName}.png'), 'wb') as file:
                file.write(base64.b64decode(data))

    def see(self, text: str) -> None:
        self.page.wait(f'({_SCREEN}).includes({text!r})', f'{text!r} on the screen')

    def status(self, text: str) -> None:
        self.page.wait(f'({_STATUS}).includes({text!r})', f'status {text!r}')

    def connect(self, url: str) -> None:
        """Give the URL to the page as a user would."""
        self.page.open(self.root)
        self.page.wait("document.getElementById('terminal')?.childElementCount", 'the page')
        self.page.value("document.getElementById('url').focus()")
        self.page.call('Input.insertText', text=url)
        self.page.value("document.getElementById('open').click()")

    def test_command_output_and_end(self):
        self.connect(self.exec_url(self.container()))
        self.status('Connected')
        self.page.type('echo sum=$((40+2)) tëxt€\n')
        self.see('sum=42 tëxt€')
        self.page.type('exit 7\n')
        self.status('Ended with exit code 7')
        self.assertFalse(self.page.value("document.getElementById('url').disabled"))

    def test_size_follows_the_window(self):
        self.connect(self.exec_url(self.container()))
        self.status('Connected')
        rows = "document.querySelectorAll('.xterm-rows > div').length"
        shown = self.page.value(rows)
        for width, height in ((500, 300), (1000, 800)):
            self.page.size(width, height)
            self.page.wait(f'{rows} !== {shown}', 'other rows')
            self.page.type('clear; stty size\n')
            self.page.wait(f'new RegExp(`(^|\\n)${{{rows}}} [0-9]+`).test({_SCREEN})',
                           'the size on the screen')
            shown = self.page.value(rows)

    def test_url_after_the_hash(self):
        url = self.attach_url(self.shell())
        self.page.open(f'{self.root}#{urllib.parse.quote(url)}')
        self.page.wait(f"document.readyState === 'complete' && ({_STATUS}) === 'Connected'",
                       'connection')
        self.page.type('echo sum=$((40+2))\n')
        self.see('sum=42')
        self.assertNotIn('token', self.page.value('location.href'))

    def test_url_with_http_in_place_of_ws(self):
        self.page.open(self.attach_url(self.shell()).replace('ws://', 'http://'))
        self.page.wait(f"document.readyState === 'complete' && ({_STATUS}) === 'Connected'",
                       'connection')
        self.page.type('echo sum=$((40+2))\n')
        self.see('sum=42')

    def test_why_a_ticket_is_refused(self):
        container = self.shell()
        url = self.attach_url(container)
        with db_engine.writer() as session:
            session.execute(models_console.console_session.update().values(
                expires_at=clock.utc_now(-1)))
        self.connect(url)
        self.status(tickets.REASONS['expired'])
        self.connect(url.replace('token=', 'token=x'))
        self.status(tickets.REASONS['unknown'])
        used = self.attach_url(container)
        self.dial(used)
        self.connect(used)
        self.status(tickets.REASONS['used'])

    def test_log_is_read_only(self):
        container = self.container(command=['sh', '-c', 'echo first; read x; echo "got $x"'],
                                   interactive=True)
        self.connect(self.logs_url(container))
        self.see('first')
        self.status('read only')
        self.page.type('typed\n')
        self.dial(self.attach_url(container)).send(b'meant\n')
        self.see('got meant')
        self.status('Target closed')

    def test_line_mode_without_a_terminal(self):
        self.connect(self.attach_url(self.container(command=['sh'], interactive=True)))
        self.status('Connected')
        self.page.type('echo sum=$((40+2))\n')
        self.see('sum=42')
        self.see('echo sum=')

    def test_disconnect(self):
        container = self.container()
        self.connect(self.exec_url(container))
        self.status('Connected')
        self.page.value("document.getElementById('close').click()")
        self.status('Closed (1000)')
        self.wait_idle(container)

    def test_end_by_the_node(self):
        container = self.shell()
        self.connect(self.attach_url(container))
        self.status('Connected')
        streams.revoke(container.uuid)
        self.status('Target closed')
