# SPDX-License-Identifier: Apache-2.0
"""Consoles on a Docker engine: hijacked connections inside an asyncio loop."""

import asyncio
import collections.abc
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import time
import typing as ty

from zun.common import exception
import zun.conf
from zun.container import streams
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import exec as exec_command
from zun.container.docker import processes
from zun.container.docker import state
from zun.container.docker import streams as frames

CONF = zun.conf.CONF

_READ = 1 << 15
_MAX_HEAD = 1 << 16
#: Keys that make the engine let go of a terminal. Its default, ^P ^Q, would cost the user a key;
#: there is no "none", so that it is a sequence nobody types, begun by a key hardly anybody uses.
_DETACH_FIRST = 'ctrl-^'
_DETACH_KEYS = 24
#: Seconds that a command has to end after the end of its input, and after SIGHUP.
_AFTER_EOF = 0.5
_AFTER_HANGUP = 3.0
_PAUSE = 0.05
#: Seconds that the engine has to take the last input.
_FLUSH = 2.0
_NO_ANSWER = (OSError, EOFError, http.client.HTTPException, TimeoutError)


def _detach_keys() -> str:
    keys = [_DETACH_FIRST]
    keys += [f'ctrl-{letter}' for letter in
             random.choices('abcdefghijklmnopqrstuvwxyz', k=_DETACH_KEYS)]
    return ','.join(keys)


class DockerStreams(streams.Streams):
    """
    :param engine: the connection, which others may use too
    """

    def __init__(self, engine: client.Client | None = None) -> None:
        self._engine = engine or client.Client()

    async def attach(self, uuid: str, tty: bool) -> streams.Stream:
        name = state.engine_name(uuid)
        with errors.translated(name, uuid):
            stream = await self._open(
                'POST', f'/containers/{client.quote(name)}/attach?stream=1&stdin=1&stdout=1'
                f'&stderr=1&logs=0&detachKeys={client.quote(_detach_keys())}', tty)
            stream.resize_path = f'/containers/{client.quote(name)}/resize'
            # Attached to what has ended, the engine would stay silent for ever.
            try:
                found = await self._get(f'/containers/{client.quote(name)}/json')
            except BaseException:
                await stream.close()
                raise
        if not found['State']['Running']:
            await stream.close()
            raise exception.Conflict('The container is not running.')
        return stream

    async def create_exec(self, uuid: str, command: collections.abc.Sequence[str],
                          interactive: bool) -> str:
        name = state.engine_name(uuid)
        with errors.translated(name, uuid):
            return await asyncio.to_thread(
                exec_command.create, self._engine, name, list(command), AttachStdin=interactive,
                Tty=interactive, DetachKeys=_detach_keys())

    async def start_exec(self, engine_id: str, interactive: bool) -> streams.Stream:
        try:
            stream = await self._open('POST', f'/exec/{engine_id}/start', interactive,
                                      {'Detach': False, 'Tty': interactive})
        except errors.Refusal as refusal:
            return await self._not_started(engine_id, refusal)
        stream.exec_id = engine_id
        stream.resize_path = f'/exec/{engine_id}/resize'
        return stream

    async def _not_started(self, engine_id: str, refusal: errors.Refusal) -> streams.Stream:
        """Engines since 25 refuse to start what does not exist, where older ones write it out."""
        with errors.translated():
            found = await self._get(f'/exec/{engine_id}/json')
        if found['ExitCode'] not in exec_command.NOT_STARTED:
            raise errors.translate(refusal)
        reader = asyncio.StreamReader()
        reader.feed_data(f'{errors.readable(refusal.message)}\r\n'.encode())
        reader.feed_eof()
        stream = _DockerStream(self._engine, reader, None, True)
        stream.exec_id = engine_id
        return stream

    async def logs(self, uuid: str, tty: bool, window: streams.LogWindow) -> streams.Stream:
        name = state.engine_name(uuid)
        query = (f'follow=1&stdout={window.stdout:d}&stderr={window.stderr:d}'
                 f'&timestamps={window.timestamps:d}'
                 f"&tail={'all' if window.tail is None else window.tail}"
                 f"&since={client.quote(window.since or '0')}")
        with errors.translated(name, uuid):
            return await self._open('GET', f'/containers/{client.quote(name)}/logs?{query}', tty)

    async def end_exec(self, engine_id: str) -> None:
        await asyncio.to_thread(_end, self._engine, engine_id)

    async def _get(self, path: str) -> dict[str, ty.Any]:
        return (await asyncio.to_thread(self._engine.request, 'GET', path)).json()

    async def _open(self, method: str, path: str, tty: bool,
                    body: dict[str, ty.Any] | None = None) -> '_DockerStream':
        """
        :raises Refusal: an error status
        :raises EngineUnavailable: no answer
        """
        limit = CONF.docker.default_timeout
        writer = None
        try:
            async with asyncio.timeout(limit):
                path = await asyncio.to_thread(self._engine.path, path)
                reader, writer = await _dial(self._engine, limit)
                writer.write(_request(method, path, body))
                await _answer(reader)
        except BaseException as error:
            if writer is not None:
                writer.transport.abort()
            if not isinstance(error, _NO_ANSWER):
                raise
            self._engine.forget()
            raise exception.EngineUnavailable(
                error_msg=str(error) or f'no answer within {limit} seconds') from error
        return _DockerStream(self._engine, reader, writer, tty)


