# SPDX-License-Identifier: Apache-2.0
"""The node's own admission of containers: books read and written under a lock of the host.

Placement alone lets racing claims overfill a host. Of a host's containers all count but those in
Creating that it has not admitted yet. Each place is taken in one transaction that first takes the
host's named lock, so that two of them queue.
"""

import collections.abc
import dataclasses
import math
import typing as ty

import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.common import states
from zun.common import units
from zun.db import engine
from zun.db import locks
from zun.db import models
from zun.db import quotas
from zun.db import rows

_CONTAINER = models.container
_REQUEST = models.container_request
_OWN = (models.CONTAINER, models.CAPSULE)

Step = collections.abc.Callable[[orm.Session], None]


@dataclasses.dataclass(frozen=True)
class Amounts:
    """vCPU, MiB of memory, GiB of disk."""

    cpu: float = 0.0
    memory: float = 0
    disk: float = 0

    @classmethod
    def of(cls, container: ty.Any) -> 'Amounts':
        """What a row asks for."""
        return cls(container.cpu or 0.0, units.memory_mib(container.memory), container.disk or 0)


UNLIMITED = Amounts(math.inf, math.inf, math.inf)


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a host's containers hold, and their number."""

    containers: int
    amounts: Amounts


def lacking(room: Amounts, used: Amounts, wanted: Amounts) -> str | None:
    """What there is too little of, in words; None when it fits.

    Something that is not wanted is never lacking.

    >>> lacking(Amounts(4, 1024), Amounts(2, 1000), Amounts(1, 100))
    'memory: 24 of 1024 are free, 100 are wanted'
    """
    for field in dataclasses.fields(Amounts):
        most, held, more = (getattr(amounts, field.name) for amounts in (room, used, wanted))
        if more and quotas.exceeded(max(most, 0), held + more):
            free = max(round(most - held, 3), 0)
            return f'{field.name}: {free:g} of {most:g} are free, {more:g} are wanted'
    return None


@engine.retry
def admit(host: str, container_uuid: str, generation: int, wanted: Amounts, room: Amounts,
          further: collections.abc.Iterable[Step] = ()) -> None:
    """Take a place for a container, again when it has one.

    :param generation: of its request, which is marked as claimed
    :param further: take what else it needs, under the same lock; they may be called again
    :raises ResourcesUnavailable: it does not fit
    :raises Conflict: the request has moved on
    """
    with engine.writer() as session:
        locks.hold(session, host, locks.CLAIMS)
        _check(session, host, container_uuid, wanted, room)
        mine = {'container_uuid': container_uuid, 'generation': generation}
        if rows.update(session, _REQUEST, mine, {'claimed': True}) is None:
            raise exception.Conflict(f'The request of {container_uuid} has moved on.')
        for step in further:
            step(session)


@engine.retry
def check(host: str, container_uuid: str, wanted: Amounts, room: Amounts) -> None:
    """Whether new amounts of a container would fit.

    :raises ResourcesUnavailable: they would not
    """
    with engine.writer() as session:
        locks.hold(session, host, locks.CLAIMS)
        _check(session, host, container_uuid, wanted, room)


def store_disk(container_uuid: str, disk: int, session: orm.Session) -> None:
    """Note the GiB of disk that a container has; a step of :func:`admit`."""
    rows.update(session, _CONTAINER, {'uuid': container_uuid}, {'disk': disk})


@engine.retry
def forget_disk(container_uuid: str, host: str) -> None:
    """A container of this host has none any more."""
    with engine.writer() as session:
        rows.update(session, _CONTAINER, {'uuid': container_uuid, 'host': host}, {'disk': 0})


def usage(host: str) -> Usage:
    """What the containers and capsules of a host hold; one query."""
    with engine.reader() as session:
        return _used(session, host)


def _check(session: orm.Session, host: str, container_uuid: str, wanted: Amounts,
           room: Amounts) -> None:
    short = lacking(room, _used(session, host, besides=container_uuid).amounts, wanted)
    if short is not None:
        raise exception.ResourcesUnavailable(reason=short)


def _used(session: orm.Session, host: str, besides: str | None = None) -> Usage:
    memory = sa.type_coerce(quotas.memory_mib(_CONTAINER.c.memory), sa.Float)
    statement = sa.select(
        sa.func.count(_CONTAINER.c.id), sa.func.sum(sa.type_coerce(_CONTAINER.c.cpu, sa.Float)),
        sa.func.sum(memory), sa.func.sum(_CONTAINER.c.disk)).select_from(
        _CONTAINER.outerjoin(_REQUEST, _REQUEST.c.container_uuid == _CONTAINER.c.uuid)).where(
        _CONTAINER.c.host == host, _CONTAINER.c.container_type.in_(_OWN),
        sa.or_(_REQUEST.c.claimed.is_(True), _CONTAINER.c.status != states.CREATING))
    if besides is not None:
        statement = statement.where(_CONTAINER.c.uuid != besides)
    count, cpu, mem, disk = session.execute(statement).one()
    return Usage(count, Amounts(round(float(cpu or 0), 3), float(mem or 0), float(disk or 0)))
