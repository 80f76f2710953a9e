# SPDX-License-Identifier: Apache-2.0
"""Console sessions: each step is one compare-and-swap, judged by the database's clock."""

import hmac
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import clock
from zun.db import columns
from zun.db import engine
from zun.db import models
from zun.db import models_console
from zun.db import rows

_TABLE = models_console.console_session
_COLUMNS = _TABLE.c
_EVENT = models.container_actions_events
_EXEC = models.exec_instance

#: Events of a session's action.
TICKET = 'console__ticket'
SESSION = 'console__session'
#: Seconds in which a node must see what a proxy has redeemed.
_HANDOVER = 30
_DAY = 86400


def _changed(session: orm.Session, statement: ty.Any) -> bool:
    return ty.cast('sa.CursorResult[ty.Any]', session.execute(statement)).rowcount > 0


def _row(session: orm.Session, session_id: str) -> rows.Row | None:
    return rows.one(session, sa.select(_TABLE).where(_COLUMNS.id == session_id))


@engine.retry
def create(values: rows.Row, seconds: int, action: rows.Row,
           exec_instance: rows.Row | None = None) -> rows.Row:
    """Insert a session with its action, which is finished at once, and its exec instance.

    :param seconds: in which a client must connect
    :param action: what the user asked for
    :raises ContainerNotFound: the container is gone
    """
    now = columns.utcnow()
    try:
        with engine.writer() as session:
            begun = rows.insert(session, models.container_actions, {
                **action, 'container_uuid': values['container_uuid'], 'finish_time': now})
            rows.insert(session, _EVENT, {
                'event': TICKET, 'action_id': begun['id'], 'finish_time': now,
                'result': 'Success', 'details': f"session {values['id']}"})
            if exec_instance is not None:
                rows.insert(session, _EXEC, exec_instance)
            return rows.insert(session, _TABLE, {
                **values, 'action_id': begun['id'], 'expires_at': clock.utc_now(seconds)})
    except db_exc.DBReferenceError:
        raise exception.ContainerNotFound(container=values['container_uuid']) from None


@engine.retry
def redeem(token_hash: str, container_uuid: str, exec_id: str | None, node_key_hash: str,
           client_address: str) -> rows.Row | None:
    """Use up a ticket.

    :returns: the session; None when there is no such ticket, or not any more
    """
    statement = sa.update(_TABLE).where(
        _COLUMNS.token_hash == token_hash, _COLUMNS.container_uuid == container_uuid,
        rows.matches(_COLUMNS.exec_id, exec_id), _COLUMNS.consumed_at.is_(None),
        _COLUMNS.ended_at.is_(None), _COLUMNS.expires_at > clock.utc_now()).values(
        consumed_at=clock.utc_now(), node_key_hash=node_key_hash,
        client_address=client_address, updated_at=columns.utcnow())
    with engine.writer() as session:
        if not _changed(session, statement):
            return None
        row = rows.one(session, sa.select(_TABLE).where(_COLUMNS.token_hash == token_hash))
        if row is None or not hmac.compare_digest(row['token_hash'], token_hash):
            return None
        return row


def state(token_hash: str, container_uuid: str, exec_id: str | None) -> str:
    """What a ticket is to one who holds it: valid, used, expired, revoked or unknown."""
    statement = sa.select(
        _COLUMNS.consumed_at, _COLUMNS.ended_at,
        (_COLUMNS.expires_at > clock.utc_now()).label('in_time')).where(
        _COLUMNS.token_hash == token_hash, _COLUMNS.container_uuid == container_uuid,
        rows.matches(_COLUMNS.exec_id, exec_id))
    with engine.reader() as session:
        row = rows.one(session, statement)
    if row is None:
        return 'unknown'
    if row['consumed_at'] is not None:
        return 'used'
    if row['ended_at'] is not None:
        return 'revoked'
    return 'valid' if row['in_time'] else 'expired'


