# SPDX-License-Identifier: Apache-2.0
"""Long texts in JSON documents, which pass through memory in pieces and wait in files.

The files have no names and lie where Python keeps temporary ones (``TMPDIR``).
"""

import codecs
import collections.abc
import contextlib
import json
import re
import secrets
import tempfile
import typing as ty

import webob

from zun.api import documents
from zun.common import exception

#: Characters of a text, and of a piece, in memory.
_SHORT = 64 << 10
#: Characters of a document without its long texts.
_REST = 1 << 20
#: Bytes of a file that are kept in memory.
_IN_MEMORY = 256 << 10
#: Up to a quote, or to an escape that is incomplete or none; that has at most so many characters.
_INSIDE = re.compile(r'[^"\\]*(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*)*', re.DOTALL)
_ESCAPE = 6


def _file() -> ty.IO[bytes]:
    return ty.cast(ty.IO[bytes], tempfile.SpooledTemporaryFile(_IN_MEMORY))


class LongText(str):
    """Stands for a text of a document.

    :ivar file: holds the text as UTF-8
    """

    file: ty.IO[bytes]


def pieces(text: str) -> collections.abc.Iterator[str]:
    """A text in pieces, whether it is long or not."""
    if isinstance(text, LongText):
        text.file.seek(0)
        yield from codecs.iterdecode(iter(lambda: text.file.read(_SHORT), b''), 'utf-8')
        return
    for begin in range(0, len(text), _SHORT):
        yield text[begin:begin + _SHORT]


def load(chunks: collections.abc.Iterable[bytes], undo: contextlib.ExitStack) -> ty.Any:
    """The value of a JSON text; long texts that are members of it are each a :class:`LongText`.

    :param undo: closes the files
    :raises ValueError: it is malformed
    :raises SchemaValidationError: it has numbers or text that JSON or Unicode do not know
    :raises RequestTooLarge: it is large without its long texts, too, or has them elsewhere
    """
    lifter = _Lifter(undo)
    for text in codecs.iterdecode(chunks, 'utf-8-sig'):
        lifter.feed(text)
    value = documents.loads(lifter.document())
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, str) and member in lifter.lifted:
                value[name] = long = LongText(member)
                long.file = lifter.lifted.pop(member)
    if lifter.lifted:
        raise _too_large()
    return value


def _too_large() -> exception.RequestTooLarge:
    return exception.RequestTooLarge(what='The request body without its data', limit=_REST)


class _Lifter:
    """Takes the long texts out of a document.

    :ivar lifted: what stands for a text in the document -> its file
    """

    def __init__(self, undo: contextlib.ExitStack) -> None:
        self.lifted: dict[str, ty.IO[bytes]] = {}
        self._undo = undo
        self._document: list[str] = []
        self._room = _REST
        self._pending = ''
        #: Of the text that has begun; None: outside of texts.
        self._held: list[str] | None = None
        self._size = 0
        self._file: ty.IO[bytes] | None = None

    def feed(self, text: str) -> None:
        """Take the next characters. :raises ValueError: they are malformed"""
        text, at = self._pending + text, 0
        self._pending = ''
        while at < len(text):
            if self._held is None:
                end = text.find('"', at) + 1 or len(text)
                self._keep(text[at:end])
                self._held, at = [] if text[end - 1] == '"' else None, end
                continue
            end = ty.cast('re.Match[str]', _INSIDE.match(text, at)).end()
            self._take(text[at:end])
            if text[end:end + 1] == '"':
                self._close()
                at = end + 1
            elif len(text) - end < _ESCAPE:
                self._pending, at = text[end:], len(text)
            else:
                raise ValueError('a bad escape')

    def document(self) -> str:
        """What is left; that it may be cut short is seen when it is parsed."""
        return ''.join([*self._document, *(self._held or ())])

    def _keep(self, text: str) -> None:
        self._room -= len(text) + 1
        if self._room < 0:
            raise _too_large()
        self._document.append(text)

    def _take(self, text: str) -> None:
        self._size += len(text)
        if self._size <= _SHORT:
            ty.cast(list[str], self._held).append(text)
            return
        if self._file is None:
            self._file = self._undo.enter_context(_file())
            text, self._held = ''.join([*ty.cast(list[str], self._held), text]), []
        try:
            self._file.write(json.loads(f'"{text}"').encode())
        except UnicodeEncodeError:
            raise exception.SchemaValidationError(
                'A text has half of a surrogate pair.') from None

    def _close(self) -> None:
        if self._file is not None:
            token = secrets.token_hex(16)
            self.lifted[token] = self._file
            self._held = [token]
        self._keep(''.join([*ty.cast(list[str], self._held), '"']))
        self._held, self._size, self._file = None, 0, None


class Response(webob.Response):
    """An answer that is a JSON text, which waits in a file.

    :param value: in which an iterator is a text that comes in pieces
    """

    def __init__(self, value: ty.Any, status: int) -> None:
        super().__init__(status=status, content_type='application/json')
        with contextlib.ExitStack() as undo:
            file = undo.enter_context(_file())
            for part in _json(value):
                file.write(part.encode())
            self._size = file.tell()
            undo.pop_all()
        self.app_iter = _chunks(file)

    def __call__(self, environ: dict[str, ty.Any], start_response: ty.Any) -> ty.Any:
        """Pecan has looked whether it is empty, and made its length unknown by that."""
        self.content_length = self._size
        return super().__call__(environ, start_response)


def _chunks(file: ty.IO[bytes]) -> collections.abc.Generator[bytes, None, None]:
    """Pecan would read anything but a generator as a whole."""
    with file:
        file.seek(0)
        while chunk := file.read(_SHORT):
            yield chunk


def is_long(value: ty.Any) -> bool:
    """Whether an answer, or a member of it, comes in pieces."""
    members = value.values() if isinstance(value, dict) else (value,)
    return any(isinstance(member, collections.abc.Iterator) for member in members)


def _json(value: ty.Any) -> collections.abc.Iterator[str]:
    if isinstance(value, collections.abc.Iterator):
        yield '"'
        for piece in value:
            yield json.dumps(piece)[1:-1]
        yield '"'
    elif isinstance(value, dict) and is_long(value):
        for number, (name, member) in enumerate(value.items()):
            yield f'{", " if number else "{"}{json.dumps(name)}: '
            yield from _json(member)
        yield '}'
    else:
        yield json.dumps(value)
