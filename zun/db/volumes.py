# SPDX-License-Identifier: Apache-2.0
"""Volumes, and their mappings into containers. A volume row lives as long as a mapping uses it."""

import collections.abc
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import columns
from zun.db import engine
from zun.db import lists
from zun.db import models
from zun.db import rows

_VOLUME = models.volume
_MAPPING = models.volume_mapping
_MAPPING_FILTERS = frozenset({
    'project_id', 'user_id', 'volume_id', 'container_path', 'container_uuid'})
_VOLUME_FILTERS = frozenset({'cinder_volume_id', 'volume_provider'})

Pair = tuple[rows.Row, rows.Row]
#: A new volume and its mappings.
Mounted = tuple[rows.Row, collections.abc.Sequence[rows.Row]]


def _missing(uuid: str) -> Exception:
    return exception.VolumeMappingNotFound(volume_mapping=uuid)


def _pairs(session: orm.Session, mappings: list[rows.Row]) -> list[Pair]:
    ids = {mapping['volume_id'] for mapping in mappings}
    if not ids:
        return []
    found = rows.every(session, sa.select(_VOLUME).where(_VOLUME.c.id.in_(ids)))
    by_id = {volume['id']: volume for volume in found}
    return [(mapping, by_id[mapping['volume_id']]) for mapping in mappings]


@engine.retry
def create_volume(values: rows.Row) -> rows.Row:
    """Insert a volume.

    :raises VolumeAlreadyExists: its uuid
    """
    try:
        with engine.writer() as session:
            return rows.insert(session, _VOLUME, values)
    except db_exc.DBDuplicateEntry:
        raise exception.VolumeAlreadyExists(field='UUID', value=values.get('uuid')) from None


def get_volume(context: lists.Context, ident: int) -> rows.Row:
    """A volume by its number.

    :raises VolumeNotFound: none that the caller may see
    """
    with engine.reader() as session:
        row = rows.one(session, lists.scoped(sa.select(_VOLUME), context, _VOLUME).where(
            _VOLUME.c.id == ident))
    if row is None:
        raise exception.VolumeNotFound(volume=ident)
    return row


@engine.retry
def update_volume(ident: int, values: rows.Row) -> rows.Row:
    """Change some columns of a volume; the columns that were set.

    :raises VolumeNotFound: it is gone
    """
    with engine.writer() as session:
        changed = rows.update(session, _VOLUME, {'id': ident}, values)
    if changed is None:
        raise exception.VolumeNotFound(volume=ident)
    return changed


@engine.retry
def create_mapping(values: rows.Row, volume: rows.Row | None = None) -> Pair:
    """Insert a mapping, and its volume first when that is new.

    :param volume: values of a new volume; None: ``values`` has the volume_id of an old one
    :raises VolumeMappingAlreadyExists: its uuid
    :raises VolumeNotFound: there is no such volume
    :raises ContainerNotFound: there is no such container
    """
    try:
        with engine.writer() as session:
            if volume is None:
                own = _lock_volumes(session, [values['volume_id']])
            else:
                own = [rows.insert(session, _VOLUME, volume)]
            if not own:
                raise exception.VolumeNotFound(volume=values['volume_id'])
            return rows.insert(session, _MAPPING, {**values, 'volume_id': own[0]['id']}), own[0]
    except db_exc.DBDuplicateEntry:
        raise exception.VolumeMappingAlreadyExists(
            field='UUID', value=values.get('uuid')) from None
    except db_exc.DBReferenceError:
        raise exception.ContainerNotFound(container=values.get('container_uuid')) from None


def insert(session: orm.Session, mounted: collections.abc.Sequence[Mounted]) -> None:
    """Insert volumes with their mappings, in the transaction that makes their containers."""
    for volume, mappings in mounted:
        row = rows.insert(session, _VOLUME, volume)
        for mapping in mappings:
            rows.insert(session, _MAPPING, {**mapping, 'volume_id': row['id']})


def _scoped_mappings(context: lists.Context) -> sa.Select[ty.Any]:
    return lists.scoped(sa.select(_MAPPING), context, _MAPPING)


