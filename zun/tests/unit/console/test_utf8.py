# SPDX-License-Identifier: Apache-2.0
"""Cutting bytes between characters."""

import itertools
import random

from zun.common import utf8
from zun.tests import base


class TestSplit(base.TestCase):
    def test_every_cut_of_every_length(self):
        for character in ('a', 'é', '߿', '€', 'ࠀ', '퟿', '\ue000', '😀', '\U0010ffff'):
            data = character.encode()
            for cut in range(1, len(data)):
                self.assertEqual((b'x', data[:cut]), utf8.split(b'x' + data[:cut]))
            self.assertEqual((b'x' + data, b''), utf8.split(b'x' + data))

    def test_what_can_never_be_a_character_does_not_wait(self):
        for tail in (b'\x80', b'\xbf\xbf\xbf\xbf', b'\xc0', b'\xc1', b'\xf5', b'\xff',
                     b'\xe0\x80', b'\xe0\x9f', b'\xed\xa0', b'\xf0\x8f', b'\xf4\x90',
                     b'\xf0\x9f\x98\x80\x80', b'\xe2\x82\xac\x82', b'\xc3(', b'\xe2('):
            self.assertEqual((b'x' + tail, b''), utf8.split(b'x' + tail), tail)

    def test_nothing(self):
        self.assertEqual((b'', b''), utf8.split(b''))

    def test_all_short_endings(self):
        """What waits is what a decoder waits for."""
        interesting = (0x00, 0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed,
                       0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff)
        for length in (1, 2, 3):
            for tail in itertools.product(interesting, repeat=length):
                data = bytes(tail)
                whole, rest = utf8.split(data)
                self.assertEqual(data, whole + rest)
                self.assertEqual(_waits(data), bool(rest), data)

    def test_pieces_decode_one_by_one(self):
        text = ''.join(random.choices('aé€😀\n', k=5000))
        data, held, seen = text.encode(), b'', ''
        while data or held:
            size = random.randrange(1, 50)
            whole, held = utf8.split(held + data[:size])
            data = data[size:]
            seen += whole.decode()
        self.assertEqual(text, seen)


def _waits(data: bytes) -> bool:
    """Whether Python's decoder sees the beginning of a character at the very end."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if error.reason == 'unexpected end of data':
            return True
        return _waits(data[error.end:])
    return False
