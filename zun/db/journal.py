# SPDX-License-Identifier: Apache-2.0
"""Begin and end of an operation in the database: each is one transaction of few statements.

Row, event, action and the recorded operation change together, so that a crash finds an operation
either under way or over.
"""

import dataclasses
import typing as ty

import sqlalchemy as sa
from sqlalchemy import orm

from zun.db import columns
from zun.db import containers
from zun.db import engine
from zun.db import models
from zun.db import rows

_REQUEST = models.container_request
_ACTION = models.container_actions
_EVENT = models.container_actions_events
_LONGEST = 60000
SUPERSEDED = 'It was interrupted, and a later operation took its place.'
_NOTHING: dict[str, ty.Any] = {'operation': None, 'operation_args': {}, 'operation_id': None,
                               'operation_time': None}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How an operation ended.

    :ivar details: for users, in the event
    :ivar trace: for administrators
    """

    failed: bool = False
    details: str | None = None
    trace: str | None = None

    @property
    def result(self) -> str:
        """As events and actions show it."""
        return 'Error' if self.failed else 'Success'


@engine.retry
def begin(container_uuid: str, expected: rows.Expected, values: rows.Row,
          request_id: str | None, event: str | None) -> rows.Row:
    """Change columns of a container, and write an event of the action.

    :param event: None, or when the request has no action: none is written
    :returns: the columns that were set
    :raises Conflict: the row is not as expected
    :raises ContainerNotFound: it is gone
    """
    with engine.writer() as session:
        changed = containers.swap(session, container_uuid, expected, values)
        if event is not None:
            _insert_event(session, container_uuid, request_id, event)
    return changed


def _insert_event(session: orm.Session, container_uuid: str, request_id: str | None,
                  event: str) -> None:
    now = columns.utcnow()
    last = sa.select(sa.func.max(_ACTION.c.id)).where(*_actions(container_uuid, request_id))
    values = sa.select(sa.literal(event, sa.String), _ACTION.c.id,
                       sa.literal(now, sa.DateTime), sa.literal(now, sa.DateTime)).where(
        _ACTION.c.id == last.scalar_subquery())
    session.execute(sa.insert(_EVENT).from_select(
        ['event', 'action_id', 'start_time', 'created_at'], values, include_defaults=False))


def _actions(container_uuid: str, request_id: str | None) -> list[sa.ColumnElement[bool]]:
    return [_ACTION.c.container_uuid == container_uuid, _ACTION.c.request_id == request_id]


@engine.retry
def end(container_uuid: str, request_id: str | None, outcome: Outcome,
        values: rows.Row | None = None, expected: rows.Expected | None = None,
        again: bool = False) -> rows.Row:
    """Close what the request left open.

    :param values: columns of the container, which are changed first; None: it is not looked at
    :param again: the operation is taken up again: only its events are closed
    :returns: the columns that were set
    :raises Conflict: the row is not as expected; then nothing is written
    :raises ContainerNotFound: it is gone
    """
    changed: rows.Row = {}
    with engine.writer() as session:
        if values is not None:
            changed = containers.swap(session, container_uuid, expected, values)
        _close_events(session, container_uuid, request_id, outcome)
        if not again:
            _close(session, container_uuid, request_id, outcome)
    return changed


def _close_events(session: orm.Session, container_uuid: str, request_id: str | None,
                  outcome: Outcome) -> None:
    # A subquery would have MariaDB 10 read, and lock, every event there is.
    session.execute(sa.update(_EVENT).where(
        _EVENT.c.action_id == _ACTION.c.id, *_actions(container_uuid, request_id),
        _EVENT.c.finish_time.is_(None)).values(
        finish_time=columns.utcnow(), result=outcome.result,
        details=outcome.details and outcome.details[-_LONGEST:],
        traceback=outcome.trace and outcome.trace[-_LONGEST:]))


def _close(session: orm.Session, container_uuid: str, request_id: str | None,
           outcome: Outcome) -> None:
    session.execute(sa.update(_ACTION).where(
        *_actions(container_uuid, request_id), _ACTION.c.finish_time.is_(None)).values(
        finish_time=columns.utcnow(), message=outcome.result if outcome.failed else None))
    rows.update(session, _REQUEST, {'container_uuid': container_uuid, 'operation_id': request_id},
                _NOTHING)


def lost(container_uuid: str, request_id: str | None,
         names: ty.Collection[str]) -> dict[str | None, str]:
    """The open actions that another one has taken the place of: request id -> action.

    :param request_id: whose action is none of them; None: of nobody
    :param names: of the actions that may be among them
    """
    statement = sa.select(_ACTION.c.request_id, _ACTION.c.action).where(
        _ACTION.c.container_uuid == container_uuid, _ACTION.c.finish_time.is_(None),
        _ACTION.c.action.in_(list(names)), _ACTION.c.request_id.is_distinct_from(request_id))
    with engine.reader() as session:
        return {row.request_id: row.action for row in session.execute(statement)}


@engine.retry
def supersede(container_uuid: str, request_ids: ty.Collection[str | None]) -> None:
    """Close the actions of requests that were lost in a crash."""
    outcome = Outcome(True, SUPERSEDED)
    with engine.writer() as session:
        for own in request_ids:
            _insert_event(session, container_uuid, own, 'compute__superseded')
            _close_events(session, container_uuid, own, outcome)
            _close(session, container_uuid, own, outcome)


def seen_before(container_uuid: str, request_id: str | None) -> bool:
    """Whether the action of a request is over, or was never recorded."""
    statement = sa.select(_ACTION.c.id).where(
        *_actions(container_uuid, request_id), _ACTION.c.finish_time.is_(None)).limit(1)
    with engine.reader() as session:
        return session.execute(statement).first() is None
