# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of what tools/simulate has measured.

    figures.py DIRECTORY

reads results.json there and writes figures.inc and the plots beside it.
"""

import collections.abc
import json
import pathlib
import sys
import typing as ty

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt

Point = dict[str, ty.Any]
Line = tuple[str, list[float], list[float]]

_NAMES = {'placement': 'Placement', 'local': 'local ledger',
          'asked': 'Placement, always asked'}
_PARTS = ('scheduler', 'placement', 'database')


def of(points: list[Point], ledger: str, **fixed: int) -> list[Point]:
    """The points of one ledger with these properties, growing."""
    found = [point for point in points if point['ledger'] == ledger
             and all(point[name] == value for name, value in fixed.items())]
    return sorted(found, key=lambda point: (point['nodes'], point['rows']))


def by_nodes(points: list[Point], ledger: str) -> list[Point]:
    """Those with the most containers."""
    return of(points, ledger, rows=max(point['rows'] for point in points))


def by_rows(points: list[Point], ledger: str) -> list[Point]:
    """Those with the fewest nodes."""
    return of(points, ledger, nodes=min(point['nodes'] for point in points))


def watched(points: list[Point]) -> list[Point]:
    """Those whose nodes were watched while they rested."""
    return [point for point in points if point['rest'] is not None]


def ledgers(points: list[Point]) -> list[str]:
    return [name for name in _NAMES if any(point['ledger'] == name for point in points)]


def table(title: str, headers: list[str], rows: list[list[str]]) -> str:
    """A list-table of reStructuredText."""
    lines = [f'.. list-table:: {title}', '   :header-rows: 1', '']
    for row in [headers, *rows]:
        lines += [f'   {"* -" if number == 0 else "  -"} {cell}'
                  for number, cell in enumerate(row)]
    return '\n'.join(lines) + '\n'


def ratio(points: list[Point], value: collections.abc.Callable[[Point], float]) -> list[str]:
    """Each value in units of the first."""
    first = value(points[0])
    return [f'{value(point) / first:.2f}' if first else '-' for point in points]


def nodes_table(points: list[Point]) -> str:
    """One create against the number of nodes; times as ratios."""
    rows = []
    for ledger in ledgers(points):
        found = by_nodes(points, ledger)
        times = ratio(found, lambda point: point['serial']['p50_ms'])
        tails = ratio(found, lambda point: point['serial']['p95_ms'])
        own = ratio(found, lambda point: point['burst']['cpu_ms']['scheduler'])
        rates = ratio(found, lambda point: point['burst']['per_second'])
        for number, point in enumerate(found):
            create = point['create']
            rows.append([_NAMES[ledger], f'{point["nodes"]:,}', times[number], tails[number],
                         own[number], rates[number], f'{create["placement_calls"]:.1f}',
                         f'{create["statements"]["api"]:.1f} + '
                         f'{create["statements"]["scheduler"]:.1f}',
                         f'{create["messages"]:.1f}'])
    return table('One create, by the number of nodes (times and rates in units of the first line)', [
        'ledger', 'nodes', 'schedule time p50', 'p95', 'CPU of zun-scheduler', 'creates/s',
        'Placement calls', 'SQL statements: API + scheduler', 'messages'], rows)


def rows_table(points: list[Point]) -> str:
    """One create against the number of containers."""
    rows = []
    for ledger in ledgers(points):
        found = by_rows(points, ledger)
        if len(found) < 2:
            continue
        times = ratio(found, lambda point: point['serial']['p50_ms'])
        for number, point in enumerate(found):
            statements, read = point['create']['statements'], point['create']['rows_read']
            rows.append([_NAMES[ledger], f'{point["rows"]:,}', times[number],
                         ' + '.join(f'{statements[role]:.1f}' for role in statements),
                         ' + '.join(f'{read[role]:.0f}' for role in read)])
    return table('One create, by the number of containers in the cloud', [
        'ledger', 'containers', 'schedule time p50 (ratio)',
        'SQL statements: API + scheduler (+ node)', 'rows read: API + scheduler (+ node)'], rows)


def rest_table(points: list[Point]) -> str:
    """A node at rest."""
    rows = [[_NAMES[point['ledger']], f'{point["nodes"]:,}', f'{point["rows"]:,}',
             f'{point["rest"]["own_containers"]:.0f}', f'{point["rest"]["rows_read"]:.0f}',
             f'{point["rest"]["rows_read"] / point["rest"]["own_containers"]:.1f}',
             f'{point["rest"]["selects"] + point["rest"]["writes"]:.1f}']
            for ledger in ledgers(points) for point in watched(of(points, ledger))]
    return table('One node at rest, in a minute', [
        'ledger', 'nodes', 'containers in the cloud', 'containers on the node', 'rows read',
        'rows read for each of its containers', 'SQL statements'], rows)


def plot(path: pathlib.Path, title: str, x_label: str, y_label: str, lines: list[Line],
         from_zero: bool = True) -> str:
    """Draw lines over a logarithmic axis; the directive that shows them."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0), dpi=110)
    for marker, (name, xs, ys) in zip('osD^vP', lines, strict=False):
        axes.plot(xs, ys, marker=marker, label=name)
    axes.set_xscale('log')
    if from_zero:
        axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={'Software': None})
    plt.close(figure)
    return f'.. image:: scale/{path.name}\n   :alt: {title}\n'


