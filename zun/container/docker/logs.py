# SPDX-License-Identifier: Apache-2.0
"""The output a container has written."""

import collections
import collections.abc

import zun.conf
from zun.container.docker import client
from zun.container.docker import streams

CONF = zun.conf.CONF


class Tail:
    """The newest bytes of a stream.

    :param limit: how many to keep
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: collections.deque[bytes] = collections.deque()
        self._size = 0
        self._cut = False

    def add(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        while self._size - len(self._parts[0]) >= self._limit:
            self._size -= len(self._parts.popleft())
            self._cut = True

    def text(self) -> str:
        """Decoded; after a cut it begins with a whole line where there is one."""
        data = b''.join(self._parts)
        if self._cut or len(data) > self._limit:
            data = data[-self._limit:]
            _, newline, rest = data.partition(b'\n')
            data = rest if newline and rest else data
        return data.decode(errors='replace')


def read(engine: client.Client, name: str, tty: bool, params: dict[str, str]) -> str:
    """Logs up to now, at most ``[docker]/max_log_bytes`` of them.

    :param tty: a terminal's output comes as it is, other output in frames
    :param params: query of the engine's logs
    """
    response = engine.request('GET', f'/containers/{client.quote(name)}/logs',
                              params=params, stream=True)
    tail = Tail(CONF.docker.max_log_bytes)
    for part in _output(engine.chunks(response, CONF.docker.default_timeout), tty):
        tail.add(part)
    return tail.text()


def _output(chunks: collections.abc.Iterator[bytes],
            tty: bool) -> collections.abc.Iterator[bytes]:
    if tty:
        yield from chunks
        return
    frames = streams.Demultiplexer()
    for chunk in chunks:
        for _, data in frames.feed(chunk):
            yield data