async def _dial(engine: client.Client,
                limit: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = engine.connection(limit)
    if isinstance(address, http.client.HTTPSConnection):
        return await asyncio.open_connection(address.host, address.port,
                                             ssl=client.ssl_context())
    await asyncio.to_thread(address.connect)
    address.sock.setblocking(False)
    return await asyncio.open_connection(sock=address.sock)


def _request(method: str, path: str, body: dict[str, ty.Any] | None) -> bytes:
    """A hijack where there may be input, else HTTP 1.0, whose answers have no chunks."""
    content = b'' if body is None else json.dumps(body).encode()
    if method == 'GET':
        return f'GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n'.encode()
    return (f'{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n'
            f'Upgrade: tcp\r\nContent-Type: application/json\r\n'
            f'Content-Length: {len(content)}\r\n\r\n').encode() + content


async def _answer(reader: asyncio.StreamReader) -> None:
    """Read the head of an answer.

    :raises Refusal: it is an error
    """
    head = await reader.readuntil(b'\r\n\r\n')
    line, *fields = head.decode('latin-1').split('\r\n')
    words = line.split(' ', 2)
    if len(words) < 2 or not words[1].isdecimal():
        raise http.client.BadStatusLine(line)
    if int(words[1]) < 400:
        return
    pairs = (field.partition(':') for field in fields)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get('content-length', '')
    text = await reader.read(_MAX_HEAD) if not length.isdecimal() \
        else await reader.readexactly(min(int(length), _MAX_HEAD))
    try:
        message = json.loads(text)['message']
    except (ValueError, KeyError, TypeError):
        message = text.decode(errors='replace')
    raise errors.Refusal(int(words[1]), message)


class _DockerStream(streams.Stream):
    """
    :ivar exec_id: the engine's, of a command
    :ivar resize_path: of its terminal, where there may be one
    """

    def __init__(self, engine: client.Client, reader: asyncio.StreamReader,
                 writer: asyncio.StreamWriter | None, tty: bool) -> None:
        self._engine = engine
        self._reader = reader
        self._writer = writer
        self._frames = None if tty else frames.Demultiplexer()
        self._tty = tty
        self.exec_id: str | None = None
        self.resize_path: str | None = None

    async def read(self) -> bytes:
        while True:
            with _broken():
                data = await self._reader.read(_READ)
            if not data or self._frames is None:
                return data
            output = b''.join(part for _, part in self._frames.feed(data))
            if output:
                return output

    async def write(self, data: bytes) -> None:
        if self._writer is not None:
            with _broken():
                self._writer.write(data)
                await self._writer.drain()

    async def resize(self, height: int, width: int) -> None:
        if not self._tty or self.resize_path is None:
            return
        try:
            await asyncio.to_thread(self._engine.request, 'POST', self.resize_path,
                                    params={'h': height, 'w': width})
        except errors.Refusal as refusal:
            if refusal.status in (404, 409) or await asyncio.to_thread(self._has_ended):
                raise exception.Invalid('The process has ended.') from refusal
            raise errors.translate(refusal) from refusal

    def _has_ended(self) -> bool:
        """Of a command, for whose size an engine answers 500 when its container has ended."""
        if self.exec_id is None:
            return False
        found = _inspect(self._engine, self.exec_id)
        return found is None or not found['Running']

    async def exit_code(self) -> int | None:
        if self.exec_id is None:
            return None
        # Its output may end a moment before the engine knows that it has.
        end, pause = time.monotonic() + _AFTER_HANGUP, 0.005
        while time.monotonic() < end:
            found = await asyncio.to_thread(_inspect, self._engine, self.exec_id)
            if found is None:
                return None
            if not found['Running']:
                return found['ExitCode']
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.2)
        return None

    async def close(self) -> None:
        if self._writer is not None:
            try:
                async with asyncio.timeout(_FLUSH):
                    if self._writer.can_write_eof():
                        self._writer.write_eof()
                    self._writer.close()
                    await self._writer.wait_closed()
            except (OSError, TimeoutError):
                self._writer.transport.abort()
        if self.exec_id is not None:
            await asyncio.to_thread(_end, self._engine, self.exec_id)


@contextlib.contextmanager
def _broken() -> collections.abc.Iterator[None]:
    try:
        yield
    except OSError as error:
        raise exception.EngineUnavailable(
            error_msg=f'connection lost ({error.strerror or error})') from error


def _inspect(engine: client.Client, exec_id: str) -> dict[str, ty.Any] | None:
    """None when it is gone, with its container."""
    try:
        return engine.request('GET', f'/exec/{exec_id}/json').json()
    except errors.Refusal as refusal:
        if refusal.status == 404:
            return None
        raise errors.translate(refusal) from refusal


def _end(engine: client.Client, exec_id: str) -> None:
    """Wait for a command to end; then hang up; then kill it with all that it started."""
    found = _wait(engine, exec_id, _AFTER_EOF)
    if found is None:
        return
    _hang_up(found['Pid'], found['ContainerID'])
    if _wait(engine, exec_id, _AFTER_HANGUP) is not None:
        with contextlib.suppress(exception.Conflict):  # it ended with its container
            exec_command.kill(engine, found['ContainerID'], exec_id)


def _wait(engine: client.Client, exec_id: str, seconds: float) -> dict[str, ty.Any] | None:
    """The engine's view of a command that is still running after so many seconds.

    One that has no exit code and does not run may be about to begin.
    """
    began = time.monotonic()
    while True:
        found = _inspect(engine, exec_id)
        if found is None or found['ExitCode'] is not None:
            return None
        waited = time.monotonic() - began
        if waited > seconds and found['Pid']:
            return found
        if waited > exec_command.BEGIN:
            return None
        time.sleep(_PAUSE)


def _hang_up(pid: int, container_id: str) -> None:
    """SIGHUP, which nohup survives, to a command and what belongs to it; as far as it can be."""
    with contextlib.suppress(OSError):
        own = container_id in pathlib.Path(f'/proc/{pid}/cgroup').read_text()
        for member in processes.family(pid) if own else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGHUP)
