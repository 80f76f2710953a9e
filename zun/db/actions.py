# SPDX-License-Identifier: Apache-2.0
"""What was done to containers: actions, and the steps of each."""

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import columns
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_ACTION = models.container_actions
_EVENT = models.container_actions_events
_MESSAGE = 255
_TRACEBACK = 60000


def start_values(context: lists.Context, action: str) -> rows.Row:
    """The row of an action that begins now, without its container."""
    return {'action': action, 'request_id': context.request_id, 'user_id': context.user_id,
            'project_id': context.project_id, 'start_time': columns.utcnow()}


@engine.retry
def start(context: lists.Context, container_uuid: str, action: str) -> rows.Row:
    """Record that an action began.

    :raises ContainerNotFound: the container is gone
    """
    try:
        with engine.writer() as session:
            return rows.insert(session, _ACTION, {
                **start_values(context, action), 'container_uuid': container_uuid})
    except db_exc.DBReferenceError:
        raise exception.ContainerNotFound(container=container_uuid) from None


def _latest(session: orm.Session, container_uuid: str, request_id: str | None = None,
            action: str | None = None) -> rows.Row | None:
    statement = sa.select(_ACTION).where(_ACTION.c.container_uuid == container_uuid)
    if request_id is not None:
        statement = statement.where(_ACTION.c.request_id == request_id)
    if action is not None:
        statement = statement.where(_ACTION.c.action == action)
    return rows.one(session, statement.order_by(_ACTION.c.id.desc()).limit(1))


@engine.retry
def finish(container_uuid: str, request_id: str | None, action: str | None = None,
           message: str | None = None) -> rows.Row:
    """Record that an action ended.

    :param action: None: the last one of the request
    :param message: None for success, else a text for the user
    :raises ContainerActionNotFound: there is none
    """
    with engine.writer() as session:
        found = _latest(session, container_uuid, request_id, action)
        if found is None:
            raise exception.ContainerActionNotFound(
                request_id=request_id, container_uuid=container_uuid)
        values = {'finish_time': columns.utcnow(), 'message': message and message[:_MESSAGE]}
        changed = rows.update(session, _ACTION, {'id': found['id']}, values)
    return {**found, **(changed or {})}


def list_by_container(container_uuid: str) -> list[rows.Row]:
    """Actions of a container, newest first."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_ACTION).where(
            _ACTION.c.container_uuid == container_uuid).order_by(
            _ACTION.c.created_at.desc(), _ACTION.c.id.desc()))


def get_by_request(container_uuid: str, request_id: str) -> rows.Row | None:
    """The last action of a request."""
    with engine.reader() as session:
        return _latest(session, container_uuid, request_id)


@engine.retry
def event_start(context: lists.Context, event: str, action_id: int | None = None,
                container_uuid: str | None = None, request_id: str | None = None) -> rows.Row:
    """Record that a step of an action began.

    The action is given by its number, or is the last one of the request; for a service's own work,
    which has no project, the last one of the container.

    :raises ContainerActionNotFound: there is none
    """
    with engine.writer() as session:
        if action_id is None:
            found = _latest(session, str(container_uuid), request_id or context.request_id)
            if found is None and context.project_id is None:
                found = _latest(session, str(container_uuid))
            if found is None:
                raise exception.ContainerActionNotFound(
                    request_id=request_id, container_uuid=container_uuid)
            action_id = found['id']
        return rows.insert(session, _EVENT, {'event': event, 'action_id': action_id})


@engine.retry
def event_finish(event_id: int, result: str, traceback: str | None = None,
                 details: str | None = None) -> rows.Row:
    """Record how a step ended; long texts lose their beginning.

    :raises ContainerActionEventNotFound: it went with its container
    """
    values = {'finish_time': columns.utcnow(), 'result': result,
              'traceback': traceback and traceback[-_TRACEBACK:],
              'details': details and details[-_TRACEBACK:]}
    with engine.writer() as session:
        changed = rows.update(session, _EVENT, {'id': event_id}, values)
    if changed is None:
        raise exception.ContainerActionEventNotFound(event=event_id, action_id=None)
    return changed


def list_events(action_id: int) -> list[rows.Row]:
    """Steps of an action, newest first."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_EVENT).where(
            _EVENT.c.action_id == action_id).order_by(
            _EVENT.c.created_at.desc(), _EVENT.c.id.desc()))
