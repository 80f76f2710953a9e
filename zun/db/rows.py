# SPDX-License-Identifier: Apache-2.0
"""One row at a time: insert, conditional update, delete. Rows are plain dictionaries."""

import collections.abc
import json
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import columns
from zun.db import engine

Row = dict[str, ty.Any]
#: Column name -> the value it must have; a list, tuple or set: one of these; None: IS NULL.
Expected = collections.abc.Mapping[str, ty.Any]

_TEXT_BYTES = (1 << 16) - 1
_MEDIUM_TEXT_BYTES = (1 << 24) - 1


def matches(column: sa.ColumnElement[ty.Any], value: ty.Any) -> sa.ColumnElement[bool]:
    """The condition of a filter or of a compare-and-swap."""
    if isinstance(value, (list, tuple, set, frozenset)):
        known = [item for item in value if item is not None]
        condition: sa.ColumnElement[bool] = column.in_(known)
        return condition if len(known) == len(value) else sa.or_(condition, column.is_(None))
    return column.is_(None) if value is None else column == value


def _check_length(column: sa.Column[ty.Any], value: ty.Any) -> None:
    kind = column.type
    if isinstance(kind, columns.Json):
        size = len(json.dumps(value))
        limit = _MEDIUM_TEXT_BYTES if kind.medium else _TEXT_BYTES
    elif not isinstance(value, str) or not isinstance(kind, sa.String | columns.Remark):
        return
    elif kind.length:
        size, limit = len(value), kind.length
    else:
        size = len(value.encode())
        limit = _MEDIUM_TEXT_BYTES if kind is columns.MEDIUM_TEXT else _TEXT_BYTES
    if size > limit:
        raise exception.InvalidParameterValue(
            f'The value of {column.name} has a length of {size}; at most {limit} can be stored.')


def _checked(table: sa.Table, values: collections.abc.Mapping[str, ty.Any]) -> Row:
    """Values as they are stored, refused when a column cannot hold them on every database."""
    result = dict(values)
    for name, value in values.items():
        column = table.columns[name]
        _check_length(column, value)
        if isinstance(column.type, columns.Json) and column.type.kind is not None:
            kind = column.type.kind
            if value is None and not column.type.nullable:
                result[name] = kind()
            elif value is not None and not isinstance(value, kind):
                raise exception.InvalidParameterValue(
                    f'{name} is a {kind.__name__}, not a {type(value).__name__}.')
    return result


def insert(session: orm.Session, table: sa.Table,
           values: collections.abc.Mapping[str, ty.Any]) -> Row:
    """Insert a row.

    :returns: all its columns, defaults included
    :raises InvalidParameterValue: a column cannot hold its value
    """
    result = session.execute(sa.insert(table).values(_checked(table, values)))
    stored = ty.cast('sa.CursorResult[ty.Any]', result)
    row: Row = {column.name: None for column in table.columns}
    row.update(ty.cast(Row, stored.last_inserted_params()))
    keys = zip(table.primary_key.columns, stored.inserted_primary_key or (), strict=False)
    row.update({column.name: value for column, value in keys})
    return row


def update(session: orm.Session, table: sa.Table, expected: Expected,
           values: collections.abc.Mapping[str, ty.Any]) -> Row | None:
    """Update the rows that are as expected.

    :returns: the columns that were set, updated_at included; None when no row was as expected
    :raises InvalidParameterValue: a column cannot hold its value
    """
    conditions = [matches(table.columns[name], value) for name, value in expected.items()]
    # Setting nothing is still a write, which makes others wait.
    changes = _checked(table, values) or {'updated_at': columns.utcnow()}
    statement = sa.update(table).where(*conditions).values(changes)
    result = ty.cast('sa.CursorResult[ty.Any]', session.execute(statement))
    return dict(ty.cast(Row, result.last_updated_params())) if result.rowcount else None


def delete(session: orm.Session, table: sa.Table, expected: Expected) -> int:
    """Delete the rows that are as expected; their number."""
    conditions = [matches(table.columns[name], value) for name, value in expected.items()]
    result = session.execute(sa.delete(table).where(*conditions))
    return ty.cast('sa.CursorResult[ty.Any]', result).rowcount


def one(session: orm.Session, statement: sa.Select[ty.Any]) -> Row | None:
    """The first row of a query."""
    row = session.execute(statement).mappings().first()
    return None if row is None else dict(row)


def every(session: orm.Session, statement: sa.Select[ty.Any]) -> list[Row]:
    """All rows of a query."""
    return [dict(row) for row in session.execute(statement).mappings()]


@engine.retry
def create(table: sa.Table, values: collections.abc.Mapping[str, ty.Any],
           duplicate: Exception) -> Row:
    """Insert a row in a transaction of its own.

    :param duplicate: raised when a unique key is taken
    """
    try:
        with engine.writer() as session:
            return insert(session, table, values)
    except db_exc.DBDuplicateEntry:
        raise duplicate from None


@engine.retry
def change(table: sa.Table, key: Expected, values: collections.abc.Mapping[str, ty.Any],
           missing: Exception, duplicate: Exception | None = None) -> Row:
    """Update a row in a transaction of its own; the columns that were set.

    :param missing: raised when there is no row of this key
    :param duplicate: raised when the new value of a unique key is taken
    """
    try:
        with engine.writer() as session:
            changed = update(session, table, key, values)
    except db_exc.DBDuplicateEntry:
        raise duplicate or missing from None
    if changed is None:
        raise missing
    return changed


@engine.retry
def remove(table: sa.Table, key: Expected) -> bool:
    """Delete rows in a transaction of its own; False when there were none."""
    with engine.writer() as session:
        return delete(session, table, key) > 0
