# SPDX-License-Identifier: Apache-2.0
"""The output a container has written."""

import codecs
import collections.abc
import itertools
import tempfile
import typing as ty

import zun.conf
from zun.container.docker import client
from zun.container.docker import streams

CONF = zun.conf.CONF

_CHUNK = 1 << 16
#: Bytes that are kept in memory; more of them lie on disk, under no name.
_IN_MEMORY = 1 << 20


class Tail:
    """The newest bytes of a stream, in a file that is written round and round.

    :param limit: how many to keep
    :param file: empty
    :ivar cut: whether there were more
    """

    def __init__(self, limit: int, file: ty.IO[bytes]) -> None:
        self._limit = limit
        self._file = file
        self.cut = False

    def add(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            room = self._limit - self._file.tell()
            if not room:
                self._file.seek(0)
                self.cut, room = True, self._limit
            self._file.write(view[:room])
            view = view[room:]

    def pieces(self) -> collections.abc.Iterator[bytes]:
        """What is kept, the oldest first; after a cut it begins with a whole line if it has one."""
        end = self._file.tell()
        parts = [(end, self._limit), (0, end)] if self.cut else [(0, end)]
        skipped = self._begun_line(parts) if self.cut else 0
        for begin, stop in parts:
            yield from self._between(begin + skipped, stop)
            skipped = max(skipped - (stop - begin), 0)

    def _begun_line(self, parts: list[tuple[int, int]]) -> int:
        """Bytes up to the first whole line; 0 when there is none."""
        size = 0
        for piece in itertools.chain.from_iterable(itertools.starmap(self._between, parts)):
            at = piece.find(b'\n') + 1
            if at:
                return (size + at) % self._limit
            size += len(piece)
        return 0

    def _between(self, begin: int, end: int) -> collections.abc.Iterator[bytes]:
        while begin < end:
            self._file.seek(begin)
            piece = self._file.read(min(_CHUNK, end - begin))
            begin += len(piece)
            yield piece


def read(engine: client.Client, name: str, tty: bool, params: dict[str, str],
         into: ty.IO[bytes]) -> None:
    """Write logs up to now as UTF-8, at most ``[docker]/max_log_bytes`` of them.

    A line in front tells when there were more.

    :param tty: a terminal's output comes as it is, other output in frames
    :param params: query of the engine's logs
    """
    response = engine.request('GET', f'/containers/{client.quote(name)}/logs',
                              params=params, stream=True)
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=CONF.state_path) as file:
        tail = Tail(CONF.docker.max_log_bytes, ty.cast(ty.IO[bytes], file))
        for part in _output(engine.chunks(response, CONF.docker.default_timeout), tty):
            tail.add(part)
        if tail.cut:
            into.write(f'[log cut: the newest {CONF.docker.max_log_bytes} bytes]\n'.encode())
        for text in codecs.iterdecode(tail.pieces(), 'utf-8', 'replace'):
            into.write(text.encode())


def _output(chunks: collections.abc.Iterator[bytes],
            tty: bool) -> collections.abc.Iterator[bytes]:
    if tty:
        yield from chunks
        return
    frames = streams.Demultiplexer()
    for chunk in chunks:
        for _, data in frames.feed(chunk):
            yield data
