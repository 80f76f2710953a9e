# SPDX-License-Identifier: Apache-2.0
"""Lists: what a project may see, filters, and key-set pages in one query."""

import collections.abc
import typing as ty

import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import context as zun_context
from zun.common import exception
from zun.db import columns
from zun.db import rows

Context = zun_context.RequestContext
Filters = collections.abc.Mapping[str, ty.Any]
_S = ty.TypeVar('_S', bound=ty.Any)


class Page(ty.NamedTuple):
    """Which part of a list is wanted.

    :ivar limit: rows at most, None: all
    :ivar marker: uuid of the row after which the page starts, or an object that has one
    :ivar sort_key: column to sort by; the key of the table decides among equal ones
    :ivar sort_dir: asc or desc, for both
    """

    limit: int | None = None
    marker: ty.Any = None
    sort_key: str | None = None
    sort_dir: str | None = None


def scoped(statement: _S, context: Context, table: sa.Table) -> _S:
    """Only the rows of the caller's project, or of the caller when there is no project.

    Administrators who ask for all projects see every row.
    """
    if context.is_admin and context.all_projects:
        return statement
    if context.project_id:
        return statement.where(table.c.project_id == context.project_id)
    return statement.where(table.c.user_id == context.user_id)


def _key(table: sa.Table) -> sa.Column[ty.Any]:
    return next(iter(table.primary_key.columns))


def filtered(statement: _S, table: sa.Table, filters: Filters | None,
             allowed: collections.abc.Collection[str]) -> _S:
    """Only the rows with these values; a list means any of them, None means NULL.

    :raises InvalidParameterValue: a filter that the list does not know
    """
    for name, value in (filters or {}).items():
        if name not in allowed:
            raise exception.InvalidParameterValue(f'The list cannot be filtered by "{name}".')
        statement = statement.where(rows.matches(table.c[name], value))
    return statement


def _after(session: orm.Session, base: sa.Select[ty.Any], table: sa.Table,
           sort: sa.Column[ty.Any], ascending: bool, marker: str,
           missing: collections.abc.Callable[[str], Exception]) -> sa.ColumnElement[bool]:
    """The condition "comes after the marker" where NULL is the smallest value."""
    key = _key(table)
    raw = sa.type_coerce(sort, sa.Text()) if isinstance(sort.type, columns.Json) else sort
    found = session.execute(base.with_only_columns(key.label('key'), raw.label('value')).where(
        table.c.uuid == marker).limit(1)).first()
    if found is None:
        raise missing(marker)
    beyond = key > found.key if ascending else key < found.key
    if sort is key:
        return beyond
    if found.value is None:
        tie = sa.and_(sort.is_(None), beyond)
        return sa.or_(sort.is_not(None), tie) if ascending else tie
    value: ty.Any = sa.literal(found.value, raw.type)
    if isinstance(sort.type, (sa.Float, columns.RoundedFloat)):
        # A 32-bit FLOAT equals no literal: compare with the stored value.
        twin = table.alias()
        value = sa.select(twin.c[sort.name]).where(
            twin.c[key.name] == found.key).scalar_subquery()
    tie = sa.and_(raw == value, beyond)
    if ascending:
        return sa.or_(raw > value, tie)
    return sa.or_(raw < value, tie, sort.is_(None))


def page_of(session: orm.Session, base: sa.Select[ty.Any], table: sa.Table, page: Page,
            filters: Filters | None, allowed: collections.abc.Collection[str],
            missing: collections.abc.Callable[[str], Exception]) -> list[rows.Row]:
    """A page of a list: one query, and one more for the marker.

    NULL sorts as the smallest value, on every database.

    :param base: all rows the caller may see
    :param missing: uuid -> what to raise when the marker is no such row
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    key = _key(table)
    sort = key if page.sort_key is None else table.c.get(page.sort_key)
    if sort is None:
        raise exception.InvalidParameterValue(
            f'The sort_key value "{page.sort_key}" is an invalid field for sorting')
    ascending = (page.sort_dir or 'asc') == 'asc'
    statement = filtered(base, table, filters, allowed)
    if page.marker is not None:
        marker = getattr(page.marker, 'uuid', page.marker)
        statement = statement.where(
            _after(session, base, table, sort, ascending, marker, missing))
    order = sort.asc() if ascending else sort.desc()
    if sort.nullable and session.get_bind().dialect.name == 'postgresql':
        order = order.nulls_first() if ascending else order.nulls_last()
    statement = statement.order_by(order)
    if sort is not key:
        statement = statement.order_by(key.asc() if ascending else key.desc())
    return rows.every(session, statement if page.limit is None else statement.limit(page.limit))
