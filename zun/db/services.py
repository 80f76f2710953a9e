# SPDX-License-Identifier: Apache-2.0
"""Services and their heartbeats. Only the database's clock counts."""

import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa

from zun.common import exception
from zun.db import clock
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.zun_service
_FILTERS = frozenset({'disabled', 'host', 'binary'})
_AGE = clock.seconds_since(sa.func.coalesce(
    _TABLE.c.last_seen_up, _TABLE.c.updated_at, _TABLE.c.created_at)).label('seconds_since_seen')


def _rows() -> sa.Select[ty.Any]:
    return sa.select(_TABLE, _AGE)


def _missing(host: str | None, binary: str | None) -> Exception:
    return exception.ZunServiceNotFound(host=host, binary=binary)


@engine.retry
def create(values: rows.Row) -> rows.Row:
    """Insert a service, seen never yet.

    :raises ZunServiceAlreadyExists: host and binary
    """
    try:
        with engine.writer() as session:
            born = engine.now(session).replace(microsecond=0)
            row = rows.insert(session, _TABLE, {'created_at': born, **values})
            return {**row, 'seconds_since_seen': 0.0}
    except db_exc.DBDuplicateEntry:
        raise exception.ZunServiceAlreadyExists(
            host=values.get('host'), binary=values.get('binary')) from None


def get(host: str, binary: str) -> rows.Row:
    """One service, with ``seconds_since_seen``.

    :raises ZunServiceNotFound: there is none
    """
    with engine.reader() as session:
        row = rows.one(session, _rows().where(_TABLE.c.host == host, _TABLE.c.binary == binary))
    if row is None:
        raise _missing(host, binary)
    return row


def list_all(filters: lists.Filters | None = None) -> list[rows.Row]:
    """Services by id, with ``seconds_since_seen``.

    :raises InvalidParameterValue: a filter that does not exist
    """
    with engine.reader() as session:
        return rows.every(session, lists.filtered(
            _rows(), _TABLE, filters, _FILTERS).order_by(_TABLE.c.id))


def update(host: str, binary: str, values: rows.Row) -> rows.Row:
    """Change some columns. :raises ZunServiceNotFound: it is gone"""
    return rows.change(_TABLE, {'host': host, 'binary': binary}, values, _missing(host, binary))


@engine.retry
def heartbeat(host: str, binary: str) -> None:
    """The service lives: one statement, by the database's clock.

    :raises ZunServiceNotFound: the row was deleted
    """
    values = {'report_count': _TABLE.c.report_count + 1, 'last_seen_up': clock.utc_now()}
    with engine.writer() as session:
        if rows.update(session, _TABLE, {'host': host, 'binary': binary}, values) is None:
            raise _missing(host, binary)


def destroy(host: str, binary: str) -> bool:
    """Delete a service; False when it was gone already."""
    return rows.remove(_TABLE, {'host': host, 'binary': binary})