def plots(points: list[Point], directory: pathlib.Path) -> list[str]:
    """All plots."""
    def lines(select: ty.Any, x: str, y: ty.Any) -> list[Line]:
        return [(_NAMES[ledger], [point[x] for point in found], [y(point) for point in found])
                for ledger in ledgers(points) if len(found := select(points, ledger)) > 1]

    found = by_nodes(points, 'placement')
    parts: list[Line] = [
        (part, [point['nodes'] for point in found],
         [point['burst']['cpu_ms'][part] for point in found]) for part in _PARTS]
    reads = [(f'{_NAMES[name]}: {role}', xs, ys) for role in ('api', 'scheduler')
             for name, xs, ys in [(ledger, [p['rows'] for p in by_rows(points, ledger)],
                                   [p['create']['rows_read'][role]
                                    for p in by_rows(points, ledger)])
                                  for ledger in ('placement', 'local') if ledger in
                                  ledgers(points)]]
    return [
        plot(directory / 'schedule-time.png', 'From request to host, one create at a time',
             'nodes', 'ms (median)', lines(by_nodes, 'nodes', lambda p: p['serial']['p50_ms'])),
        plot(directory / 'creates.png', 'Creates in a second, many at a time', 'nodes', '1/s',
             lines(by_nodes, 'nodes', lambda p: p['burst']['per_second'])),
        plot(directory / 'cpu.png', 'CPU for one create, with Placement', 'nodes', 'ms', parts),
        plot(directory / 'rows-read.png', 'Rows read for one create',
             'containers in the cloud', 'rows', reads),
        plot(directory / 'node-at-rest.png', 'Rows that a node reads in a minute',
             'nodes', 'rows for each of its containers', lines(
                 lambda *args: watched(by_nodes(*args)), 'nodes',
                 lambda p: p['rest']['rows_read'] / p['rest']['own_containers'])),
    ]


def main() -> None:
    directory = pathlib.Path(sys.argv[1])
    results = json.loads((directory / 'results.json').read_text())
    points, machine = results['points'], results['machine']
    live = max(point['live'] for point in points)
    text = [
        '.. Written by tools/simulate: do not edit.\n',
        f'Measured {machine["measured"]} on one machine for everything ({machine["cpus"]}, shared '
        f'with other work; {machine["system"]}; Python {machine["python"]}; MariaDB '
        f'{machine["database"].partition("-")[0]}; Placement with two workers; two '
        f'zun-scheduler). Up to {live:,} nodes run the agent; of larger clouds the other nodes are '
        'rows that look alive.\n',
        nodes_table(points), *plots(points, directory)[:3], rows_table(points)]
    text += [*plots(points, directory)[3:], rest_table(points)]
    (directory / 'figures.inc').write_text('\n'.join(text))


if __name__ == '__main__':
    main()
