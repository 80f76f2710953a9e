# SPDX-License-Identifier: Apache-2.0
"""What is read out of requests and frames of control."""

from zun.console import pages
from zun.console import proxy
from zun.console import tickets
from zun.rpc import stream
from zun.tests import base


class TestTickets(base.TestCase):
    def test_parse(self):
        for target, expected in (
                ('/?token=t&uuid=u', ('t', 'u', None)),
                ('/any/path?uuid=u&token=t&exec_id=e', ('t', 'u', 'e')),
                ('/?token=a&token=b&uuid=u&uuid=v', ('b', 'v', None)),
                ('/?token=%C3%A9&uuid=u', ('é', 'u', None)),
                ('/?token=t&uuid=u&exec_id=', ('t', 'u', None)),
                ('/?token=t', None), ('/?uuid=u', None), ('/?token=&uuid=u', None),
                ('/', None), ('//[', None), ('/?' + 'a=1&' * 50 + 'token=t&uuid=u', None)):
            self.assertEqual(expected, tickets.parse(target), target)

    def test_every_state_has_its_reason(self):
        self.assertEqual({'valid', 'used', 'expired', 'revoked', 'unknown'}, set(tickets.REASONS))


class TestPages(base.TestCase):
    def test_find(self):
        for target, expected in (
                ('/', 'index.html'), ('/prefix/', 'index.html'), ('/?token=t', 'index.html'),
                ('/static/xterm.mjs', 'xterm.mjs'), ('/a/b/static/terminal.js', 'terminal.js'),
                ('/static/nothing.js', None), ('/xterm.mjs', None),
                ('/static/../pages.py', None), ('/static/README.rst', None),
                ('/favicon.ico', None), ('//[', None)):
            self.assertEqual(expected, pages.find(target), target)

    def test_all_that_the_page_names_is_served(self):
        files = pages.load()
        page = files['index.html'].body.decode()
        for name in files:
            if name.startswith('terminal.'):
                self.assertIn(f'static/{name}', page)
        self.assertNotIn('<script>', page)
        for name, file in files.items():
            answer = pages.answer(file)
            self.assertEqual(str(len(file.body)), answer.headers['Content-Length'], name)
            self.assertIn("frame-ancestors 'none'", answer.headers['Content-Security-Policy'])


class TestSubprotocol(base.TestCase):
    def test_choice(self):
        for offered, expected in (
                (['binary', 'base64'], 'binary'), (['base64', 'binary'], 'binary'),
                (['base64'], None), ([], None), (['chat'], None),
                (['binary', 'terminal.zun.openstack.org'], 'terminal.zun.openstack.org')):
            self.assertEqual(expected, proxy._subprotocol(None, offered))


class TestControl(base.TestCase):
    def test_size(self):
        for text, expected in (
                ('{"resize": [24, 80]}', (24, 80)), ('{"resize": [24, 80], "x": 1}', (24, 80)),
                ('{"resize": [0, 80]}', None), ('{"resize": [24]}', None),
                ('{"resize": [24, 65536]}', None), ('{"resize": [-1, 80]}', None),
                ('{"resize": ["24", "80"]}', None), ('{"resize": [true, 80]}', None),
                ('{"resize": null}', None), ('{}', None), ('[24, 80]', None), ('24', None),
                ('{"resize"', None), ('', None)):
            self.assertEqual(expected, stream.size_of(stream.parse_control(text)), text)

    def test_sign_of_life_is_no_message(self):
        self.assertEqual({}, stream.parse_control(stream.BEAT))
