# SPDX-License-Identifier: Apache-2.0
"""Limits, what a project uses, and the reservation that holds both together."""

import collections.abc
import math
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.common import states
import zun.conf
from zun.db import engine
from zun.db import locks
from zun.db import models
from zun.db import rows

CONF = zun.conf.CONF
RESOURCES = ('containers', 'cpu', 'memory', 'disk')
DEFAULT_CLASS = 'default'

Usage = dict[str, float]
#: All limits of a project by those that are stored for it.
Complete = collections.abc.Callable[[dict[str, int]], collections.abc.Mapping[str, float]]

_STORED = ('rank', 'id', 'resource', 'hard_limit')


def memory_mib(column: sa.ColumnElement[ty.Any]) -> sa.ColumnElement[ty.Any]:
    """MiB of a memory column in SQL: old rows hold decimals and the suffixes b, k, m and g."""
    text = sa.func.lower(column)
    digits = text
    for suffix in 'bkmg':
        digits = sa.func.replace(digits, suffix, '')
    factor = sa.case((text.like('%g'), 1024.0), (text.like('%m'), 1.0),
                     (text.like('%k'), 1.0 / 1024), (text.like('%b'), 1.0 / (1 << 20)), else_=1.0)
    return sa.cast(sa.func.nullif(digits, ''), sa.Numeric(20, 3)) * factor


def _usage(project_id: str | None) -> ty.Any:
    """A statement with one row, whose columns are :data:`RESOURCES`."""
    table = models.container
    types = [models.CONTAINER, *([models.CAPSULE] if CONF.quota.count_capsules else [])]
    return sa.select(
        sa.func.count(table.c.id).label('containers'),
        sa.func.sum(sa.type_coerce(table.c.cpu, sa.Float)).label('cpu'),
        sa.func.sum(sa.type_coerce(memory_mib(table.c.memory), sa.Float)).label('memory'),
        sa.func.sum(table.c.disk).label('disk')).where(
        table.c.project_id == project_id, table.c.container_type.in_(types),
        sa.or_(table.c.status.is_(None), table.c.status != states.DELETED))


def _used(row: ty.Any) -> Usage:
    return {'containers': row.containers, 'cpu': round(float(row.cpu or 0), 3),
            'memory': round(float(row.memory or 0), 3), 'disk': float(row.disk or 0)}


def _limits(project_id: str | None, class_name: str) -> list[sa.Select[ty.Any]]:
    """The rows of the class and of the project; of several the last one counts."""
    return [sa.select(sa.literal(rank).label('rank'), table.c.id, table.c.resource,
                      table.c.hard_limit).where(condition)
            for rank, (table, condition) in enumerate((
                (models.quota_classes, models.quota_classes.c.class_name == class_name),
                (models.quotas, models.quotas.c.project_id == project_id)))]


def _stored(found: collections.abc.Iterable[ty.Any]) -> dict[str, int]:
    return {row.resource: row.hard_limit
            for row in sorted(found, key=lambda row: (row.rank, row.id))
            if row.hard_limit is not None}


def usage(project_id: str | None) -> Usage:
    """What a project uses: containers as a count; cpu, memory (MiB) and disk (GiB) as floats.

    Capsules count as one container each, with the amounts of their own row, unless
    ``[quota]/count_capsules`` is off; members do not count again. Rows in status Deleted do not
    count.
    """
    with engine.reader() as session:
        return _used(session.execute(_usage(project_id)).one())


def exceeded(limit: float, wanted: float) -> bool:
    """Whether a limit is passed; -1 is no limit, a relative difference of 1e-6 is none.

    >>> exceeded(1.0, 1.0000001), exceeded(1, 2), exceeded(-1, 2)
    (False, True, False)
    """
    return 0 <= limit < wanted and not math.isclose(limit, wanted, rel_tol=1e-6)


def check(used: Usage, deltas: collections.abc.Mapping[str, float],
          limits: collections.abc.Mapping[str, float]) -> None:
    """Refuse what would pass a limit; what gives resources back is never over.

    :raises OverQuota: with the names of the resources, sorted
    """
    overs = sorted(name for name, delta in deltas.items()
                   if delta >= 0 and exceeded(limits.get(name, -1), used[name] + delta))
    if overs:
        raise exception.OverQuota(overs=overs)


def reserve(session: orm.Session, project_id: str | None,
            deltas: collections.abc.Mapping[str, float], complete: Complete) -> None:
    """Hold the project's usage still until the transaction ends, and check it.

    Two statements: the write of the project's version, and one read of usage and limits. It has to
    come first in the transaction.

    :param deltas: resource -> what the transaction is about to add
    :param complete: gives the hard limits, -1 or absent: none
    :raises OverQuota: with the names of the resources, sorted
    """
    locks.hold(session, project_id, locks.USAGE)
    counted = _usage(project_id)
    amounts = counted.selected_columns
    found: ty.Any = session.execute(sa.union_all(
        counted.with_only_columns(*(sa.null().label(name) for name in _STORED), *amounts),
        *(part.add_columns(*(sa.null().label(name) for name in RESOURCES))
          for part in _limits(project_id, DEFAULT_CLASS)))).all()
    used, = (row for row in found if row.rank is None)
    check(_used(used), deltas, complete(_stored(row for row in found if row.rank is not None)))


def limits(project_id: str | None, class_name: str = DEFAULT_CLASS) -> dict[str, int]:
    """Stored limits of a project: its own rows over those of the class; one statement."""
    with engine.reader() as session:
        return _stored(session.execute(sa.union_all(*_limits(project_id, class_name))).all())


def get(table: sa.Table, owner: dict[str, ty.Any], resource: str) -> rows.Row | None:
    """One limit of a project or class; of duplicates the newest."""
    with engine.reader() as session:
        conditions = [rows.matches(table.c[name], value) for name, value in owner.items()]
        return rows.one(session, sa.select(table).where(
            *conditions, table.c.resource == resource).order_by(table.c.id.desc()))


def get_all(table: sa.Table, owner: dict[str, ty.Any]) -> list[rows.Row]:
    """All limits of a project or class, the newest of each resource last."""
    with engine.reader() as session:
        conditions = [rows.matches(table.c[name], value) for name, value in owner.items()]
        return rows.every(session, sa.select(table).where(*conditions).order_by(table.c.id))


@engine.retry
def put(table: sa.Table, owner: dict[str, ty.Any], resource: str, limit: int) -> rows.Row:
    """Set one limit of a project or class, whether it existed or not."""
    key = {**owner, 'resource': resource}
    try:
        with engine.writer() as session:
            if rows.update(session, table, key, {'hard_limit': limit}) is None:
                return rows.insert(session, table, {**key, 'hard_limit': limit})
    except db_exc.DBDuplicateEntry as error:
        raise db_exc.RetryRequest(error) from error
    return ty.cast(rows.Row, get(table, owner, resource))


@engine.retry
def remove_all(project_id: str) -> int:
    """Forget the limits of a project; how many there were."""
    with engine.writer() as session:
        return rows.delete(session, models.quotas, {'project_id': project_id})