def get_mapping(context: lists.Context, uuid: str) -> Pair:
    """A mapping by uuid, with its volume.

    :raises VolumeMappingNotFound: none that the caller may see
    """
    with engine.reader() as session:
        row = rows.one(session, _scoped_mappings(context).where(_MAPPING.c.uuid == uuid))
        if row is None:
            raise _missing(uuid)
        return _pairs(session, [row])[0]


def _filtered(context: lists.Context,
              filters: lists.Filters | None) -> tuple[sa.Select[ty.Any], lists.Filters]:
    """The mappings of a context and the filters that are left once those of the volume are set."""
    statement = _scoped_mappings(context)
    of_volume = {k: v for k, v in (filters or {}).items() if k in _VOLUME_FILTERS}
    if of_volume:
        statement = statement.where(_MAPPING.c.volume_id.in_(
            lists.filtered(sa.select(_VOLUME.c.id), _VOLUME, of_volume, _VOLUME_FILTERS)))
    return statement, {k: v for k, v in (filters or {}).items() if k not in of_volume}


def list_mappings(context: lists.Context, page: lists.Page,
                  filters: lists.Filters | None = None) -> list[Pair]:
    """Mappings that the caller may see, with their volumes: two queries.

    :param filters: columns of the mapping, and cinder_volume_id and volume_provider of the volume
    """
    with engine.reader() as session:
        statement, own = _filtered(context, filters)
        return _pairs(session, lists.page_of(
            session, statement, _MAPPING, page, own, _MAPPING_FILTERS, _missing))


def count_mappings(context: lists.Context, filters: lists.Filters | None = None) -> int:
    """How many mappings there are of those that the caller may see."""
    statement, own = _filtered(context, filters)
    statement = lists.filtered(statement, _MAPPING, own, _MAPPING_FILTERS)
    with engine.reader() as session:
        return session.execute(
            statement.with_only_columns(sa.func.count(_MAPPING.c.id))).scalar_one()


@engine.retry
def update_mapping(uuid: str, values: rows.Row, volume_values: rows.Row) -> tuple[
        rows.Row, rows.Row]:
    """Change some columns of a mapping and of its volume; the columns that were set.

    :raises VolumeMappingNotFound: it is gone
    """
    with engine.writer() as session:
        ident = session.execute(
            sa.select(_MAPPING.c.volume_id).where(_MAPPING.c.uuid == uuid)).scalar()
        if ident is None:
            raise _missing(uuid)
        own = rows.update(session, _MAPPING, {'uuid': uuid}, values) if values else {}
        changed = rows.update(session, _VOLUME, {'id': ident}, volume_values) \
            if volume_values else {}
    if own is None or changed is None:
        raise _missing(uuid)
    return own, changed


def _lock_volumes(session: orm.Session,
                  ids: collections.abc.Collection[int]) -> list[rows.Row]:
    """Write volumes, so that nobody maps one while its last mapping goes."""
    if ids:
        session.execute(sa.update(_VOLUME).where(_VOLUME.c.id.in_(ids)).values(
            updated_at=columns.utcnow()))
    return rows.every(session, sa.select(_VOLUME).where(_VOLUME.c.id.in_(ids)))


def _remove(session: orm.Session, conditions: rows.Expected) -> int:
    matching = [rows.matches(_MAPPING.c[name], value) for name, value in conditions.items()]
    found = session.execute(
        sa.select(_MAPPING.c.id, _MAPPING.c.volume_id).where(*matching)).all()
    if not found:
        return 0
    used = sorted({row.volume_id for row in found})
    _lock_volumes(session, used)
    removed = rows.delete(session, _MAPPING, {'id': [row.id for row in found]})
    session.execute(sa.delete(_VOLUME).where(
        _VOLUME.c.id.in_(used),
        ~sa.exists().where(_MAPPING.c.volume_id == _VOLUME.c.id)))
    return removed


def remove_mappings(session: orm.Session,
                    container_uuids: collections.abc.Collection[str]) -> None:
    """Delete the mappings of containers, and each volume that no other mapping uses."""
    _remove(session, {'container_uuid': list(container_uuids)})


@engine.retry
def destroy_mapping(uuid: str) -> bool:
    """Delete a mapping, and its volume when no other uses it; False when it was gone already."""
    with engine.writer() as session:
        return _remove(session, {'uuid': uuid}) > 0
