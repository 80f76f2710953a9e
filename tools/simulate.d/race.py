# SPDX-License-Identifier: Apache-2.0
"""More creates at once than a cloud can take: is any host overfilled, is anything left over?

Placement lets racing claims pass that do not fit; the agents refuse them.
"""

import concurrent.futures
import time
import typing as ty

import cloud
import drive
import point

from zun.control import allocations
from zun.placement import ledger

_USERS = 32
_START_SECONDS = 120


def run(name: str, books: ledger.Ledger, creates: int, nodes: int, slots: int,
        schedulers: int) -> dict[str, ty.Any]:
    """Create all at once on nodes with so many CPUs each, one for each container.

    :returns: what became of them; ``wrong`` is what must not be
    """
    with point.Processes(name, nodes, schedulers, slots, ratio=1.0):
        _await_hosts(books, nodes)
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(_USERS) as pool:
            made = list(pool.map(lambda number: drive.create(number, cpu=1.0), range(creates)))
        drive.ended(made)
        seconds = time.monotonic() - begun
    placed = dict(cloud.execute("SELECT host, COUNT(*) FROM container WHERE status = 'Running' "
                                'GROUP BY host', cloud.DATABASE))
    refused = cloud.execute('SELECT COUNT(*) FROM container_request WHERE attempts > 0',
                            cloud.DATABASE)[0][0]
    overfilled = {host: count for host, count in placed.items() if count > slots}
    disagreeing = allocations.differences(books)
    return {'creates': creates, 'room': nodes * slots, 'running': sum(placed.values()),
            'seconds': round(seconds, 1), 'refused_by_nodes': refused,
            'fullest': max(placed.values()), 'emptiest': min(placed.values()),
            'wrong': [*map(str, overfilled.items()), *map(str, disagreeing)]}


def _await_hosts(books: ledger.Ledger, nodes: int) -> None:
    """Until the ledger has room on every host."""
    end = time.monotonic() + _START_SECONDS
    while len(books.candidates({ledger.VCPU: 1})) < nodes:
        if time.monotonic() > end:
            raise SystemExit('simulate: the hosts do not report')
        time.sleep(0.5)
