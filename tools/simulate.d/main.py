# SPDX-License-Identifier: Apache-2.0
"""Grow a simulated cloud from point to point, and measure each."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
import typing as ty

import books
import cloud
import drive
import point as points
import processes
import race
import settings

from zun.common import config
from zun.db import engine
from zun.db import migration
from zun.placement import ledger as placement_ledger

#: Nodes and rows of containers, growing.
STEPS = [(10, 1_000), (10, 100_000), (100, 100_000), (1000, 100_000)]
#: Where nodes are watched while they rest, with one ledger: it takes more than a minute.
_WATCHED = {('placement', *STEPS[0]), ('placement', *STEPS[1]), ('placement', *STEPS[3])}
#: Ledger -> ways to use it that are measured in the same cloud.
WAYS = {'placement': ('placement', 'asked'), 'local': ('local',)}
_NUMBERS = {'live': 10, 'serial': 20, 'sample': 5, 'burst': 60, 'users': 8, 'idle': 62.0}
_OF_SMOKE = {'serial': 2, 'sample': 2, 'burst': 6, 'idle': 2.0}


def machine() -> dict[str, str]:
    """What it was measured on."""
    model = next((line.partition(':')[2].strip() for line in
                  pathlib.Path('/proc/cpuinfo').read_text().splitlines()
                  if line.startswith('model name')), platform.machine())
    return {'cpus': f'{os.cpu_count()} x {model}', 'system': platform.platform(terse=True),
            'python': platform.python_version(),
            'database': str(cloud.execute('SELECT version()')[0][0]),
            'measured': time.strftime('%Y-%m-%d')}


def empty_cloud(ledger: str) -> placement_ledger.Ledger:
    """A database and a ledger without anything, for this process as their API."""
    processes.kill_leftovers()
    cloud.prepare()
    conf = settings.write('api', 'api', ledger, 'sim-api')
    config.parse_args(['--config-file', str(conf)], program='zun-api')
    engine.reset()
    migration.upgrade()
    books.purge()
    ledger_of_api = drive.connect()
    ledger_of_api.prepare()
    return ledger_of_api


def planned(args: argparse.Namespace, ledger: str) -> list[points.Point]:
    """The points of one ledger, in the order of a cloud that grows."""
    steps = args.steps or STEPS
    found = []
    for nodes, rows in steps:
        for way in WAYS[ledger]:
            if way != ledger and rows < steps[-1][1]:
                continue
            watched = way == ledger if args.steps else (way, nodes, rows) in _WATCHED
            idle = args.idle if watched else 0.0
            found.append(points.Point(way, nodes, rows, min(args.live, steps[0][0]), args.serial,
                                      args.sample, args.burst, args.users, idle))
    return found


class Results:
    """The file of all results: what it has is not measured again."""

    def __init__(self, path: str) -> None:
        self._path = pathlib.Path(path)
        self._all: dict[str, ty.Any] = {'machine': {}, 'points': []}
        if self._path.exists():
            self._all = json.loads(self._path.read_text())

    def has(self, point: points.Point) -> bool:
        return any(found['asked'] == dataclasses.asdict(point) for found in self._all['points'])

    def add(self, found: dict[str, ty.Any]) -> None:
        """Keep a point, in place of an older one of the same cloud."""
        key = ('ledger', 'nodes', 'rows')
        others = [other for other in self._all['points']
                  if any(other[name] != found[name] for name in key)]
        self._all = {'machine': machine(), 'points': [*others, found]}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix('.new')
        new.write_text(json.dumps(self._all, indent=1) + '\n')
        new.replace(self._path)


def series(args: argparse.Namespace) -> None:
    """The points of one ledger: the same cloud, growing. Each is kept as soon as it is measured."""
    ledger, results = args.ledger[0], Results(args.results)
    plan = [point for point in planned(args, ledger) if not results.has(point)]
    books_of_api = empty_cloud(ledger)
    size = (0, 0)
    with contextlib.ExitStack() as stack:
        for point in plan:
            size = _grow(books_of_api, size, point)
            if point is plan[0]:
                stack.enter_context(points.alive())
                stack.enter_context(processes.agents(ledger, point.live))
            found = points.measure(point, books_of_api)
            results.add(found)
            _say(json.dumps({name: found[name] for name in
                             ('rest', 'serial', 'burst', 'overfilled')}))
    books.purge()


def _grow(ledger: placement_ledger.Ledger, size: tuple[int, int],
          point: points.Point) -> tuple[int, int]:
    """Add nodes and rows that are missing; the new size."""
    nodes, rows = size
    _say(f'{point.ledger}: {point.nodes} nodes, {point.rows} containers')
    cloud.add_containers(rows, point.rows)
    if point.nodes > nodes:
        added = cloud.hosts(nodes, point.nodes)
        cloud.add_hosts(added)
        books.add(ledger, added)
        _say('the cloud is there')
    return point.nodes, point.rows


def _say(text: str) -> None:
    print(f'{time.strftime("%H:%M:%S")} {text}', flush=True)


def run(args: argparse.Namespace) -> None:
    """Measure what the results do not have yet."""
    results = Results(args.results)
    for ledger in args.ledger:
        if all(map(results.has, planned(args, ledger))):
            _say(f'{ledger}: all is measured')
            continue
        # Options and pools of a process are those of one ledger.
        subprocess.run([
            sys.executable, __file__, 'series', ledger, '--results', args.results,
            *(f'--{name}={getattr(args, name)}' for name in _NUMBERS),
            *(['--steps', ','.join(f'{nodes}:{rows}' for nodes, rows in args.steps)]
              if args.steps else [])], check=True)


def _steps(text: str) -> list[tuple[int, int]]:
    """NODES:CONTAINERS,... as numbers."""
    found = []
    for step in text.split(','):
        nodes, rows = map(int, step.split(':'))
        found.append((nodes, rows))
    return found


def one_race(args: argparse.Namespace) -> None:
    ledger = args.ledger[0]
    found = race.run(ledger, empty_cloud(ledger), args.creates, args.nodes, args.slots,
                     args.schedulers)
    books.purge()
    print(json.dumps(found))
    if found['wrong']:
        raise SystemExit('\n'.join(['simulate: overfilled hosts, or wrong allocations:',
                                    *found['wrong']]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, work in (('run', run), ('smoke', run), ('series', series)):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        if name == 'series':
            command.add_argument('ledger', nargs=1)
        else:
            command.add_argument('--ledger', action='append', choices=list(WAYS))
        small = name == 'smoke'
        command.add_argument('--steps', type=_steps, help='NODES:CONTAINERS,...',
                             default=[(2, 200)] if small else None)
        command.add_argument('--results', default=str(settings.directory() / 'results.json'))
        for option, value in _NUMBERS.items():
            command.add_argument(f'--{option}', type=type(value),
                                 default=_OF_SMOKE.get(option, value) if small else value)
    command = commands.add_parser('race', help='more creates at once than the cloud can take')
    command.set_defaults(work=one_race)
    command.add_argument('ledger', nargs=1, choices=settings.LEDGERS)
    for option, value in (('creates', 500), ('nodes', 20), ('slots', 20), ('schedulers', 3)):
        command.add_argument(f'--{option}', type=int, default=value)
    args = parser.parse_args()
    args.ledger = args.ledger or (['local'] if args.command == 'smoke' else list(WAYS))
    args.work(args)


if __name__ == '__main__':
    main()
