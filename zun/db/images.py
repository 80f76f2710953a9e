# SPDX-License-Identifier: Apache-2.0
"""Images that administrators pulled to hosts. One row is one image on one host, whoever asked."""

import sqlalchemy as sa

from zun.common import exception
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.image
_FILTERS = frozenset({'repo', 'project_id', 'user_id', 'size', 'host', 'tag', 'status'})


def _missing(uuid: str) -> Exception:
    return exception.ImageNotFound(image=uuid)


def _duplicate(values: rows.Row) -> Exception:
    return exception.ImageAlreadyExists(tag=values.get('tag'), repo=values.get('repo'))


def create(values: rows.Row) -> rows.Row:
    """Insert an image. :raises ImageAlreadyExists: repo, tag and host"""
    return rows.create(_TABLE, values, _duplicate(values))


def get(context: lists.Context, uuid: str) -> rows.Row:
    """One image. :raises ImageNotFound: none that the caller may see"""
    with engine.reader() as session:
        row = rows.one(session, lists.scoped(sa.select(_TABLE), context, _TABLE).where(
            _TABLE.c.uuid == uuid))
    if row is None:
        raise _missing(uuid)
    return row


def list_page(context: lists.Context, page: lists.Page,
              filters: lists.Filters | None = None) -> list[rows.Row]:
    """A page of the images that the caller may see.

    :raises ImageNotFound: the marker
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    with engine.reader() as session:
        base = lists.scoped(sa.select(_TABLE), context, _TABLE)
        return lists.page_of(session, base, _TABLE, page, filters, _FILTERS, _missing)


def update(uuid: str, values: rows.Row) -> rows.Row:
    """Change some columns. :raises ImageNotFound: it is gone"""
    return rows.change(_TABLE, {'uuid': uuid}, values, _missing(uuid), _duplicate(values))


def destroy(uuid: str) -> bool:
    """Delete an image; False when it was gone already."""
    return rows.remove(_TABLE, {'uuid': uuid})
