# SPDX-License-Identifier: Apache-2.0
"""Grow a simulated cloud from point to point, and measure each."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import books
import cloud
import drive
import point as points
import race
import settings

from zun.common import config
from zun.db import engine
from zun.db import migration
from zun.placement import ledger as placement_ledger

#: Ledger -> (nodes, rows of containers), growing.
_ROWS = [(10, 1_000), (10, 10_000)]
_NODES = [(10, 100_000), (100, 100_000), (1000, 100_000)]
SERIES = {'placement': _ROWS + _NODES, 'local': _ROWS + _NODES, 'optimistic': _NODES}


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
    cloud.prepare()
    conf = settings.write('api', 'api', ledger, 'sim-api')
    config.parse_args(['--config-file', str(conf)], program='zun-api')
    engine.reset()
    migration.upgrade()
    books.purge()
    ledger_of_api = drive.connect()
    ledger_of_api.prepare()
    return ledger_of_api


def series(ledger: str, steps: list[tuple[int, int]], args: argparse.Namespace) -> None:
    """The points of one ledger: the same cloud, growing. Each is kept as soon as it is measured."""
    ledger_of_api = empty_cloud(ledger)
    found, nodes, rows = [], 0, 0
    for next_nodes, next_rows in steps:
        cloud.add_containers(rows, next_rows)
        if next_nodes > nodes:
            cloud.add_hosts(cloud.hosts(nodes, next_nodes))
            books.add(ledger_of_api, cloud.hosts(nodes, next_nodes))
        nodes, rows = next_nodes, next_rows
        point = points.Point(ledger, nodes, rows, min(nodes, args.live), args.serial,
                             args.burst, args.users, args.idle)
        print(f'{ledger}: {nodes} nodes, {rows} containers', flush=True)
        found.append(points.measure(point, ledger_of_api))
        print(json.dumps({name: value for name, value in found[-1].items()
                          if name in ('rest', 'serial', 'burst', 'overfilled')}), flush=True)
        pathlib.Path(args.results).write_text(json.dumps(found))
    books.purge()


def run(args: argparse.Namespace) -> None:
    """Measure, and keep what was measured."""
    results = {'machine': machine(), 'points': []}
    for ledger in args.ledger:
        # Options and pools of a process are those of one ledger.
        steps = args.steps or ','.join(f'{nodes}:{rows}' for nodes, rows in SERIES[ledger])
        command = [sys.executable, __file__, 'series', ledger, '--steps', steps,
                   *(f'--{name}={getattr(args, name)}' for name in _NUMBERS)]
        output = settings.directory() / f'{ledger}.json'
        subprocess.run([*command, '--results', str(output)], check=True)
        results['points'] += json.loads(output.read_text())
    path = pathlib.Path(args.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + '\n')


def one_series(args: argparse.Namespace) -> None:
    steps = [tuple(map(int, step.split(':'))) for step in args.steps.split(',')]
    series(args.ledger[0], steps, args)


def one_race(args: argparse.Namespace) -> None:
    ledger = args.ledger[0]
    found = race.run(ledger, empty_cloud(ledger), args.creates, args.nodes, args.slots,
                     args.schedulers)
    books.purge()
    print(json.dumps(found))
    if found['wrong']:
        raise SystemExit('\n'.join(['simulate: overfilled hosts, or wrong allocations:',
                                    *found['wrong']]))


_NUMBERS = {'live': 100, 'serial': 20, 'burst': 200, 'users': 8, 'idle': 66.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, work in (('run', run), ('smoke', run), ('series', one_series)):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        if name == 'series':
            command.add_argument('ledger', nargs=1)
        else:
            command.add_argument('--ledger', action='append', choices=list(SERIES))
        small = name == 'smoke'
        command.add_argument('--steps', help='NODES:CONTAINERS,...',
                             default='2:200' if small else None)
        command.add_argument('--results', default=str(settings.directory() / 'results.json'))
        for option, value in _NUMBERS.items():
            tiny = {'serial': 2, 'burst': 6, 'idle': 2.0}
            command.add_argument(f'--{option}', type=type(value),
                                 default=tiny.get(option, value) if small else value)
    command = commands.add_parser('race', help='more creates at once than the cloud can take')
    command.set_defaults(work=one_race)
    command.add_argument('ledger', nargs=1, choices=list(SERIES))
    for option, value in (('creates', 500), ('nodes', 20), ('slots', 20), ('schedulers', 3)):
        command.add_argument(f'--{option}', type=int, default=value)
    args = parser.parse_args()
    args.ledger = args.ledger or (['local'] if args.command == 'smoke' else list(SERIES))
    args.work(args)


if __name__ == '__main__':
    main()
