# SPDX-License-Identifier: Apache-2.0
"""What engines answer to a hijack."""

import asyncio
import http.client

from zun.container.docker import console
from zun.container.docker import errors
from zun.tests import base


class TestAnswer(base.TestCase):
    def answer(self, data: bytes) -> bytes:
        """What is left for the stream."""
        async def read() -> bytes:
            reader = asyncio.StreamReader()
            reader.feed_data(data)
            reader.feed_eof()
            await console._answer(reader)
            return await reader.read()
        return asyncio.run(read())

    def test_stream_behind_the_head(self):
        for head in (b'HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n',
                     b'HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n', b'HTTP/1.0 200 OK\r\n\r\n'):
            self.assertEqual(b'abc', self.answer(head + b'abc'))

    def test_refusal(self):
        for data, expected in (
                (b'HTTP/1.1 404 Not Found\r\ncontent-length: 15\r\n\r\n{"message":"x"}ignored',
                 (404, 'x')),
                (b'HTTP/1.0 409 Conflict\r\n\r\n{"message":"busy"}', (409, 'busy')),
                (b'HTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\nplain', (500, 'plain')),
                (b'HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n[]', (500, '[]'))):
            refusal = self.assertRaises(errors.Refusal, self.answer, data)
            self.assertEqual(expected, (refusal.status, refusal.message))

    def test_no_http(self):
        self.assertRaises(http.client.BadStatusLine, self.answer, b'garbage\r\n\r\n')
        self.assertRaises(EOFError, self.answer, b'HTTP/1.1 200 OK\r\n')

    def test_detach_keys_are_not_typed(self):
        keys = console._detach_keys()
        self.assertNotEqual(keys, console._detach_keys())
        self.assertEqual('ctrl-^', keys.split(',')[0])
        self.assertGreater(len(keys.split(',')), 20)
