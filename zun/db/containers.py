# SPDX-License-Identifier: Apache-2.0
"""Containers and capsules, with what lives and dies with them."""

import collections.abc
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.common import states
import zun.conf
from zun.db import clock
from zun.db import engine
from zun.db import lists
from zun.db import locks
from zun.db import models
from zun.db import rows
from zun.db import volumes

CONF = zun.conf.CONF

_TABLE = models.container
_FILTERS = frozenset({
    'name', 'image', 'project_id', 'user_id', 'memory', 'host', 'task_state', 'status',
    'auto_remove', 'uuid', 'capsule_id'})
#: What a user names; members of a capsule get generated names.
_NAMED = (models.CONTAINER, models.CAPSULE)
_WITH_REQUEST = sa.select(_TABLE, models.container_request).select_from(_TABLE.outerjoin(
    models.container_request, models.container_request.c.container_uuid == _TABLE.c.uuid))

Reserve = collections.abc.Callable[[orm.Session], None]


class Created(ty.NamedTuple):
    """The rows of a new container.

    :ivar members: rows of the members of a capsule, in the order given
    """

    container: rows.Row
    members: list[rows.Row]
    request: rows.Row | None
    action: rows.Row | None


def _missing(ident: str) -> Exception:
    return exception.ContainerNotFound(container=ident)


def _of_type(container_type: int | None) -> sa.Select[ty.Any]:
    statement = sa.select(_TABLE)
    if container_type is None:
        return statement
    return statement.where(_TABLE.c.container_type == container_type)


def _hold_names(session: orm.Session, project_id: str | None) -> None:
    """Make those who give names queue, where names have to be unique."""
    scope = CONF.compute.unique_container_name_scope
    if scope:
        locks.hold(session, project_id if scope == 'project' else None, locks.NAMES)


def _check_name(session: orm.Session, name: str | None, project_id: str | None,
                uuid: str | None) -> None:
    """Refuse a name that is taken where names have to be unique. Case does not matter."""
    scope = CONF.compute.unique_container_name_scope
    if not scope or not name:
        return
    taken = sa.select(_TABLE.c.id).where(
        sa.func.lower(_TABLE.c.name) == name.lower(), _TABLE.c.container_type.in_(_NAMED),
        sa.or_(_TABLE.c.uuid != uuid, _TABLE.c.uuid.is_(None)))
    if scope == 'project':
        taken = taken.where(_TABLE.c.project_id == project_id)
    if session.execute(taken.limit(1)).first():
        raise exception.ContainerAlreadyExists(field='name', value=name.lower())


def _insert_request(session: orm.Session, values: rows.Row,
                    reap_after: float | None) -> rows.Row:
    """The columns that were set; times that the database makes are not among them."""
    times: rows.Row = {}
    if reap_after is not None:
        times = {'operation_time': clock.utc_now(), 'retry_at': clock.utc_now(reap_after)}
    row = rows.insert(session, models.container_request, {**values, **times})
    return {name: value for name, value in row.items() if name not in times}


@engine.retry
def create(values: rows.Row, members: collections.abc.Sequence[rows.Row] = (),
           request: rows.Row | None = None, action: rows.Row | None = None,
           reserve: Reserve | None = None,
           mounted: collections.abc.Sequence[volumes.Mounted] = (),
           reap_after: float | None = None) -> Created:
    """Insert a container with its members, request, action and volumes, all or nothing.

    :param reap_after: seconds after which a reaper may take up a request that nobody works at
    :param mounted: volumes, each with its mappings into this container or its members
    :param reserve: called first, inside the transaction; again when the transaction is repeated
    :raises ContainerAlreadyExists: the name, where names are unique, or the uuid
    """
    try:
        with engine.writer() as session:
            # All locks come before the first read, see zun.db.locks.
            _hold_names(session, values.get('project_id'))
            if reserve is not None:
                reserve(session)
            _check_name(session, values.get('name'), values.get('project_id'),
                        values.get('uuid'))
            row = rows.insert(session, _TABLE, values)
            children = [rows.insert(session, _TABLE, {**member, 'capsule_id': row['id']})
                        for member in members]
            volumes.insert(session, mounted)
            asked = None if request is None else _insert_request(
                session, {**request, 'container_uuid': row['uuid']}, reap_after)
            begun = None if action is None else rows.insert(
                session, models.container_actions, {**action, 'container_uuid': row['uuid']})
            return Created(row, children, asked, begun)
    except db_exc.DBDuplicateEntry:
        raise exception.ContainerAlreadyExists(
            field='UUID', value=values.get('uuid')) from None


