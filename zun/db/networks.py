# SPDX-License-Identifier: Apache-2.0
"""Engine networks: which host has which network under which id."""

import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.network
_FILTERS = frozenset({'name', 'neutron_net_id', 'network_id', 'project_id', 'user_id', 'host'})


def _missing(uuid: str) -> Exception:
    return exception.NetworkNotFound(network=uuid)


def _duplicate(values: rows.Row) -> Exception:
    return exception.NetworkAlreadyExists(
        field='neutron_net_id', value=values.get('neutron_net_id'))


def create(values: rows.Row) -> rows.Row:
    """Insert a network. :raises NetworkAlreadyExists: neutron_net_id on this host, or uuid"""
    return rows.create(_TABLE, values, _duplicate(values))


def get(context: lists.Context, uuid: str) -> rows.Row:
    """One network. :raises NetworkNotFound: none that the caller may see"""
    with engine.reader() as session:
        row = rows.one(session, lists.scoped(sa.select(_TABLE), context, _TABLE).where(
            _TABLE.c.uuid == uuid))
    if row is None:
        raise _missing(uuid)
    return row


def list_page(context: lists.Context, page: lists.Page,
              filters: lists.Filters | None = None) -> list[rows.Row]:
    """A page of the networks that the caller may see.

    :raises NetworkNotFound: the marker
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    with engine.reader() as session:
        base = lists.scoped(sa.select(_TABLE), context, _TABLE)
        return lists.page_of(session, base, _TABLE, page, filters, _FILTERS, _missing)


def update(uuid: str, values: rows.Row) -> rows.Row:
    """Change some columns. :raises NetworkNotFound: it is gone"""
    return rows.change(_TABLE, {'uuid': uuid}, values, _missing(uuid), _duplicate(values))


def destroy(uuid: str) -> bool:
    """Delete a network; False when it was gone already."""
    return rows.remove(_TABLE, {'uuid': uuid})
