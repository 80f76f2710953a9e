# SPDX-License-Identifier: Apache-2.0
"""What was asked for a container, and the operation that was accepted last."""

import collections.abc
import datetime
import types
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.common import states
from zun.db import actions
from zun.db import clock
from zun.db import containers
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_TABLE = models.container_request
_CONTAINER = models.container

Unset = types.EllipsisType


def _insert(session: orm.Session, container_uuid: str, values: rows.Row) -> rows.Row:
    try:
        return rows.insert(session, _TABLE, {**values, 'container_uuid': container_uuid})
    except db_exc.DBReferenceError:
        raise exception.ContainerNotFound(container=container_uuid) from None


@engine.retry
def create(container_uuid: str, values: rows.Row) -> rows.Row:
    """Insert the request of a container that has none.

    :raises ContainerNotFound: there is no such container
    :raises Conflict: it has one
    """
    try:
        with engine.writer() as session:
            return _insert(session, container_uuid, values)
    except db_exc.DBDuplicateEntry:
        raise exception.Conflict(f'Container {container_uuid} has a request.') from None


def get(container_uuid: str) -> rows.Row:
    """The request of a container; an empty one is made for a container older than requests.

    :raises ContainerNotFound: there is no such container
    """
    statement = sa.select(_TABLE).where(_TABLE.c.container_uuid == container_uuid)
    with engine.reader() as session:
        row = rows.one(session, statement)
    if row is not None:
        return row
    try:
        return create(container_uuid, {})
    except exception.Conflict:
        with engine.reader() as session:
            return ty.cast(rows.Row, rows.one(session, statement))


@engine.retry
def update(container_uuid: str, values: rows.Row,
           expected: rows.Expected | None = None) -> rows.Row:
    """Change some columns, if others are as expected; the columns that were set.

    :raises Conflict: the row is not as expected
    :raises ContainerNotFound: the container is gone
    """
    with engine.writer() as session:
        changed = rows.update(
            session, _TABLE, {**(expected or {}), 'container_uuid': container_uuid}, values)
        if changed is None:
            if containers.exists(session, container_uuid):
                raise exception.Conflict(
                    f'The request of container {container_uuid} was changed by somebody else.')
            raise exception.ContainerNotFound(container=container_uuid)
        return changed


@engine.retry
def place(container_uuid: str, generation: int, host: str, seconds: float) -> None:
    """Put a container in Creating on a host, and raise the generation of its request.

    :param generation: that the request has to have
    :param seconds: from now until a reaper may look at it
    :raises Conflict: the request has moved on, or the container has
    :raises ContainerNotFound: it is gone
    """
    with engine.writer() as session:
        containers.swap(session, container_uuid, {'host': None, 'status': states.CREATING},
                        {'host': host, 'status_reason': None})
        if rows.update(session, _TABLE,
                       {'container_uuid': container_uuid, 'generation': generation},
                       {'generation': generation + 1,
                        'retry_at': clock.utc_now(seconds)}) is None:
            raise exception.Conflict(f'The request of {container_uuid} has moved on.')


@engine.retry
def record(context: lists.Context, container_uuid: str, operation: str, args: rows.Row,
           expected_status: str | collections.abc.Collection[str | None] | None = None,
           status: str | None = None, task_state: str | None | Unset = ...,
           action: str | None = None) -> rows.Row | None:
    """Accept an operation: state, request and action row in one transaction.

    :param expected_status: one status or several; None: any
    :param task_state: Ellipsis: leave it
    :param action: name under which the operation is shown to users; None: it is not
    :returns: the row of the action
    :raises Conflict: the container is in another status
    :raises ContainerNotFound: it is gone
    """
    values: rows.Row = {} if status is None else {'status': status}
    if task_state is not ...:
        values['task_state'] = task_state
    expected = {} if expected_status is None else {'status': expected_status}
    with engine.writer() as session:
        if values or expected:
            # Without a change it is still a write: two operations on one container queue.
            containers.swap(session, container_uuid, expected, values)
        asked = {'operation': operation, 'operation_args': args,
                 'operation_id': context.request_id, 'operation_time': clock.utc_now()}
        if rows.update(session, _TABLE, {'container_uuid': container_uuid}, asked) is None:
            _insert(session, container_uuid, asked)
        if action is None:
            return None
        return rows.insert(session, models.container_actions, {
            **actions.start_values(context, action), 'container_uuid': container_uuid})


@engine.retry
def finish_operation(container_uuid: str, operation_id: str) -> bool:
    """Forget an operation that is done; False when another one was accepted since."""
    with engine.writer() as session:
        return rows.update(
            session, _TABLE, {'container_uuid': container_uuid, 'operation_id': operation_id},
            {'operation': None, 'operation_args': {}, 'operation_id': None,
             'operation_time': None}) is not None


def due(limit: int | None) -> list[rows.Row]:
    """Requests of containers in status Creating at which nobody has worked for too long."""
    statement = sa.select(_TABLE).join(
        _CONTAINER, _CONTAINER.c.uuid == _TABLE.c.container_uuid).where(
        _TABLE.c.retry_at <= clock.utc_now(), _CONTAINER.c.status == states.CREATING).order_by(
        _TABLE.c.retry_at, _TABLE.c.id)
    with engine.reader() as session:
        return rows.every(session, statement if limit is None else statement.limit(limit))


@engine.retry
def postpone(container_uuid: str, seconds: float,
             seen: datetime.datetime | None) -> datetime.datetime | None:
    """Move retry_at to now plus some seconds, by the database's clock.

    :param seen: retry_at as the caller read it
    :returns: the new retry_at; None when somebody else moved it
    """
    with engine.writer() as session:
        changed = rows.update(session, _TABLE, {'container_uuid': container_uuid,
                                                'retry_at': seen},
                              {'retry_at': clock.utc_now(seconds)})
        if changed is None:
            return None
        return session.execute(sa.select(_TABLE.c.retry_at).where(
            _TABLE.c.container_uuid == container_uuid)).scalar_one()