def get(context: lists.Context, uuid: str, container_type: int | None = None) -> rows.Row:
    """One container by uuid, of any type when none is given.

    :raises ContainerNotFound: none that the caller may see
    """
    with engine.reader() as session:
        row = rows.one(session, lists.scoped(_of_type(container_type), context, _TABLE).where(
            _TABLE.c.uuid == uuid))
    if row is None:
        raise _missing(uuid)
    return row


def get_by_name(context: lists.Context, name: str, container_type: int) -> rows.Row:
    """One container by its exact name, under the collation of the database.

    :raises ContainerNotFound: none that the caller may see
    :raises Conflict: several
    """
    with engine.reader() as session:
        found = rows.every(session, lists.scoped(
            _of_type(container_type), context, _TABLE).where(_TABLE.c.name == name).limit(2))
    if not found:
        raise _missing(name)
    if len(found) > 1:
        raise exception.Conflict('Multiple containers exist with same name. '
                                 'Please use the container uuid instead.')
    return found[0]


def list_page(context: lists.Context, container_type: int, page: lists.Page,
              filters: lists.Filters | None = None) -> list[rows.Row]:
    """A page of the containers of one type that the caller may see.

    :raises ContainerNotFound: the marker
    :raises InvalidParameterValue: a column to sort by or a filter that does not exist
    """
    with engine.reader() as session:
        base = lists.scoped(_of_type(container_type), context, _TABLE)
        return lists.page_of(session, base, _TABLE, page, filters, _FILTERS, _missing)


