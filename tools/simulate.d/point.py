# SPDX-License-Identifier: Apache-2.0
"""One measured point: what a cloud of so many hosts and containers costs."""

import contextlib
import dataclasses
import threading
import time
import typing as ty

import cloud
import drive
import observe
import processes

from zun.placement import ledger


@dataclasses.dataclass(frozen=True)
class Point:
    """
    :ivar ledger: one of :data:`settings.LEDGERS`
    :ivar live: how many of the hosts have an agent; the others are rows that look alive
    :ivar serial: creates one by one
    :ivar sample: creates that are counted, twice as many in all
    :ivar burst: creates of several users at the same time
    :ivar idle: seconds for which a cloud at rest is watched; 0: it is not
    """

    ledger: str
    nodes: int
    rows: int
    live: int
    serial: int
    sample: int
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
    """All figures of one point, whose rows, hosts and agents are there already."""
    observe.start_counting()
    with processes.schedulers(point.ledger) as running, observe.Tap() as tap:
        drive.settled([drive.create() for _ in range(3)], point.complete)
        found: dict[str, ty.Any] = {
            'asked': dataclasses.asdict(point), 'ledger': point.ledger, 'nodes': point.nodes,
            'rows': point.rows, 'live': point.live, 'rest': _rest(point)}
        made = drive.one_by_one(point.serial, point.complete)
        found['serial'] = spread(tap.latencies(made))
        found['create'] = _costs(point, tap, found['rest'])
        found['burst'] = _burst(point, tap, running)
    found['overfilled'] = _overfilled(books, point)
    cloud.finish()
    return found


def _burst(point: Point, tap: observe.Tap, schedulers: list[int]) -> dict[str, ty.Any]:
    """Many at the same time: rate, latency, and the CPU that one create takes where."""
    def used() -> dict[str, float]:
        database = observe.counts()
        return {'scheduler': observe.cpu_ms(*schedulers),
                'placement': observe.cpu_ms(observe.pid_of('placement')),
                'database': database['api']['cpu_ms'] + database['scheduler']['cpu_ms']}

    before = used()
    with observe.PlacementCalls() as calls:
        made, seconds = drive.at_once(point.burst, point.users, point.complete)
    cpu = {name: round((value - before[name]) / len(made), 1) for name, value in used().items()}
    return {**spread(tap.latencies(made)), 'per_second': round(len(made) / seconds, 2),
            'cpu_ms': cpu, 'placement_ms': round(calls.milliseconds / len(made), 1)}


def _rest(point: Point) -> dict[str, float] | None:
    """What one agent does in a minute when nothing happens; None: nobody looks."""
    if not point.idle:
        return None
    observe.wait_quiet('nodes', per_second=0.5 * point.live)
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


def _costs(point: Point, tap: observe.Tap,
           rest: dict[str, float] | None) -> dict[str, ty.Any]:
    """Of one create: rows read, and in a second sample statements, messages and calls."""
    count = point.sample
    before, begun = observe.counts(), time.monotonic()
    drive.one_by_one(count, point.complete)
    minutes = (time.monotonic() - begun) / 60
    read = {role: values['rows_read'] for role, values in observe.since(before).items()}
    if rest is not None:
        read['nodes'] -= round(rest['rows_read'] * point.live * minutes)
    messages = tap.messages
    with observe.Statements() as statements, observe.PlacementCalls() as calls:
        drive.one_by_one(count, point.complete)
        time.sleep(0.5)
    roles = cloud.ROLES if point.complete and rest is not None else ('api', 'scheduler')
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
