# SPDX-License-Identifier: Apache-2.0
"""PCI devices of hosts, one row per address."""

import collections.abc
import typing as ty

from oslo_db import exception as db_exc
from oslo_utils import uuidutils
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import engine
from zun.db import models
from zun.db import rows

_TABLE = models.pci_device


def get(conditions: rows.Expected, missing: Exception) -> rows.Row:
    """The device that is as described, else what the caller wants raised."""
    found = list_by(conditions)
    if not found:
        raise missing
    return found[0]


def list_by(conditions: rows.Expected) -> list[rows.Row]:
    """Devices with these values, by id."""
    matching = [rows.matches(_TABLE.c[name], value) for name, value in conditions.items()]
    with engine.reader() as session:
        return rows.every(session, sa.select(_TABLE).where(*matching).order_by(_TABLE.c.id))


@engine.retry
def put(compute_node_uuid: str, address: str, values: rows.Row) -> rows.Row:
    """Insert or update the device at an address of a host."""
    key = {'compute_node_uuid': compute_node_uuid, 'address': address}
    try:
        with engine.writer() as session:
            if rows.update(session, _TABLE, key, values) is None:
                return rows.insert(session, _TABLE, {**values, **key})
            return ty.cast(rows.Row, rows.one(session, sa.select(_TABLE).where(
                *(rows.matches(_TABLE.c[name], value) for name, value in key.items()))))
    except db_exc.DBDuplicateEntry as error:
        raise db_exc.RetryRequest(error) from error
    except db_exc.DBReferenceError:
        raise exception.ComputeNodeNotFound(compute_node=compute_node_uuid) from None


def destroy(compute_node_uuid: str, address: str) -> bool:
    """Forget a device that left its host; False when it was gone already."""
    return rows.remove(_TABLE, {'compute_node_uuid': compute_node_uuid, 'address': address})


def on_node(session: orm.Session, compute_node_uuid: str) -> list[rows.Row]:
    """The devices of a host by address, in somebody's transaction."""
    return rows.every(session, sa.select(_TABLE).where(
        _TABLE.c.compute_node_uuid == compute_node_uuid).order_by(_TABLE.c.address))


def holders(session: orm.Session, host: str) -> dict[str, str | None]:
    """The containers on a host, which may hold devices: uuid -> status."""
    container = models.container
    found = session.execute(
        sa.select(container.c.uuid, container.c.status).where(container.c.host == host))
    return dict(found.tuples().all())


def write_changes(session: orm.Session, before: collections.abc.Sequence[rows.Row],
                  now: collections.abc.Sequence[rows.Row]) -> None:
    """Write the columns of rows that have changed since they were read."""
    was = {row['id']: row for row in before}
    for row in now:
        changed = {name: value for name, value in row.items() if was[row['id']][name] != value}
        if changed:
            rows.update(session, _TABLE, {'id': row['id']}, changed)


def add(session: orm.Session, compute_node_uuid: str, address: str, values: rows.Row) -> None:
    """Insert a device that was found."""
    rows.insert(session, _TABLE, {
        'uuid': uuidutils.generate_uuid(), **values, 'compute_node_uuid': compute_node_uuid,
        'address': address})


def forget(session: orm.Session, ids: collections.abc.Collection[int]) -> None:
    """Remove devices that have left their host."""
    session.execute(sa.delete(_TABLE).where(_TABLE.c.id.in_(ids)))
