# SPDX-License-Identifier: Apache-2.0
"""A proxy in front of the engine that delays, loses or answers chosen calls."""

import collections.abc
import contextlib
import dataclasses
import enum
import http
import json
import re
import select
import socket
import threading
import typing as ty

import fixtures

_CHUNK = 1 << 16
_HEAD_END = b'\r\n\r\n'


class Kind(enum.Enum):
    """
    DELAY: the engine hears of it later.
    HANG: the engine never hears of it, and nobody answers.
    CUT: the engine never hears of it, and the connection breaks.
    LOSE: the engine does it, and the connection breaks before its answer.
    TEAR: the engine does it, and the connection breaks within its answer.
    ANSWER: the engine never hears of it, and somebody else answers.
    """

    DELAY = enum.auto()
    HANG = enum.auto()
    CUT = enum.auto()
    LOSE = enum.auto()
    TEAR = enum.auto()
    ANSWER = enum.auto()


@dataclasses.dataclass
class Fault:
    """What befalls the calls of a method on a path.

    :ivar path: regular expression of the path behind the version
    :ivar times: how many of them; the others pass
    :ivar spared: how many pass before
    """

    kind: Kind
    method: str
    path: str
    times: int = 1
    seconds: float = 1.0
    status: int = 500
    message: str = 'the engine fails'
    spared: int = 0
    met: int = 0


class Proxy(fixtures.Fixture):
    """Listens on a unix socket; each call goes over a connection of its own.

    :param target: path of the engine's socket
    :param path: of its own
    """

    def __init__(self, target: str, path: str) -> None:
        super().__init__()
        self.url = f'unix://{path}'
        self._target, self._path = target, path
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._stopped = threading.Event()

    def _setUp(self) -> None:  # noqa: N802
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self._path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, name='proxy', daemon=True).start()
        self.addCleanup(self._stop)

    def _stop(self) -> None:
        self._stopped.set()
        self._listener.close()

    def add(self, *faults: Fault) -> None:
        with self._lock:
            self._faults.extend(faults)

    def clear(self) -> None:
        """Let everything pass from now on."""
        with self._lock:
            self._faults.clear()

    def _met(self, method: str, path: str) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if (fault.method != method or fault.met == fault.times
                        or not re.fullmatch(f'(/v[0-9.]+)?{fault.path}', path)):
                    continue
                if fault.spared:
                    fault.spared -= 1
                    continue
                fault.met += 1
                return fault
        return None

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self._stopped.is_set():
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            request = _read_request(client)
            if request is None:
                return
            line = request.split(b'\r\n', 1)[0].decode()
            method, target, _ = line.split(' ')
            fault = self._met(method, target.split('?')[0])
            if fault is None or self._befall(fault, client):
                self._forward(client, request, fault)

    def _befall(self, fault: Fault, client: socket.socket) -> bool:
        """Whether the engine is to hear of it."""
        if fault.kind is Kind.DELAY:
            self._stopped.wait(fault.seconds)
        elif fault.kind is Kind.HANG:
            _wait_closed(client, self._stopped)
            return False
        elif fault.kind is Kind.CUT:
            return False
        elif fault.kind is Kind.ANSWER:
            client.sendall(_answer(fault.status, fault.message))
            return False
        return True

    def _forward(self, client: socket.socket, request: bytes, fault: Fault | None) -> None:
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self._target)
            engine.sendall(_closing(request))
            for chunk in _chunks(client, engine, self._stopped):
                if fault is not None and fault.kind is Kind.TEAR:
                    client.sendall(chunk[:len(chunk) // 2])
                    return
                if fault is None or fault.kind is not Kind.LOSE:
                    client.sendall(chunk)


def _read_request(client: socket.socket) -> bytes | None:
    """A request with its body; None when there is none."""
    data = b''
    while _HEAD_END not in data:
        chunk = client.recv(_CHUNK)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(_HEAD_END)
    found = re.search(rb'(?i)\r\ncontent-length: *(\d+)', head)
    length = int(found.group(1)) if found else 0
    while len(body) < length:
        chunk = client.recv(_CHUNK)
        if not chunk:
            return None
        body += chunk
    return head + _HEAD_END + body


def _closing(request: bytes) -> bytes:
    """The request with the wish that the engine closes the connection after its answer."""
    head, end, body = request.partition(_HEAD_END)
    lines = [line for line in head.split(b'\r\n') if not line.lower().startswith(b'connection:')]
    return b'\r\n'.join([*lines, b'Connection: close']) + end + body


def _answer(status: int, message: str) -> bytes:
    body = json.dumps({'message': message}).encode()
    return (f'HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n'
            f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n'
            'Connection: close\r\n\r\n').encode() + body


def _chunks(client: socket.socket, engine: socket.socket,
            stopped: threading.Event) -> collections.abc.Iterator[bytes]:
    """The engine's answer, until one of the two leaves."""
    while not stopped.is_set():
        ready: list[ty.Any] = select.select([engine, client], [], [], 0.5)[0]
        if engine in ready:
            chunk = engine.recv(_CHUNK)
            if not chunk:
                return
            yield chunk
        elif client in ready and not client.recv(_CHUNK):
            return


def _wait_closed(client: socket.socket, stopped: threading.Event) -> None:
    while not stopped.is_set():
        if select.select([client], [], [], 0.2)[0] and not client.recv(_CHUNK):
            return
