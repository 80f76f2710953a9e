# SPDX-License-Identifier: Apache-2.0
"""Data that is too large for one message, in parts over the bus.

No message holds more than PART bytes of data, which are 1 MiB as base64: a broker's limit, 16 MiB
by default, is far, and the copies that a message passes through stay small. The rest waits at the
node, under a token, and not for long.
"""

import base64
import binascii
import codecs
import collections.abc
import typing as ty

from zun.common import exception

#: Bytes in a message; a multiple of 3, so that the base64 texts of the parts join to that of all.
PART = 768 << 10
#: The same as base64.
PART_TEXT = PART // 3 * 4
#: Characters of a text that is sent as it is; escaped, a character may take 12 bytes.
PLAIN_TEXT = 128 << 10


def encoded(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def decoded(text: str) -> bytes:
    """:raises Base64Exception: the text is no base64"""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise exception.Base64Exception(name='data') from None


def parts(pieces: collections.abc.Iterable[str]) -> collections.abc.Iterator[str]:
    """A base64 text in parts that can be decoded one by one; at least one.

    :param pieces: of any length; encoders break lines in them
    """
    text = ''
    for piece in pieces:
        text += ''.join(piece.split())
        while len(text) > PART_TEXT:
            yield text[:PART_TEXT]
            text = text[PART_TEXT:]
    yield text


def collect(first: dict[str, ty.Any],
            more: collections.abc.Callable[[str], dict[str, ty.Any]]
            ) -> collections.abc.Iterator[str]:
    """The base64 text of an answer, in parts that can be decoded one by one.

    :param first: ``{'data', 'parcel'}``; parcel: token of the rest, or nothing
    :param more: asks for the next part under a token
    """
    answer = first
    yield answer['data']
    while answer.get('parcel'):
        answer = more(answer['parcel'])
        yield answer['data']


def text(found: collections.abc.Iterable[str]) -> collections.abc.Iterator[str]:
    """The pieces of a text that came as UTF-8 in parts of base64."""
    return codecs.iterdecode(map(decoded, found), 'utf-8')
