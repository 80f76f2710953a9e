# SPDX-License-Identifier: Apache-2.0

import contextlib
import json
import random

import webob

from zun.api import long_texts
from zun.common import exception
from zun.tests import base

LONG = 200000


class LoadTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.undo = contextlib.ExitStack()
        self.addCleanup(self.undo.close)

    def load(self, text, size=1000):
        data = text if isinstance(text, bytes) else text.encode()
        return long_texts.load((data[at:at + size] for at in range(0, len(data), size)),
                               self.undo)

    def same(self, text, size=1000):
        """What the document says, its long texts whole."""
        found = self.load(text, size)
        for name, value in found.items():
            if isinstance(value, str):
                found[name] = ''.join(long_texts.pieces(value))
        self.assertEqual(json.loads(text), found)
        return found

    def test_short(self):
        for text in ('{}', '{"a": "b", "c": [1, {"d": "\\"e\\\\"}], "f": null}',
                     '{"\\u00fc": "\\ud83d\\ude00", "": ""}', ' { "a" : "" } ', '{"a": "ü"}'):
            for size in (1, 2, 3, 1000):
                self.same(text, size)

    def test_long_ones_are_in_files(self):
        found = self.load(json.dumps({'path': '/x', 'data': 'ab' * LONG}))
        self.assertIsInstance(found['data'], long_texts.LongText)
        self.assertLess(len(found['data']), 100)
        self.assertNotIsInstance(found['path'], long_texts.LongText)
        self.assertEqual('ab' * LONG, ''.join(long_texts.pieces(found['data'])))
        self.undo.close()
        self.assertTrue(found['data'].file.closed)

    def test_whatever_the_text_and_the_chunks(self):
        dice = random.Random(4)
        signs = ['a', '/', '\\/', '\\n', '\\\\', '\\"', '\\u00e9', '\\u002b', 'é', '€', '\\\\u12']
        for _ in range(20):
            data = ''.join(dice.choices(signs, k=LONG // 2))
            self.same(json.dumps({'data': json.loads(f'"{data}"'), 'path': '/'}),
                      dice.randint(1, 70000))
            self.same(f'{{"path": "/", "data": "{data}"}}', dice.randint(1, 70000))

    def test_malformed(self):
        long = 'a' * LONG
        for text in ('', '{', f'{{"a": "{long}', f'{{"a": "{long}"', f'{{"a": "{long}\\x"}}',
                     f'{{"a": "{long}\\u12"}}', f'{{"a": "{long}\n"}}', f'"{long}"x',
                     f'{{"a": "{long}"'.encode() + b'\xff"}'):
            self.assertRaises(ValueError, self.load, text)

    def test_half_of_a_pair(self):
        self.assertRaises(exception.SchemaValidationError, self.load,
                          f'{{"a": "{"a" * LONG}\\ud800"}}')

    def test_elsewhere(self):
        long = 'a' * LONG
        for value in ({'a': [long]}, {long: 1}, [long], long, {'a': {'b': long}}):
            self.assertRaises(exception.RequestTooLarge, self.load, json.dumps(value))

    def test_much_beside_the_long_texts(self):
        self.assertRaises(exception.RequestTooLarge, self.load,
                          json.dumps({'a': ['b'] * (1 << 18)}), 1 << 16)
        self.assertRaises(exception.RequestTooLarge, self.load, ' ' * (2 << 20), 1 << 16)


class ResponseTest(base.TestCase):
    def text(self, value):
        answer = webob.Request.blank('/').get_response(long_texts.Response(value, 200))
        self.assertEqual((200, 'application/json'), (answer.status_int, answer.content_type))
        self.assertEqual(str(len(answer.body)), answer.headers['Content-Length'])
        return answer.body.decode()

    def test_like_any_other(self):
        for pieces in ((), ('a', 'b'), ('"\\\n', '\xff', '\U0001f600')):
            value = {'data': ''.join(pieces), 'stat': {'name': 'x', 'size': 1}}
            self.assertEqual(json.dumps(value), self.text({**value, 'data': iter(pieces)}))
            self.assertEqual(json.dumps(''.join(pieces)), self.text(iter(pieces)))

    def test_which_are_long(self):
        for value, expected in ((iter(''), True), ({'a': iter('')}, True), ({}, False),
                                ('text', False), ([], False), ({'a': ['b']}, False),
                                (None, False)):
            self.assertIs(expected, long_texts.is_long(value), value)
