# SPDX-License-Identifier: Apache-2.0
"""Raw byte streams of the engine: hijacked connections, and the frames two streams share."""

import collections.abc
import http.client
import json
import socket
import struct
import typing as ty

from zun.common import exception
from zun.container.docker import client
from zun.container.docker import errors

STDOUT = 1
STDERR = 2
_HEADER = struct.Struct('>BxxxL')
_MAX_HEAD = 1 << 16


class Demultiplexer:
    """Takes apart the output of a container or exec that has no terminal.

    Each frame is 8 bytes, stream and length, then as many bytes of output.
    """

    def __init__(self) -> None:
        self._head = b''
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> collections.abc.Iterator[tuple[int, bytes]]:
        """Stream and bytes for each part of a frame that is in ``data``."""
        view = memoryview(data)
        while view:
            if not self._left:
                missing = _HEADER.size - len(self._head)
                self._head += view[:missing]
                view = view[missing:]
                if len(self._head) < _HEADER.size:
                    return
                self._stream, self._left = _HEADER.unpack(self._head)
                self._head = b''
            part = view[:self._left]
            view = view[len(part):]
            self._left -= len(part)
            if part:
                yield self._stream, bytes(part)


def hijack(engine: client.Client, path: str, body: dict[str, ty.Any],
           timeout: float) -> tuple[socket.socket, bytes]:
    """POST, and keep the connection as a raw stream both ways.

    :param timeout: seconds for each step until the answer's head is read
    :returns: the socket, and what of the stream came along with the head
    :raises Refusal: an error status
    :raises EngineUnavailable: no answer
    """
    connection = engine.connection(timeout)
    try:
        connection.request('POST', engine.path(path), json.dumps(body), {
            'Content-Type': 'application/json', 'Connection': 'Upgrade', 'Upgrade': 'tcp'})
        status, headers, rest = _read_head(connection.sock)
        if status >= 400:
            raise errors.Refusal(status, _read_error(connection.sock, headers, rest))
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        engine.forget()
        raise exception.EngineUnavailable(error_msg=str(error)) from error
    except errors.Refusal:
        connection.close()
        raise
    return connection.sock, rest


def _read_head(sock: socket.socket) -> tuple[int, dict[str, str], bytes]:
    data = b''
    while b'\r\n\r\n' not in data:
        part = sock.recv(4096)
        if not part or len(data) > _MAX_HEAD:
            raise http.client.BadStatusLine(repr(data[:80]))
        data += part
    head, _, rest = data.partition(b'\r\n\r\n')
    line, *fields = head.decode('latin-1').split('\r\n')
    pairs = (field.partition(':') for field in fields)
    return (int(line.split(' ', 2)[1]),
            {name.strip().lower(): value.strip() for name, _, value in pairs}, rest)


def _read_error(sock: socket.socket, headers: dict[str, str], data: bytes) -> str:
    length = min(int(headers.get('content-length', 0)), _MAX_HEAD)
    while len(data) < length:
        part = sock.recv(length - len(data))
        if not part:
            break
        data += part
    return client.error_text(data)
