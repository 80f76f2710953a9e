# SPDX-License-Identifier: Apache-2.0
"""Hosts and what they have."""

import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.compute_node
_FILTERS = frozenset({'hostname', 'rp_uuid'})


def _missing(ident: str) -> Exception:
    return exception.ComputeNodeNotFound(compute_node=ident)


def _duplicate(values: rows.Row) -> Exception:
    return exception.ComputeNodeAlreadyExists(field='hostname', value=values.get('hostname'))


def create(values: rows.Row) -> rows.Row:
    """Insert a host. :raises ComputeNodeAlreadyExists: hostname, uuid or rp_uuid"""
    return rows.create(_TABLE, values, _duplicate(values))


def get(column: str, ident: str) -> rows.Row:
    """One host by uuid or hostname. :raises ComputeNodeNotFound: there is none"""
    with engine.reader() as session:
        row = rows.one(session, sa.select(_TABLE).where(_TABLE.c[column] == ident))
    if row is None:
        raise _missing(ident)
    return row


def list_page(page: lists.Page, filters: lists.Filters | None = None) -> list[rows.Row]:
    """A page of the hosts.

    :raises ComputeNodeNotFound: the marker
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    with engine.reader() as session:
        return lists.page_of(session, sa.select(_TABLE), _TABLE, page, filters, _FILTERS, _missing)


def update(uuid: str, values: rows.Row) -> rows.Row:
    """Change some columns. :raises ComputeNodeNotFound: it is gone"""
    return rows.change(_TABLE, {'uuid': uuid}, values, _missing(uuid), _duplicate(values))


@engine.retry
def destroy(uuid: str) -> bool:
    """Delete a host and its PCI devices; False when it was gone already."""
    with engine.writer() as session:
        rows.delete(session, models.pci_device, {'compute_node_uuid': uuid})
        return rows.delete(session, _TABLE, {'uuid': uuid}) > 0