def list_members(capsule_ids: collections.abc.Collection[int]) -> list[rows.Row]:
    """The members, of both kinds, of some capsules, by id."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_TABLE).where(
            _TABLE.c.capsule_id.in_(capsule_ids)).order_by(_TABLE.c.id))


def count_by_status(host: str) -> dict[str, int]:
    """Number of containers and capsules of a host in each status; one query."""
    status = sa.func.coalesce(_TABLE.c.status, '')
    with engine.reader() as session:
        found = session.execute(sa.select(status, sa.func.count()).where(
            _TABLE.c.host == host, _TABLE.c.container_type.in_(_NAMED)).group_by(status))
        return dict(sorted(found.tuples()))


def list_on_host(host: str) -> list[rows.Row]:
    """Containers, capsules and members on a host, of all projects, in one statement."""
    with engine.reader() as session:
        return rows.every(session, sa.select(_TABLE).where(_TABLE.c.host == host).order_by(
            _TABLE.c.id))


def get_capsule_with(uuid: str) -> rows.Row:
    """A capsule of any project, by its own uuid or that of one of its members.

    :raises ContainerNotFound: there is none
    """
    own = sa.select(_TABLE.c.capsule_id).where(_TABLE.c.uuid == uuid).scalar_subquery()
    with engine.reader() as session:
        row = rows.one(session, sa.select(_TABLE).where(
            _TABLE.c.container_type == models.CAPSULE,
            sa.or_(_TABLE.c.uuid == uuid, _TABLE.c.id == own)))
    if row is None:
        raise _missing(uuid)
    return row


def list_open(host: str) -> list[tuple[rows.Row, rows.Row | None]]:
    """Containers and capsules of a host at which something is to be done, with their requests.

    An operation is recorded, a task is under way or the status is one of passage. The request is
    None when the container is older than requests.
    """
    request = models.container_request
    statement = _WITH_REQUEST.where(
        _TABLE.c.host == host, _TABLE.c.container_type.in_(_NAMED),
        sa.or_(request.c.operation.is_not(None), _TABLE.c.task_state.is_not(None),
               _TABLE.c.status.in_(states.TRANSITIONAL))).order_by(_TABLE.c.id)
    with engine.reader() as session:
        return [_pair(row) for row in session.execute(statement)]


def get_with_request(uuid: str) -> tuple[rows.Row, rows.Row | None]:
    """A container or capsule of any project, and its request, in one statement.

    :raises ContainerNotFound: there is none
    """
    statement = _WITH_REQUEST.where(_TABLE.c.uuid == uuid, _TABLE.c.container_type.in_(_NAMED))
    with engine.reader() as session:
        found = session.execute(statement).first()
    if found is None:
        raise _missing(uuid)
    return _pair(found)


def _pair(row: ty.Any) -> tuple[rows.Row, rows.Row | None]:
    width = len(_TABLE.columns)
    own = dict(zip(_TABLE.columns.keys(), row[:width], strict=True))
    asked = dict(zip(models.container_request.columns.keys(), row[width:], strict=True))
    return own, asked if asked['id'] is not None else None


def exists(session: orm.Session, uuid: str) -> bool:
    """Whether there is a container of any type and project with this uuid."""
    return session.execute(sa.select(_TABLE.c.id).where(_TABLE.c.uuid == uuid)).first() is not None


def swap(session: orm.Session, uuid: str, expected: rows.Expected | None,
         values: rows.Row) -> rows.Row:
    """Compare and swap, in somebody's transaction.

    :returns: the columns that were set
    :raises Conflict: the row is not as expected
    :raises ContainerNotFound: it is gone
    """
    changed = rows.update(session, _TABLE, {**(expected or {}), 'uuid': uuid}, values)
    if changed is None:
        if exists(session, uuid):
            raise exception.Conflict(f'Container {uuid} was changed by somebody else.')
        raise _missing(uuid)
    return changed


@engine.retry
def update(uuid: str, values: rows.Row, expected: rows.Expected | None = None,
           reserve: Reserve | None = None) -> rows.Row:
    """Change some columns, if others are as expected; the columns that were set.

    :param reserve: called first, inside the transaction; again when the transaction is repeated
    :raises Conflict: the row is not as expected
    :raises ContainerNotFound: it is gone
    :raises ContainerAlreadyExists: the new name is taken where names are unique
    """
    if 'uuid' in values:
        raise exception.InvalidParameterValue(
            'Cannot overwrite UUID for an existing Container.')
    project_id = None
    if 'name' in values:
        with engine.reader() as session:
            project_id = session.execute(
                sa.select(_TABLE.c.project_id).where(_TABLE.c.uuid == uuid)).scalar()
    with engine.writer() as session:
        if 'name' in values:
            _hold_names(session, project_id)
        if reserve is not None:
            reserve(session)
        if 'name' in values:
            _check_name(session, values['name'], project_id, uuid)
        return swap(session, uuid, expected, values)


@engine.retry
def tell_pull(uuids: collections.abc.Collection[str], detail: str | None) -> None:
    """Let those that still wait for their image say how far it is; None: nothing more."""
    with engine.writer() as session:
        rows.update(session, _TABLE, {'uuid': list(uuids), 'task_state': states.IMAGE_PULLING},
                    {'status_detail': detail})


@engine.retry
def destroy(uuid: str) -> bool:
    """Remove a container and all rows that hang on it; False when it was gone already.

    Members, request, actions and exec instances go with it. Volume mappings go too, and their
    volumes unless another mapping uses them.
    """
    with engine.writer() as session:
        # Written first, so that nobody maps a volume into it meanwhile.
        if rows.update(session, _TABLE, {'uuid': uuid}, {}) is None:
            return False
        capsule = sa.select(_TABLE.c.id).where(_TABLE.c.uuid == uuid).scalar_subquery()
        members = sa.select(_TABLE.c.uuid).where(_TABLE.c.capsule_id == capsule)
        volumes.remove_mappings(session, [uuid, *session.execute(members).scalars()])
        return rows.delete(session, _TABLE, {'uuid': uuid}) > 0
