# SPDX-License-Identifier: Apache-2.0
"""Named write locks: transactions about the same thing queue, on every database and on Galera.

The rows are those of ``quota_usages``, of which nothing else makes use.
"""

import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.db import models
from zun.db import rows

#: Usage of a project: whoever is about to add to it.
USAGE = 'version'
#: Names of containers.
NAMES = 'container_names'
#: Places on a host, whose name is the scope.
CLAIMS = 'host_claims'
#: Blocks of addresses of the embedded networks.
BLOCKS = 'embedded_networks'

_WRAP = 1_000_000_000


def hold(session: orm.Session, scope: str | None, name: str) -> None:
    """Hold a lock until the transaction ends.

    It has to come before the first read of the transaction: on MariaDB what is read later is then
    what the one before has committed. A row that is merely locked would not collide on Galera.

    :param scope: project id or name of a host; None or '': one lock for all
    """
    table = models.quota_usages
    changed = session.execute(sa.update(table).where(
        table.c.project_id == (scope or ''), table.c.resource == name).values(
        in_use=(table.c.in_use + 1) % _WRAP))
    if ty.cast('sa.CursorResult[ty.Any]', changed).rowcount:
        return
    try:
        rows.insert(session, table, {'project_id': scope or '', 'resource': name})
    except db_exc.DBDuplicateEntry as error:
        # Somebody else made the row just now: the transaction starts over and finds it.
        raise db_exc.RetryRequest(error) from error
