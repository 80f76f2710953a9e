# SPDX-License-Identifier: Apache-2.0
"""Commands that run in containers, for the console."""

import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.exec_instance
_FILTERS = frozenset({'container_id', 'exec_id', 'token'})


def create(values: rows.Row) -> rows.Row:
    """Insert an exec instance. :raises ExecInstanceAlreadyExists: container and exec id"""
    return rows.create(_TABLE, values, exception.ExecInstanceAlreadyExists(
        field='exec_id', value=values.get('exec_id')))


def list_all(filters: lists.Filters | None = None) -> list[rows.Row]:
    """Exec instances by id."""
    with engine.reader() as session:
        return rows.every(session, lists.filtered(
            sa.select(_TABLE), _TABLE, filters, _FILTERS).order_by(_TABLE.c.id))


def destroy(container_id: int, exec_id: str) -> bool:
    """Delete an exec instance; False when it was gone already."""
    return rows.remove(_TABLE, {'container_id': container_id, 'exec_id': exec_id})
