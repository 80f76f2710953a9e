# SPDX-License-Identifier: Apache-2.0
"""Quotas, the nodes' own books and the ledger have to say what the rows say, after every test."""

import collections

import sqlalchemy as sa

from zun.common import states
from zun.common import units
from zun.control import allocations
from zun.db import claims
from zun.db import engine
from zun.db import local_allocations
from zun.db import models
from zun.db import quotas
from zun.db import rows

_OWN = (models.CONTAINER, models.CAPSULE)


def _memory(row):
    """MiB; what is no amount counts as nothing."""
    try:
        return units.memory_mib(row['memory'])
    except ValueError:
        return 0


def _sum(found):
    return (len(found), round(sum(row['cpu'] or 0 for row in found), 3),
            float(sum(_memory(row) for row in found)),
            float(sum(row['disk'] or 0 for row in found)))


def check(test, books):
    """Fail a test at whose end anything disagrees.

    :param books: the ledger
    """
    with engine.reader() as session:
        own = [row for row in rows.every(session, sa.select(
            models.container, models.container_request.c.claimed).outerjoin(
            models.container_request,
            models.container_request.c.container_uuid == models.container.c.uuid))
            if row['container_type'] in _OWN]
        hosts = set(session.execute(sa.select(models.compute_node.c.hostname)).scalars())
    by_project, by_host = collections.defaultdict(list), collections.defaultdict(list)
    for row in own:
        if row['status'] != states.DELETED:
            by_project[row['project_id']].append(row)
        if row['claimed'] or row['status'] != states.CREATING:
            by_host[row['host']].append(row)
    for project, found in by_project.items():
        used = quotas.usage(project)
        test.assertEqual(_sum(found), tuple(used[name] for name in (
            'containers', 'cpu', 'memory', 'disk')), project)
    for host in hosts:
        used = claims.usage(host)
        test.assertEqual(_sum(by_host[host]), (
            used.containers, used.amounts.cpu, used.amounts.memory, used.amounts.disk), host)
    test.assertEqual([], [found for found in allocations.differences(books) if found.consumer])
    _check_counted(test)


def _check_counted(test):
    """The local ledger's counters are the sums of its entries."""
    for host in local_allocations.providers():
        held = local_allocations.by_provider(host['rp_uuid'])
        for name, used in local_allocations.USED.items():
            test.assertEqual(sum(row[name] for row in held), host[used], host['name'])
