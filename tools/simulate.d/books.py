# SPDX-License-Identifier: Apache-2.0
"""The ledger's side of the cloud: providers by the ledger's own calls, allocations in bulk."""

import concurrent.futures

import cloud
import sqlalchemy as sa

from zun.db import models
from zun.placement import ledger
from zun.placement import local as local_ledger

RESOURCES = {ledger.VCPU: 1, ledger.MEMORY_MB: cloud.MEMORY}
_INVENTORY = {
    ledger.VCPU: ledger.Inventory(cloud.HOST_CPUS, 0, 16.0),
    ledger.MEMORY_MB: ledger.Inventory(cloud.HOST_MEMORY, 512, 1.5),
    ledger.DISK_GB: ledger.Inventory(cloud.HOST_DISK, 0, 1.0)}
_PLACEMENT = 'placement'
_CHUNK = 5000


def add(books: ledger.Ledger, added: list[cloud.Host]) -> None:
    """Register hosts, and allocate what their containers hold."""
    local = isinstance(books, local_ledger.LocalLedger)

    def register(host: cloud.Host) -> None:
        books.report(books.ensure_provider(host.uuid, host.name), _INVENTORY)

    numbers = [n for host in added
               for n in range(host.number * cloud.PER_HOST, (host.number + 1) * cloud.PER_HOST)]
    chunks = [numbers[start:start + _CHUNK] for start in range(0, len(numbers), _CHUNK)]
    if local:  # a host that registers counts what is held already
        for chunk in chunks:
            _fill_local(chunk)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(register, added))
    if not local:
        for chunk in chunks:
            _fill_placement(chunk)


def _provider(number: int) -> str:
    return cloud.Host(number // cloud.PER_HOST).uuid


def _fill_local(numbers: list[int]) -> None:
    engine = cloud.root(cloud.DATABASE)
    with engine.begin() as connection:
        connection.execute(sa.insert(models.local_allocation), [{
            'consumer_uuid': cloud.container_uuid(n), 'rp_uuid': _provider(n), 'vcpu': 1,
            'memory_mb': cloud.MEMORY, 'disk_gb': 0, 'consumer_type': 'CONTAINER',
            'project_id': f'project-{n % cloud.PROJECTS}',
            'user_id': f'user-{n % cloud.PROJECTS}'} for n in numbers])
    engine.dispose()


def _fill_placement(numbers: list[int]) -> None:
    """As a hundred thousand claims would have left it, without their hours."""
    engine = cloud.root(_PLACEMENT)
    with engine.begin() as connection:
        project, user, kind = (_named(connection, *what) for what in (
            ('projects', 'external_id', 'sim'), ('users', 'external_id', 'sim'),
            ('consumer_types', 'name', 'CONTAINER')))
        classes = {name: _named(connection, 'resource_classes', 'name', name)
                   for name in RESOURCES}
        providers = dict(connection.execute(sa.text(
            'SELECT uuid, id FROM resource_providers WHERE name LIKE :prefix'),
            {'prefix': f'{cloud.PREFIX}%'}).tuples().all())
        connection.execute(sa.text(
            'INSERT INTO consumers (uuid, project_id, user_id, generation, consumer_type_id, '
            'created_at, updated_at) VALUES (:uuid, :project, :user, 1, :kind, '
            'UTC_TIMESTAMP(), UTC_TIMESTAMP())'), [{
                'uuid': cloud.container_uuid(n), 'project': project, 'user': user, 'kind': kind}
                for n in numbers])
        connection.execute(sa.text(
            'INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used, '
            'created_at, updated_at) VALUES (:provider, :consumer, :class, :used, '
            'UTC_TIMESTAMP(), UTC_TIMESTAMP())'), [{
                'provider': providers[_provider(n)], 'consumer': cloud.container_uuid(n),
                'class': classes[name], 'used': amount}
                for n in numbers for name, amount in RESOURCES.items()])
        connection.execute(sa.text('ANALYZE TABLE consumers, allocations'))
    engine.dispose()


def _named(connection: sa.Connection, table: str, column: str, name: str) -> int:
    """The id of a row, made when it is missing."""
    query = sa.text(f'SELECT id FROM {table} WHERE {column} = :name')
    found = connection.execute(query, {'name': name}).scalar()
    if found is None:
        connection.execute(sa.text(f'INSERT INTO {table} ({column}) VALUES (:name)'),
                           {'name': name})
        found = connection.execute(query, {'name': name}).scalar_one()
    return found


def purge() -> None:
    """Remove what earlier simulations left in Placement, also those that were broken off."""
    ours = ('consumer_id IN (SELECT uuid FROM consumers WHERE project_id IN '
            "(SELECT id FROM projects WHERE external_id LIKE 'sim%'))",
            'resource_provider_id IN (SELECT id FROM resource_providers WHERE name LIKE '
            f"'{cloud.PREFIX}%')")
    for condition in ours:
        cloud.execute(f'DELETE FROM allocations WHERE {condition}', _PLACEMENT)
    cloud.execute('DELETE FROM consumers WHERE project_id IN '
                  "(SELECT id FROM projects WHERE external_id LIKE 'sim%')", _PLACEMENT)
    for table in ('inventories', 'resource_provider_traits', 'resource_provider_aggregates'):
        cloud.execute(f'DELETE FROM {table} WHERE {ours[1]}', _PLACEMENT)
    cloud.execute('UPDATE resource_providers SET root_provider_id = NULL WHERE name LIKE '
                  f"'{cloud.PREFIX}%'", _PLACEMENT)
    cloud.execute(f"DELETE FROM resource_providers WHERE name LIKE '{cloud.PREFIX}%'", _PLACEMENT)
