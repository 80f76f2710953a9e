# SPDX-License-Identifier: Apache-2.0
"""More creates at once than a cloud can take: is any host overfilled, is anything left over?

Placement lets racing claims pass that do not fit; the agents refuse them.
"""

import concurrent.futures
import time
import typing as ty

import cloud
import drive
import processes

from zun.control import allocations
from zun.placement import ledger

_USERS = 32
_START_SECONDS = 120


def run(name: str, books: ledger.Ledger, creates: int, nodes: int, slots: int,
        schedulers: int) -> dict[str, ty.Any]:
    """Create all at once on nodes with so many CPUs each, one for each container.

    Whatever else Placement knows belongs to other clouds, and is left out.

    :returns: what became of them; ``wrong`` is what must not be
    """
    hosts = cloud.hosts(0, nodes)
    with processes.agents(name, nodes, slots, ratio=1.0), \
            processes.schedulers(name, schedulers):
        _await_hosts(books, hosts)
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(_USERS) as pool:
            made = list(pool.map(lambda number: drive.create(number, cpu=1.0), range(creates)))
        drive.ended(made)
        seconds = time.monotonic() - begun
    placed = dict(cloud.execute("SELECT host, COUNT(*) FROM container WHERE status = 'Running' "
                                'GROUP BY host', cloud.DATABASE))
    refused = cloud.execute('SELECT COUNT(*) FROM container_request WHERE attempts > 0',
                            cloud.DATABASE)[0][0]
    overfilled = [f'{host} runs {count} containers and has room for {slots}'
                  for host, count in placed.items() if count > slots]
    disagreeing = [_told(difference) for host in hosts
                   for difference in allocations.differences(books, host.name)]
    return {'creates': creates, 'room': nodes * slots, 'running': sum(placed.values()),
            'seconds': round(seconds, 1), 'refused_by_nodes': refused,
            'fullest': max(placed.values()), 'emptiest': min(placed.values()),
            'wrong': overfilled + disagreeing}


def _told(difference: allocations.Difference) -> str:
    """What is wrong with an allocation, and what its container says."""
    row = cloud.execute(
        'SELECT c.status, c.host, c.task_state, c.status_reason, r.generation, r.attempts, '
        'r.excluded_hosts, r.claimed FROM container c LEFT JOIN container_request r '
        'ON r.container_uuid = c.uuid WHERE c.uuid = :uuid', cloud.DATABASE,
        uuid=difference.consumer)
    return (f'{difference.kind}: {difference.consumer} on {difference.host}, '
            f'allocated {difference.held}, container {row[0] if row else "gone"}')


def _await_hosts(books: ledger.Ledger, hosts: list[cloud.Host]) -> None:
    """Until the ledger has room on every host."""
    end = time.monotonic() + _START_SECONDS
    wanted = {host.name for host in hosts}
    while True:
        names = books.providers()
        if wanted <= {names.get(found.provider) for found in books.candidates({ledger.VCPU: 1})}:
            return
        if time.monotonic() > end:
            raise SystemExit('simulate: the hosts do not report')
        time.sleep(0.5)
