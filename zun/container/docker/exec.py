# SPDX-License-Identifier: Apache-2.0
"""Commands inside a running container, to their end or to the limit."""

import socket
import time
import typing as ty

from oslo_log import log as logging

from zun.common import commands
from zun.common import exception
import zun.conf
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import processes
from zun.container.docker import streams

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds of silence after which the engine is asked whether the command ended: what it left in
#: the background may hold its output open.
_SILENCE = 0.25
#: Seconds after which a command that has not begun is taken for one that never will.
BEGIN = 10.0
_PAUSE = 0.05
#: Exit codes of a command that could not be started.
NOT_STARTED = (126, 127)


def run(engine: client.Client, name: str, command: str, limit: float) -> tuple[str, int]:
    """Run a command: its output, both streams as they came, and its exit code.

    :param command: split as a shell would
    :param limit: seconds
    :raises Invalid: the command is empty or has an open quote
    :raises Conflict: not ended within the limit; its processes were killed
    """
    deadline = time.monotonic() + limit
    exec_id = create(engine, name, commands.split(command))
    try:
        sock, first = streams.hijack(engine, f'/exec/{exec_id}/start',
                                     {'Detach': False, 'Tty': False}, limit)
    except errors.Refusal as refusal:
        return _refused(engine, exec_id, refusal)
    output = _Output(CONF.docker.max_exec_output_bytes)
    output.add(first)
    with sock:
        ended = _collect(engine, sock, exec_id, output, deadline)
    code = _exit_code(engine, exec_id, deadline) if ended else None
    if code is None:
        kill(engine, name, exec_id)
        raise exception.Conflict(
            f'Timeout on executing command: {command} (limit {limit:g} seconds)')
    return output.text(), code


def create(engine: client.Client, name: str, words: list[str], **options: ty.Any) -> str:
    """Make an exec of the engine, not started; its id.

    :param options: further members of the engine's ExecConfig
    """
    answer = engine.request('POST', f'/containers/{client.quote(name)}/exec', json={
        'Cmd': words, 'AttachStdout': True, 'AttachStderr': True, **options})
    return answer.json()['Id']


class _Output:
    """The first bytes of the output."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._frames = streams.Demultiplexer()
        self._data = bytearray()
        self._cut = False

    def add(self, data: bytes) -> None:
        for _, part in self._frames.feed(data):
            room = self._limit - len(self._data)
            self._data += part[:room]
            self._cut = self._cut or len(part) > room

    def text(self) -> str:
        text = self._data.decode(errors='replace')
        return f'{text}\n[output cut at {self._limit} bytes]\n' if self._cut else text


def _collect(engine: client.Client, sock: socket.socket, exec_id: str, output: _Output,
             deadline: float) -> bool:
    """Read until the command ended; False when it had not by the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        sock.settimeout(min(left, _SILENCE))
        try:
            data = sock.recv(1 << 16)
        except TimeoutError:
            if not _inspect(engine, exec_id)['Running']:
                return True
            continue
        except OSError as error:
            raise exception.EngineUnavailable(error_msg=str(error)) from error
        if not data:
            return True
        output.add(data)
    return False


def _exit_code(engine: client.Client, exec_id: str, deadline: float) -> int | None:
    """The output may end a moment before the engine knows the exit code."""
    pause = 0.005
    while True:
        found = _inspect(engine, exec_id)
        if not found['Running'] and found['ExitCode'] is not None:
            return found['ExitCode']
        if time.monotonic() + pause > deadline:
            return None
        time.sleep(pause)
        pause = min(pause * 2, 0.2)


def _refused(engine: client.Client, exec_id: str, refusal: errors.Refusal) -> tuple[str, int]:
    """Engines since 25 refuse to start what does not exist, where older ones write it out."""
    code = _inspect(engine, exec_id)['ExitCode']
    if code in NOT_STARTED:
        return f'{errors.readable(refusal.message)}\n', code
    raise refusal


def _inspect(engine: client.Client, exec_id: str) -> dict[str, ty.Any]:
    """:raises Conflict: the container went, and its execs with it"""
    try:
        return engine.request('GET', f'/exec/{exec_id}/json').json()
    except errors.Refusal as refusal:
        if refusal.status == 404:
            raise exception.Conflict('The container ended while the command ran.') from refusal
        raise


def _begun(engine: client.Client, exec_id: str) -> dict[str, ty.Any]:
    """The engine's view of a command that it may still be about to begin."""
    end = time.monotonic() + BEGIN
    while True:
        found = _inspect(engine, exec_id)
        if found['Pid'] or found['ExitCode'] is not None or time.monotonic() > end:
            return found
        time.sleep(_PAUSE)


def kill(engine: client.Client, name: str, exec_id: str) -> None:
    """End a command with all that it started.

    :raises Conflict: it ended with its container
    """
    found = _begun(engine, exec_id)
    if not found['Pid']:
        return

    def inside(pids: list[int]) -> None:
        words = ['sh', '-c', f"kill -9 {' '.join(map(str, pids))}"]
        helper = create(engine, name, words, User='0')
        engine.request('POST', f'/exec/{helper}/start', json={'Detach': True})

    if not processes.kill(found['Pid'], found['ContainerID'], inside):
        LOG.warning('Processes of an executed command in container %s could not be killed', name)
