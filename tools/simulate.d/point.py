# SPDX-License-Identifier: Apache-2.0
"""One measured point: a cloud of so many hosts and containers, its processes, its figures."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import typing as ty

import cloud
import drive
import observe
import settings

from zun.placement import ledger

_SELF = pathlib.Path(__file__).parent
_NODE_PROCESSES = 2
_START_SECONDS = 300


@dataclasses.dataclass(frozen=True)
class Point:
    """
    :ivar live: how many of the hosts have an agent; the others are rows that look alive
    :ivar idle: seconds for which a cloud at rest is watched
    :ivar users: who create at the same time
    """

    ledger: str
    nodes: int
    rows: int
    live: int
    serial: int
    burst: int
    users: int
    idle: float

    @property
    def complete(self) -> bool:
        """Whether every host runs what it gets."""
        return self.live == self.nodes


def percentile(samples: ty.Sequence[float], percent: int) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def spread(samples: ty.Sequence[float]) -> dict[str, float]:
    """Percentiles that are reported, in milliseconds."""
    return {f'p{percent}_ms': round(percentile(samples, percent) * 1000, 1)
            for percent in (50, 95)} | {'count': len(samples)}


def _record() -> pathlib.Path:
    """Where the ids of running processes are kept, for the case that nobody is left to end them."""
    return settings.directory() / 'processes'


def _kill_leftovers() -> None:
    """End what a simulation that was broken off has left."""
    if not _record().exists():
        return
    for line in _record().read_text().split():
        command = pathlib.Path('/proc', line, 'cmdline')
        if command.exists() and str(settings.directory()) in command.read_text():
            os.killpg(int(line), signal.SIGKILL)
    _record().unlink()


class Processes:
    """Schedulers and agents, killed in the end.

    :param live: number of agents
    :param cpus: of each node, allocated ``ratio`` times
    :ivar schedulers: process ids
    """

    def __init__(self, ledger: str, live: int, schedulers: int = 2, cpus: int = cloud.HOST_CPUS,
                 ratio: float = 16.0) -> None:
        self._ledger = ledger
        self._live = live
        self._wanted = schedulers
        self._cpus = cpus
        self._ratio = ratio
        self._running: list[subprocess.Popen[str]] = []
        self.schedulers: list[int] = []

    def __enter__(self) -> 'Processes':
        _kill_leftovers()
        binaries = pathlib.Path(sys.executable).parent
        for number in range(self._wanted):
            name = f'scheduler-{number}'
            conf = settings.write(name, 'scheduler', self._ledger, f'sim-{name}')
            started = self._start(str(binaries / 'zun-scheduler'), '--config-file', str(conf))
            self.schedulers.append(started.pid)
        agents = []
        share = -(-self._live // _NODE_PROCESSES)
        for number, first in enumerate(range(0, self._live, share)):
            name = f'nodes-{number}'
            conf = settings.write(name, 'nodes', self._ledger, f'sim-{name}', self._ratio)
            agents.append(self._start(
                sys.executable, str(_SELF / 'nodes.py'), str(conf), str(first),
                str(min(first + share, self._live)), str(self._cpus)))
        for agent in agents:
            self._await_ready(agent)
        self._await_schedulers()
        return self

    def _start(self, *command: str) -> 'subprocess.Popen[str]':
        log = open(settings.directory() / 'stderr.log', 'a')  # noqa: SIM115 - the process' own
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True,
                                   start_new_session=True)
        self._running.append(started)
        with open(_record(), 'a') as record:
            record.write(f'{started.pid}\n')
        return started

    @staticmethod
    def _await_ready(agent: 'subprocess.Popen[str]') -> None:
        timer = threading.Timer(_START_SECONDS, agent.kill)
        timer.start()
        line = agent.stdout.readline() if agent.stdout else ''
        timer.cancel()
        if line.strip() != 'ready':
            raise SystemExit(f'simulate: agents do not start, see {settings.directory()}')

    def _await_schedulers(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            found = cloud.execute("SELECT COUNT(*) FROM zun_service WHERE `binary` = "
                                  "'zun-scheduler' AND report_count > 0", cloud.DATABASE)
            if found[0][0] >= self._wanted:
                return
            time.sleep(0.2)
        raise SystemExit(f'simulate: schedulers do not start, see {settings.directory()}')

    def __exit__(self, *error: object) -> None:
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with its workers
        for process in self._running:
            process.wait()
        _record().unlink(missing_ok=True)
        cloud.execute("DELETE FROM zun_service WHERE `binary` = 'zun-scheduler'", cloud.DATABASE)


@contextlib.contextmanager
def alive() -> ty.Iterator[None]:
    """Hosts without an agent keep looking alive."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(30):
            cloud.keep_alive()

    cloud.keep_alive()
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    yield
    stop.set()
    thread.join(10)


