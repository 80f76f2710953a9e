# SPDX-License-Identifier: Apache-2.0
"""The ledger in Zun's own database, for installations without Placement."""

from collections.abc import Collection
import math

from zun.common import exception
from zun.db import local_allocations
from zun.db import models
from zun.db import rows
from zun.placement import ledger

_HOST = models.local_provider
_COLUMNS = {ledger.VCPU: 'vcpu', ledger.MEMORY_MB: 'memory_mb', ledger.DISK_GB: 'disk_gb'}


class LocalLedger(ledger.Ledger):
    """Custom resource classes and traits other than the one of disabled hosts are not kept."""

    draws = True

    def prepare(self) -> None:
        """Nothing is needed but the database."""

    # Scheduler --------------------------------------------------------------------------------

    def candidates(self, resources: ledger.Resources, required: Collection[str] = (),
                   forbidden: Collection[str] = (), in_tree: str | None = None,
                   limit: int | None = None,
                   member_of: str | None = None) -> list[ledger.Candidate]:
        if required or not resources.keys() <= _COLUMNS.keys():
            return []
        found = local_allocations.with_room(
            _amounts(resources), ledger.DISABLED_TRAIT in forbidden, in_tree, limit)
        return [_candidate(row, resources) for row in found]

    def claim(self, consumer: ledger.Consumer, candidate: ledger.Candidate) -> bool:
        provider, resources = next(iter(candidate.allocations.items()))
        return _book(consumer, provider, resources)

    def resize(self, consumer: ledger.Consumer, resources: ledger.Resources) -> bool:
        held = local_allocations.get(consumer.uuid)
        if held is None:
            return True  # it was never claimed here: the node's own books decide
        return _book(consumer, held['rp_uuid'], resources)

    def release(self, consumer_uuid: str, provider: str | None = None) -> None:
        local_allocations.release(consumer_uuid, provider)

    def leave(self, consumer_uuid: str, provider: str) -> None:
        local_allocations.release(consumer_uuid, provider)

    def held(self, consumer_uuid: str) -> dict[str, ledger.Resources]:
        row = local_allocations.get(consumer_uuid)
        return {} if row is None else {row['rp_uuid']: _resources(row)}

    # Node -------------------------------------------------------------------------------------

    def ensure_provider(self, uuid: str, name: str) -> str:
        former = local_allocations.providers(_HOST.c.name == name, _HOST.c.rp_uuid != uuid)
        for row in former:
            if self.allocations_on(row['rp_uuid']):
                return row['rp_uuid']
            local_allocations.forget(row['rp_uuid'])
        local_allocations.register(uuid, name)
        return uuid

    def report(self, provider: str, inventories: dict[str, ledger.Inventory],
               traits: Collection[str] = ()) -> None:
        want: rows.Row = dict.fromkeys(_COLUMNS.values(), 0)
        for name, item in inventories.items():
            want[_COLUMNS[name]] = math.floor(item.room)
        want['disabled'] = ledger.DISABLED_TRAIT in traits
        have = local_allocations.providers(_HOST.c.rp_uuid == provider)
        if have and all(have[0][name] == value for name, value in want.items()):
            return
        if not have or not local_allocations.offer(provider, want):
            raise exception.ResourceProviderNotFound(name_or_uuid=provider)

    def set_disabled(self, provider: str, disabled: bool) -> None:
        local_allocations.offer(provider, {'disabled': disabled})

    def allocations_on(self, provider: str) -> dict[str, ledger.Resources]:
        return {row['consumer_uuid']: _resources(row)
                for row in local_allocations.by_provider(provider)}

    def closed(self) -> set[str]:
        return {row['rp_uuid'] for row in local_allocations.providers(_HOST.c.disabled.is_(True))}

    def capacity(self, provider: str) -> ledger.Resources:
        return {name: row[column] for row in local_allocations.providers(
            _HOST.c.rp_uuid == provider) for name, column in _COLUMNS.items()}

    def providers(self) -> dict[str, str]:
        return {row['rp_uuid']: row['name'] for row in local_allocations.providers()}

    def forget(self, provider: str) -> None:
        if self.allocations_on(provider):
            raise exception.Conflict(f'Provider {provider} still has allocations.')
        local_allocations.forget(provider)


def _book(consumer: ledger.Consumer, provider: str, resources: ledger.Resources) -> bool:
    return local_allocations.claim(consumer.uuid, provider, _amounts(resources),
                                   consumer.project_id, consumer.user_id, consumer.kind)


def _amounts(resources: ledger.Resources) -> dict[str, int]:
    return {_COLUMNS[name]: amount for name, amount in resources.items()}


def _candidate(row: rows.Row, resources: ledger.Resources) -> ledger.Candidate:
    provider = row['rp_uuid']
    return ledger.Candidate(
        provider, {provider: dict(resources)},
        {name: row[column] for name, column in _COLUMNS.items()},
        {name: row[local_allocations.USED[column]] for name, column in _COLUMNS.items()})


def _resources(row: rows.Row) -> ledger.Resources:
    return {name: row[column] for name, column in _COLUMNS.items() if row[column]}
