# SPDX-License-Identifier: Apache-2.0
"""CPUs that containers of a host have for themselves: what their rows say."""

import collections.abc

import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import states
from zun.db import engine
from zun.db import models
from zun.db import rows

_CONTAINER = models.container
_REQUEST = models.container_request

DEDICATED = 'dedicated'


def held(session: orm.Session, host: str, besides: str | None = None) -> set[int]:
    """The CPUs of a host that are taken, by number.

    :param besides: a container whose own do not count
    """
    statement = sa.select(_CONTAINER.c.cpuset).select_from(_CONTAINER.outerjoin(
        _REQUEST, _REQUEST.c.container_uuid == _CONTAINER.c.uuid)).where(
        _CONTAINER.c.host == host, _CONTAINER.c.cpu_policy == DEDICATED,
        sa.or_(_REQUEST.c.claimed.is_(True), _CONTAINER.c.status != states.CREATING))
    if besides is not None:
        statement = statement.where(_CONTAINER.c.uuid != besides)
    return {cpu for stored in session.scalars(statement)
            for cpu in (stored or {}).get('cpuset_cpus') or ()}


def on_host(host: str) -> set[int]:
    """As :func:`held`, in a transaction of its own."""
    with engine.reader() as session:
        return held(session, host)


def store(session: orm.Session, container_uuid: str, cpus: collections.abc.Collection[int],
          mems: collections.abc.Collection[int]) -> None:
    """Note what a container has."""
    rows.update(session, _CONTAINER, {'uuid': container_uuid}, {
        'cpuset': {'cpuset_cpus': sorted(cpus), 'cpuset_mems': sorted(mems)}})
