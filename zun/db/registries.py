# SPDX-License-Identifier: Apache-2.0
"""Image registries of projects. Passwords are stored as Fernet tokens; nothing here opens them."""

import collections.abc
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.registry
_FILTERS = frozenset({'name', 'domain', 'username', 'project_id', 'user_id'})


def _missing(ident: ty.Any) -> Exception:
    return exception.RegistryNotFound(registry=ident)


def create(values: rows.Row) -> rows.Row:
    """Insert a registry. :raises RegistryAlreadyExists: its uuid"""
    return rows.create(_TABLE, values, exception.RegistryAlreadyExists(
        field='UUID', value=values.get('uuid')))


def get(context: lists.Context, column: str, ident: ty.Any) -> rows.Row:
    """One registry by id, uuid or exact name.

    :raises RegistryNotFound: none that the caller may see
    :raises Conflict: several of one name
    """
    with engine.reader() as session:
        found = rows.every(session, lists.scoped(sa.select(_TABLE), context, _TABLE).where(
            _TABLE.c[column] == ident).limit(2))
    if not found:
        raise _missing(ident)
    if len(found) > 1:
        raise exception.Conflict('Multiple registries exist with same name. '
                                 'Please use the registry uuid instead.')
    return found[0]


def uuids(idents: collections.abc.Collection[int]) -> dict[int, str]:
    """id -> uuid of some registries, in one query."""
    if not idents:
        return {}
    with engine.reader() as session:
        found = session.execute(
            sa.select(_TABLE.c.id, _TABLE.c.uuid).where(_TABLE.c.id.in_(idents))).all()
    return {row.id: row.uuid for row in found}


def list_page(context: lists.Context, page: lists.Page,
              filters: lists.Filters | None = None) -> list[rows.Row]:
    """A page of the registries that the caller may see.

    :raises RegistryNotFound: the marker
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    with engine.reader() as session:
        base = lists.scoped(sa.select(_TABLE), context, _TABLE)
        return lists.page_of(session, base, _TABLE, page, filters, _FILTERS, _missing)


def update(uuid: str, values: rows.Row) -> rows.Row:
    """Change some columns. :raises RegistryNotFound: it is gone"""
    return rows.change(_TABLE, {'uuid': uuid}, values, _missing(uuid))


def swap_password(uuid: str, old: str, new: str) -> bool:
    """Replace a token that is still the stored one."""
    changed = exception.Conflict()
    try:
        rows.change(_TABLE, {'uuid': uuid, 'password': old}, {'password': new}, changed)
    except exception.Conflict:
        return False
    return True


def destroy(uuid: str) -> bool:
    """Delete a registry; False when it was gone already.

    :raises Conflict: a container uses it
    """
    try:
        return rows.remove(_TABLE, {'uuid': uuid})
    except db_exc.DBReferenceError:
        raise exception.Conflict(f'Registry {uuid} is used by a container.') from None