@engine.retry
def begin(session_id: str, node_key_hash: str, host: str) -> rows.Row | None:
    """Open on its node what a proxy has redeemed a moment ago.

    :returns: None unless key and host are those of the session, for the first time
    """
    with engine.writer() as session:
        opened = _changed(session, sa.update(_TABLE).where(
            _COLUMNS.id == session_id, _COLUMNS.host == host,
            _COLUMNS.node_key_hash == node_key_hash, _COLUMNS.opened_at.is_(None),
            _COLUMNS.ended_at.is_(None),
            _COLUMNS.consumed_at > clock.utc_now(-_HANDOVER)).values(
            opened_at=clock.utc_now(), updated_at=columns.utcnow()))
        row = _row(session, session_id) if opened else None
        if row is None or not hmac.compare_digest(row['node_key_hash'], node_key_hash):
            return None
        rows.insert(session, _EVENT, {'event': SESSION, 'action_id': row['action_id'],
                                      'details': f"client {row['client_address']}"})
        return row


@engine.retry
def end(session_id: str, close_code: int | None, details: str) -> bool:
    """Close a session and its event; False when it was closed already, or is gone.

    :param close_code: of the WebSocket; None: the connection was lost
    """
    with engine.writer() as session:
        ended = _changed(session, sa.update(_TABLE).where(
            _COLUMNS.id == session_id, _COLUMNS.ended_at.is_(None)).values(
            ended_at=clock.utc_now(), close_code=close_code, updated_at=columns.utcnow()))
        row = _row(session, session_id) if ended else None
        if row is None:
            return False
        rows.update(session, _EVENT, {'action_id': row['action_id'], 'event': SESSION,
                                      'finish_time': None},
                    {'finish_time': columns.utcnow(), 'result': 'Success', 'details': details})
        _forget_exec(session, row['container_uuid'], row['exec_id'])
        return True


def _forget_exec(session: orm.Session, container_uuid: str, exec_id: str | None) -> None:
    if exec_id is not None:
        owner = sa.select(models.container.c.id).where(
            models.container.c.uuid == container_uuid).scalar_subquery()
        session.execute(sa.delete(_EXEC).where(_EXEC.c.container_id == owner,
                                               _EXEC.c.exec_id == exec_id))


@engine.retry
def set_engine_id(session_id: str, engine_id: str) -> None:
    """Note what the engine calls the command of a session."""
    with engine.writer() as session:
        rows.update(session, _TABLE, {'id': session_id}, {'engine_id': engine_id})


def find_exec(container_uuid: str, exec_id: str) -> rows.Row | None:
    """The session of a command that has not ended."""
    with engine.reader() as session:
        return rows.one(session, sa.select(_TABLE).where(
            _COLUMNS.container_uuid == container_uuid, _COLUMNS.exec_id == exec_id,
            _COLUMNS.ended_at.is_(None)))


@engine.retry
def remember_size(session_id: str, height: int, width: int) -> bool:
    """Keep the size of a terminal that does not exist yet; False when it may exist."""
    with engine.writer() as session:
        return rows.update(session, _TABLE, {'id': session_id, 'opened_at': None},
                           {'height': height, 'width': width}) is not None


@engine.retry
def revoke(container_uuid: str) -> int:
    """Make the unused tickets of a container worthless; how many there were."""
    unused = [_COLUMNS.container_uuid == container_uuid, _COLUMNS.consumed_at.is_(None),
              _COLUMNS.ended_at.is_(None)]
    with engine.writer() as session:
        for exec_id in session.execute(sa.select(_COLUMNS.exec_id).where(*unused)).scalars():
            _forget_exec(session, container_uuid, exec_id)
        result = session.execute(sa.update(_TABLE).where(*unused).values(
            ended_at=clock.utc_now(), updated_at=columns.utcnow()))
        return ty.cast('sa.CursorResult[ty.Any]', result).rowcount


def list_abandoned(host: str) -> list[rows.Row]:
    """Sessions that a node had opened and never closed."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_TABLE).where(
            _COLUMNS.host == host, _COLUMNS.opened_at.is_not(None),
            _COLUMNS.ended_at.is_(None)))


@engine.retry
def purge(host: str) -> int:
    """Delete the sessions of a node that ended, or whose ticket expired, a day ago; how many."""
    old = [_COLUMNS.host == host, _COLUMNS.expires_at < clock.utc_now(-_DAY),
           sa.or_(_COLUMNS.opened_at.is_(None), _COLUMNS.ended_at.is_not(None))]
    with engine.writer() as session:
        found = session.execute(sa.select(
            _COLUMNS.id, _COLUMNS.container_uuid, _COLUMNS.exec_id).where(*old)).all()
        for row in found:
            _forget_exec(session, row.container_uuid, row.exec_id)
        return rows.delete(session, _TABLE, {'id': [row.id for row in found]})
