# SPDX-License-Identifier: Apache-2.0
"""The ledger in Zun's own database, for installations without Placement.

The books are double entry: what a host offers is a negative holding of the host itself, so that
the entries of one host never sum up to more than zero. Claims queue behind the host's row.
"""

from collections.abc import Collection
import math

import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import local_allocations
from zun.db import models
from zun.db import rows
from zun.placement import ledger

_TABLE = models.local_allocation
_COLUMNS = {ledger.VCPU: 'vcpu', ledger.MEMORY_MB: 'memory_mb', ledger.DISK_GB: 'disk_gb'}
#: consumer_type of a host's own entry; a disabled host takes no new containers.
_HOST = 'HOST'
_DISABLED = 'HOST_DISABLED'
_HOSTS = (_HOST, _DISABLED)
_FULL = dict.fromkeys(local_allocations.AMOUNTS, 0)


class LocalLedger(ledger.Ledger):
    """Custom resource classes and traits other than the one of disabled hosts are not kept."""

    def prepare(self) -> None:
        """Nothing is needed but the database."""

    # Scheduler --------------------------------------------------------------------------------

    def candidates(self, resources: ledger.Resources, required: Collection[str] = (),
                   forbidden: Collection[str] = (), in_tree: str | None = None,
                   limit: int | None = None,
                   member_of: str | None = None) -> list[ledger.Candidate]:
        if required or not resources.keys() <= _COLUMNS.keys():
            return []
        statement = _hosts_with_room(resources, ledger.DISABLED_TRAIT in forbidden)
        if in_tree is not None:
            statement = statement.where(_TABLE.c.rp_uuid == in_tree)
        with engine.reader() as session:
            found = rows.every(session, statement if limit is None else statement.limit(limit))
        return [_candidate(row, resources) for row in found]

    def claim(self, consumer: ledger.Consumer, candidate: ledger.Candidate) -> bool:
        provider, resources = next(iter(candidate.allocations.items()))
        held = local_allocations.get(consumer.uuid)
        if held is not None and held['rp_uuid'] != provider:
            raise exception.ConsumerConflict(consumer=consumer.uuid)
        return _book(consumer, provider, resources)

    def resize(self, consumer: ledger.Consumer, resources: ledger.Resources) -> bool:
        held = local_allocations.get(consumer.uuid)
        if held is None:
            return True  # it was never claimed here: the node's own books decide
        return _book(consumer, held['rp_uuid'], resources)

    def release(self, consumer_uuid: str) -> None:
        local_allocations.release(consumer_uuid)

    def held(self, consumer_uuid: str) -> dict[str, ledger.Resources]:
        row = local_allocations.get(consumer_uuid)
        return {} if row is None else {row['rp_uuid']: _resources(row)}

    # Node -------------------------------------------------------------------------------------

    def ensure_provider(self, uuid: str, name: str) -> str:
        """The host's own entry keeps its name as the user's id: a former life is found by it."""
        with engine.reader() as session:
            former = rows.one(session, sa.select(_TABLE).where(
                _TABLE.c.consumer_type.in_(_HOSTS), _TABLE.c.user_id == name,
                _TABLE.c.rp_uuid != uuid))
        if former is not None:
            if self.allocations_on(former['rp_uuid']):
                return former['rp_uuid']
            local_allocations.release(former['consumer_uuid'])
        _set_host(uuid, {'user_id': name})
        return uuid

    def report(self, provider: str, inventories: dict[str, ledger.Inventory],
               traits: Collection[str] = ()) -> None:
        offered = dict.fromkeys(_COLUMNS.values(), 0)
        for name, item in inventories.items():
            offered[_COLUMNS[name]] = -math.floor(
                (item.total - item.reserved) * item.allocation_ratio)
        kind = _DISABLED if ledger.DISABLED_TRAIT in traits else _HOST
        have = local_allocations.get(provider)
        want = {**offered, 'consumer_type': kind}
        if have is None or any(have[name] != value for name, value in want.items()):
            _set_host(provider, want)

    def set_disabled(self, provider: str, disabled: bool) -> None:
        if local_allocations.get(provider) is not None:
            _set_host(provider, {'consumer_type': _DISABLED if disabled else _HOST})

    def allocations_on(self, provider: str) -> dict[str, ledger.Resources]:
        return {row['consumer_uuid']: _resources(row)
                for row in local_allocations.by_provider(provider)
                if row['consumer_type'] not in _HOSTS}

    def forget(self, provider: str) -> None:
        if self.allocations_on(provider):
            raise exception.Conflict(f'Provider {provider} still has allocations.')
        local_allocations.release(provider)


def _book(consumer: ledger.Consumer, provider: str, resources: ledger.Resources) -> bool:
    try:
        return local_allocations.claim(
            consumer.uuid, provider, {_COLUMNS[name]: amount for name, amount in resources.items()},
            _FULL, consumer.project_id, consumer.user_id, consumer.kind)
    except exception.ResourceProviderNotFound:  # the host went since it was a candidate
        return False


@engine.retry
def _set_host(provider: str, values: rows.Row) -> None:
    key = {'consumer_uuid': provider}
    with engine.writer() as session:
        if rows.update(session, _TABLE, key, values) is None:
            rows.insert(session, _TABLE, {'consumer_type': _HOST, 'rp_uuid': provider,
                                          **key, **values})


def _hosts_with_room(resources: ledger.Resources, enabled: bool) -> sa.Select[tuple[object, ...]]:
    own = _TABLE.alias('own')
    statement = sa.select(_TABLE.c.rp_uuid)
    for name, column in _COLUMNS.items():
        offered, booked = -own.c[column], sa.func.sum(_TABLE.c[column])
        statement = statement.add_columns(offered.label(f'{name}_capacity'),
                                          (booked + offered).label(f'{name}_used'))
        if name in resources:
            statement = statement.having(booked + resources[name] <= 0)
    kinds = (_HOST,) if enabled else _HOSTS
    return statement.join(own, own.c.consumer_uuid == _TABLE.c.rp_uuid).where(
        own.c.consumer_type.in_(kinds)).group_by(
        _TABLE.c.rp_uuid, *(own.c[column] for column in _COLUMNS.values()))


def _candidate(row: rows.Row, resources: ledger.Resources) -> ledger.Candidate:
    provider = row['rp_uuid']
    return ledger.Candidate(
        provider, {provider: dict(resources)},
        {name: int(row[f'{name}_capacity']) for name in _COLUMNS},
        {name: int(row[f'{name}_used']) for name in _COLUMNS})


def _resources(row: rows.Row) -> ledger.Resources:
    return {name: row[column] for name, column in _COLUMNS.items() if row[column]}
