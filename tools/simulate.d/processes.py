# SPDX-License-Identifier: Apache-2.0
"""The processes of a simulated cloud: agents and schedulers, killed in the end."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import typing as ty

import cloud
import settings

_SELF = pathlib.Path(__file__).parent
_NODE_PROCESSES = 2
_START_SECONDS = 300

Process: ty.TypeAlias = 'subprocess.Popen[str]'


def _record() -> pathlib.Path:
    """Where the ids of running processes are kept, for the case that nobody is left to end them."""
    return settings.directory() / 'processes'


def kill_leftovers() -> None:
    """End what a simulation that was broken off has left."""
    if not _record().exists():
        return
    for line in _record().read_text().split():
        command = pathlib.Path('/proc', line, 'cmdline')
        if command.exists() and str(settings.directory()) in command.read_text():
            os.killpg(int(line), signal.SIGKILL)
    _record().unlink()


@contextlib.contextmanager
def _killed() -> ty.Iterator[list[Process]]:
    """Whatever is put into the list is killed in the end, with its workers."""
    running: list[Process] = []
    try:
        yield running
    finally:
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in running:
            process.wait()


def _start(running: list[Process], *command: str) -> Process:
    log = open(settings.directory() / 'stderr.log', 'a')  # noqa: SIM115 - the process' own
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True,
                               start_new_session=True)
    running.append(started)
    with open(_record(), 'a') as record:
        record.write(f'{started.pid}\n')
    return started


@contextlib.contextmanager
def agents(ledger: str, count: int, cpus: int = cloud.HOST_CPUS,
           ratio: float = 16.0) -> ty.Iterator[None]:
    """The agents of the first hosts.

    :param cpus: of each of them, allocated ``ratio`` times
    """
    share = -(-count // _NODE_PROCESSES)
    with _killed() as running:
        for number, first in enumerate(range(0, count, share)):
            name = f'nodes-{number}'
            conf = settings.write(name, 'nodes', ledger, f'sim-{name}', ratio)
            _start(running, sys.executable, str(_SELF / 'nodes.py'), str(conf), str(first),
                   str(min(first + share, count)), str(cpus))
        for process in running:
            _await_ready(process)
        yield


def _await_ready(agent: Process) -> None:
    timer = threading.Timer(_START_SECONDS, agent.kill)
    timer.start()
    line = agent.stdout.readline() if agent.stdout else ''
    timer.cancel()
    if line.strip() != 'ready':
        raise SystemExit(f'simulate: agents do not start, see {settings.directory()}')


@contextlib.contextmanager
def schedulers(ledger: str, count: int = 2) -> ty.Iterator[list[int]]:
    """So many zun-scheduler; their process ids."""
    binary = pathlib.Path(sys.executable).parent / 'zun-scheduler'
    with _killed() as running:
        for number in range(count):
            name = f'scheduler-{number}'
            conf = settings.write(name, 'scheduler', ledger, f'sim-{name}')
            _start(running, str(binary), '--config-file', str(conf))
        _await_schedulers(count)
        yield [process.pid for process in running]
    cloud.execute("DELETE FROM zun_service WHERE `binary` = 'zun-scheduler'", cloud.DATABASE)


def _await_schedulers(count: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while cloud.execute("SELECT COUNT(*) FROM zun_service WHERE `binary` = 'zun-scheduler' "
                        'AND report_count > 0', cloud.DATABASE)[0][0] < count:
        if time.monotonic() > end:
            raise SystemExit(f'simulate: schedulers do not start, see {settings.directory()}')
        time.sleep(0.2)