def measure(point: Point, books: ledger.Ledger) -> dict[str, ty.Any]:
    """All figures of one point, whose rows and hosts are there already."""
    observe.start_counting()
    with alive(), Processes(point.ledger, point.live) as processes, observe.Tap() as tap:
        drive.settled([drive.create() for _ in range(3)], point.complete)
        observe.wait_quiet('nodes', per_second=0.5 * point.live)
        found: dict[str, ty.Any] = {**dataclasses.asdict(point), 'rest': _rest(point)}
        made = drive.one_by_one(point.serial, point.complete)
        found['serial'] = spread(tap.latencies(made))
        found['create'] = _costs(point, tap, found['rest'])
        found['burst'] = _burst(point, tap, processes)
    found['overfilled'] = _overfilled(books, point)
    return found


def _burst(point: Point, tap: observe.Tap, processes: Processes) -> dict[str, ty.Any]:
    """Many at the same time: rate, latency, and the CPU that one create takes where."""
    def used() -> dict[str, float]:
        database = observe.counts()
        return {'scheduler': observe.cpu_ms(*processes.schedulers),
                'placement': observe.cpu_ms(observe.pid_of('placement')),
                'database': database['api']['cpu_ms'] + database['scheduler']['cpu_ms']}

    before = used()
    with observe.PlacementCalls() as calls:
        made, seconds = drive.at_once(point.burst, point.users, point.complete)
    cpu = {name: round((value - before[name]) / len(made), 1) for name, value in used().items()}
    return {**spread(tap.latencies(made)), 'per_second': round(len(made) / seconds, 2),
            'cpu_ms': cpu, 'placement_ms': round(calls.milliseconds / len(made), 1)}


def _rest(point: Point) -> dict[str, float]:
    """What one agent does in a minute when nothing happens."""
    before, begun = observe.counts(), time.monotonic()
    time.sleep(point.idle)
    minutes = (time.monotonic() - begun) / 60
    found = observe.since(before)['nodes']
    each = {name: round(value / minutes / point.live, 2) for name, value in found.items()}
    own = cloud.execute(
        'SELECT COUNT(*) FROM container WHERE host IN ('
        + ', '.join(f"'{host.name}'" for host in cloud.hosts(0, point.live)) + ')',
        cloud.DATABASE)[0][0]
    return {**each, 'own_containers': round(own / point.live, 1)}


def _costs(point: Point, tap: observe.Tap, rest: dict[str, float]) -> dict[str, ty.Any]:
    """Of one create: rows read, and in a second sample statements, messages and calls."""
    count = point.serial
    before, begun = observe.counts(), time.monotonic()
    drive.one_by_one(count, point.complete)
    minutes = (time.monotonic() - begun) / 60
    read = {role: values['rows_read'] for role, values in observe.since(before).items()}
    read['nodes'] -= round(rest['rows_read'] * point.live * minutes)
    messages = tap.messages
    with observe.Statements() as statements, observe.PlacementCalls() as calls:
        drive.one_by_one(count, point.complete)
        time.sleep(0.5)
    roles = cloud.ROLES if point.complete and point.live <= 10 else ('api', 'scheduler')
    return {
        'rows_read': {role: round(read[role] / count, 1) for role in roles},
        'statements': {role: round(statements.by_role[role].total() / count, 1)
                       for role in roles},
        'kinds': {role: {kind: round(times / count, 2) for kind, times in
                         statements.by_role[role].most_common()} for role in roles},
        'messages': round((tap.messages - messages) / count, 2),
        'placement_calls': round(calls.total / count, 2),
        'placement_ms': round(calls.milliseconds / count, 1)}


def _overfilled(books: ledger.Ledger, point: Point) -> int:
    """Hosts whose ledger says another number of containers than their rows."""
    rows = dict(cloud.execute('SELECT host, COUNT(*) FROM container WHERE host IS NOT NULL '
                              'GROUP BY host', cloud.DATABASE))
    return sum(len(books.allocations_on(host.uuid)) != rows[host.name]
               for host in cloud.hosts(0, min(point.nodes, 20)))
