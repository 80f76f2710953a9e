# SPDX-License-Identifier: Apache-2.0
"""The books of the local ledger: what hosts offer, and who holds it.

A host's row counts what is held of it. One conditional write of that row is check, lock and
booking at once, and changes it every time, so that two writers of a Galera cluster collide.
"""

import collections.abc
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import draws
from zun.db import engine
from zun.db import models
from zun.db import rows

_HELD = models.local_allocation
_HOST = models.local_provider
AMOUNTS = ('vcpu', 'memory_mb', 'disk_gb')
USED = {name: f'used_{name}' for name in AMOUNTS}
_OFFERED = ('rp_uuid', *AMOUNTS, *USED.values())

Amounts = collections.abc.Mapping[str, int]


@engine.retry
def claim(consumer_uuid: str, rp_uuid: str, amounts: Amounts, project_id: str | None = None,
          user_id: str | None = None, consumer_type: str | None = None) -> bool:
    """Take room on a host, in place of what the consumer has there.

    :param amounts: of vcpu, memory_mb, disk_gb; what is absent is 0
    :returns: False: there is no room, or no such host; then nothing has changed
    :raises ConsumerConflict: the consumer holds something of another host
    """
    wanted = {name: amounts.get(name, 0) for name in AMOUNTS}
    with engine.writer() as session:
        held = _held(session, consumer_uuid)
        if held is not None and held['rp_uuid'] != rp_uuid:
            raise exception.ConsumerConflict(consumer=consumer_uuid)
        more = {name: wanted[name] - (held[name] if held else 0) for name in AMOUNTS}
        if not _book(session, rp_uuid, more):
            return False
        values = {**wanted, 'project_id': project_id, 'user_id': user_id,
                  'consumer_type': consumer_type}
        if held is not None:
            _replace(session, held, values)
        else:
            _enter(session, {**values, 'consumer_uuid': consumer_uuid, 'rp_uuid': rp_uuid})
    return True


@engine.retry
def release(consumer_uuid: str, rp_uuid: str | None = None) -> bool:
    """Give all back; False when nothing was held.

    :param rp_uuid: what is held of another host than this one stays
    """
    with engine.writer() as session:
        held = _held(session, consumer_uuid)
        if held is None or rp_uuid not in (None, held['rp_uuid']):
            return False
        _book(session, held['rp_uuid'], {name: -held[name] for name in AMOUNTS})
        if not rows.delete(session, _HELD, _as_read(held)):
            raise _again(consumer_uuid)
    return True


def _held(session: orm.Session, consumer_uuid: str) -> rows.Row | None:
    return rows.one(session, sa.select(_HELD).where(_HELD.c.consumer_uuid == consumer_uuid))


def _book(session: orm.Session, rp_uuid: str, more: Amounts) -> bool:
    """Count more, or less, as held of a host; False when that is more than it has."""
    fits = [_HOST.c[USED[name]] + amount <= _HOST.c[name]
            for name, amount in more.items() if amount > 0]
    changed = session.execute(sa.update(_HOST).where(_HOST.c.rp_uuid == rp_uuid, *fits).values(
        {**{USED[name]: _HOST.c[USED[name]] + amount for name, amount in more.items() if amount},
         'generation': _HOST.c.generation + 1}))
    return bool(ty.cast('sa.CursorResult[ty.Any]', changed).rowcount)


def _as_read(held: rows.Row) -> rows.Row:
    """A row that was removed and entered again has its generation, but maybe other amounts."""
    return {name: held[name] for name in ('consumer_uuid', 'rp_uuid', 'generation', *AMOUNTS)}


def _replace(session: orm.Session, held: rows.Row, values: rows.Row) -> None:
    if rows.update(session, _HELD, _as_read(held),
                   {**values, 'generation': held['generation'] + 1}) is None:
        raise _again(held['consumer_uuid'])


def _enter(session: orm.Session, values: rows.Row) -> None:
    try:
        rows.insert(session, _HELD, values)
    except db_exc.DBDuplicateEntry as error:
        raise db_exc.RetryRequest(error) from error


def _again(consumer_uuid: str) -> Exception:
    """Somebody else changed what the consumer holds since it was read: start over."""
    return db_exc.RetryRequest(exception.ConsumerConflict(consumer=consumer_uuid))


def get(consumer_uuid: str) -> rows.Row | None:
    """What a consumer holds."""
    with engine.reader() as session:
        return _held(session, consumer_uuid)


def by_provider(rp_uuid: str) -> list[rows.Row]:
    """What is held of one host."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_HELD).where(
            _HELD.c.rp_uuid == rp_uuid).order_by(_HELD.c.consumer_uuid))


# Hosts ----------------------------------------------------------------------------------------


def providers(*conditions: sa.ColumnElement[bool]) -> list[rows.Row]:
    """All hosts, or those that meet conditions on :data:`models.local_provider`."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_HOST).where(*conditions))


def with_room(wanted: Amounts, enabled: bool, rp_uuid: str | None = None,
              limit: int | None = None) -> list[rows.Row]:
    """Provider, capacity and use of the hosts that have as much; with a limit a draw of them.

    :param enabled: leave disabled ones out
    """
    statement: ty.Any = sa.select(*(_HOST.c[name] for name in _OFFERED)).where(
        *(_HOST.c[USED[name]] + amount <= _HOST.c[name] for name, amount in wanted.items()))
    if enabled:
        statement = statement.where(_HOST.c.disabled.is_(False))
    if rp_uuid is not None:
        statement = statement.where(_HOST.c.rp_uuid == rp_uuid)
    elif limit is not None:
        statement = draws.some(statement, _HOST.c.rp_uuid, limit)
    with engine.reader() as session:
        return rows.every(session, statement)


@engine.retry
def register(rp_uuid: str, name: str) -> None:
    """Make a host known, which offers nothing yet; one that is known takes the name."""
    with engine.writer() as session:
        if rows.update(session, _HOST, {'rp_uuid': rp_uuid}, {'name': name}) is not None:
            return
        held = session.execute(sa.select(
            *(sa.func.coalesce(sa.func.sum(_HELD.c[item]), 0) for item in AMOUNTS)).where(
            _HELD.c.rp_uuid == rp_uuid)).one()
        try:
            rows.insert(session, _HOST, {
                'rp_uuid': rp_uuid, 'name': name,
                **{USED[item]: int(sum_) for item, sum_ in zip(AMOUNTS, held, strict=True)}})
        except db_exc.DBDuplicateEntry as error:
            raise db_exc.RetryRequest(error) from error


@engine.retry
def offer(rp_uuid: str, values: rows.Row) -> bool:
    """Set what a host has, and whether it is disabled; False when it is not known."""
    with engine.writer() as session:
        return rows.update(session, _HOST, {'rp_uuid': rp_uuid}, values) is not None


def forget(rp_uuid: str) -> None:
    """Remove a host."""
    rows.remove(_HOST, {'rp_uuid': rp_uuid})
