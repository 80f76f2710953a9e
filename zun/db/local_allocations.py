# SPDX-License-Identifier: Apache-2.0
"""The books of the local ledger: who holds what on which host."""

import collections.abc

import sqlalchemy as sa

from zun.common import exception
from zun.db import columns
from zun.db import engine
from zun.db import models
from zun.db import rows

_TABLE = models.local_allocation
_NODE = models.compute_node
AMOUNTS = ('vcpu', 'memory_mb', 'disk_gb')


@engine.retry
def claim(consumer_uuid: str, rp_uuid: str, amounts: collections.abc.Mapping[str, int],
          capacity: collections.abc.Mapping[str, int], project_id: str | None = None,
          user_id: str | None = None, consumer_type: str | None = None) -> bool:
    """Take room on a host, in place of what the consumer had there or elsewhere.

    Claims on one host queue behind a write of its row.

    :param amounts: of vcpu, memory_mb, disk_gb; what is absent is 0
    :param capacity: the same, after reserve and ratio; what is absent has no limit
    :returns: False when there is no room; then nothing has changed
    :raises ResourceProviderNotFound: no host has this provider
    """
    with engine.writer() as session:
        locked = rows.update(
            session, _NODE, {'rp_uuid': rp_uuid}, {'updated_at': columns.utcnow()})
        if locked is None:
            raise exception.ResourceProviderNotFound(name_or_uuid=rp_uuid)
        held = session.execute(sa.select(
            *(sa.func.coalesce(sa.func.sum(_TABLE.c[name]), 0) for name in AMOUNTS)).where(
            _TABLE.c.rp_uuid == rp_uuid, _TABLE.c.consumer_uuid != consumer_uuid)).one()
        wanted = {name: amounts.get(name, 0) for name in AMOUNTS}
        for name, used in zip(AMOUNTS, held, strict=True):
            if wanted[name] and name in capacity and int(used) + wanted[name] > capacity[name]:
                return False
        values = {**wanted, 'rp_uuid': rp_uuid, 'project_id': project_id, 'user_id': user_id,
                  'consumer_type': consumer_type}
        if rows.update(session, _TABLE, {'consumer_uuid': consumer_uuid},
                       {**values, 'generation': _TABLE.c.generation + 1}) is None:
            rows.insert(session, _TABLE, {**values, 'consumer_uuid': consumer_uuid})
        return True


def release(consumer_uuid: str) -> bool:
    """Give all back; False when nothing was held."""
    return rows.remove(_TABLE, {'consumer_uuid': consumer_uuid})


def get(consumer_uuid: str) -> rows.Row | None:
    """What a consumer holds."""
    with engine.reader() as session:
        return rows.one(session, sa.select(_TABLE).where(_TABLE.c.consumer_uuid == consumer_uuid))


def by_provider(rp_uuid: str) -> list[rows.Row]:
    """What is held on one host."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_TABLE).where(
            _TABLE.c.rp_uuid == rp_uuid).order_by(_TABLE.c.consumer_uuid))
