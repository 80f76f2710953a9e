# SPDX-License-Identifier: Apache-2.0
"""Commit: an image of a container for the image service, in two turns.

The engine makes the image in the container's FIFO, and pauses the container meanwhile. The sending
belongs to the pool of image transfers, so that the next operation need not wait for it. The record
in the image service was made by the API; it is filled, or removed.
"""

import contextlib

from oslo_log import log as logging
from oslo_utils import timeutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import task
from zun.db import journal
from zun.image import glance_store

LOG = logging.getLogger(__name__)

#: Properties of the record, which say whose it is.
HOST = 'zun_host'
CONTAINER = 'zun_container_uuid'
#: Seconds between looks for what commits left behind.
INTERVAL = 600.0
_REPOSITORY = 'zun-commit'
_TAG = 'latest'
#: Seconds that a record may wait before somebody asks what it waits for.
_PATIENCE = 600


def _name(image_uuid: str) -> str:
    return f'{_REPOSITORY}/{image_uuid}'


def commit(job: task.Job, image_uuid: str, repository: str = '', tag: str | None = None) -> None:
    """First turn: make the image in the engine.

    :param image_uuid: record in the image service that takes it
    :param repository: name of the record, for the log; in the engine the image has another one
    :param tag: of the record
    """
    claim = task.Task(job, None)
    try:
        claim.begin(task.statuses(job))
    except task.Refused:
        if journal.seen_before(job.uuid, job.context.request_id):
            _forget(job.node, image_uuid)
        raise
    LOG.info('Container %s: commit to image %s (%s:%s)', job.uuid, image_uuid, repository, tag)
    failpoints.hit('commit.begun')
    try:
        if _arrived(job, image_uuid):
            _end(job, image_uuid)
            return
        _make(job, image_uuid)
        failpoints.hit('commit.made')
        job.node.leave(job.uuid)
        try:
            job.node.pulls.submit(job.uuid, _send, job, image_uuid)
        except exception.PoolFull:
            job.node.leave(job.uuid, -1)
            raise
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        _end(job, image_uuid, error)


def _arrived(job: task.Job, image_uuid: str) -> bool:
    """Whether the image was sent before a crash.

    :raises Conflict: the image service has half of it, or does not wait for it
    """
    record = job.node.store.show(image_uuid)
    if record is not None and record['status'] == 'active' and job.resumed:
        return True
    if record is None or record['status'] != 'queued':
        raise exception.Conflict('The image service does not wait for the image any more.')
    return False


def _make(job: task.Job, image_uuid: str) -> None:
    node, running = job.node, job.container.status == states.RUNNING
    try:
        node.engine.commit(job.container, _name(image_uuid), _TAG)
    except Exception:
        with contextlib.suppress(exception.ZunException):
            if running and node.engine.inspect(job.container).status == states.PAUSED:
                node.engine.unpause(job.container)
        raise
    limit = glance_store.size_limit()
    if limit and node.engine.image_info(f'{_name(image_uuid)}:{_TAG}')['size'] > limit:
        raise exception.RequestTooLarge(what='The image', limit=limit)


def _send(job: task.Job, image_uuid: str) -> None:
    """Second turn: from the engine to the image service, as it comes."""
    job.context.update_store()
    error = None
    try:
        with job.node.engine.save_image(f'{_name(image_uuid)}:{_TAG}') as chunks:
            job.node.store.upload(image_uuid, chunks)
        failpoints.hit('commit.sent')
    except Exception as trouble:  # noqa: BLE001 - the boundary of an operation
        error = trouble
    try:
        _end(job, image_uuid, error)
    finally:
        job.node.leave(job.uuid, -1)


def _end(job: task.Job, image_uuid: str, error: Exception | None = None) -> None:
    """Nothing stays in the engine, and nothing that failed in the image service."""
    try:
        job.node.engine.remove_image(f'{_name(image_uuid)}:{_TAG}')
    except exception.ZunException as trouble:
        LOG.warning('Image %s stays in the engine: %s', _name(image_uuid), trouble.message)
    if error is not None:
        task.report(job, error)
        _forget(job.node, image_uuid)
    failpoints.hit('commit.cleared')
    task.close(job, error)
    failpoints.hit('commit.saved')


def _forget(node: compute_node.Node, image_uuid: str) -> None:
    try:
        node.store.delete(image_uuid)
    except exception.ZunException as error:
        LOG.warning('Record %s of a failed commit is left to the next sweep: %s', image_uuid,
                    error.message)


def sweep(node: compute_node.Node) -> None:
    """Remove what commits of this host left in the engine and in the image service.

    A commit that waits or runs is open in the database, or its container is busy.
    """
    try:
        images = node.engine.list_images()  # before the records: each has one while it is sent
        records = node.store.unfinished(**{HOST: node.host})
    except exception.ServiceMissing:
        return
    except exception.ZunException as error:
        LOG.info('Unfinished commits cannot be looked for: %s', error.message)
        return
    now = timeutils.utcnow()
    for record in records:
        age = now - timeutils.normalize_time(timeutils.parse_isotime(record['created_at']))
        if age.total_seconds() > _PATIENCE and not _is_open(node, record):
            LOG.warning('Image %s was never filled by its commit: removed', record['id'])
            _forget(node, record['id'])
    known = {record['id'] for record in records}
    for image in images:
        for name in image.names:
            uuid = name.removesuffix(f':{_TAG}').removeprefix(f'{_REPOSITORY}/')
            if (name == f'{_name(uuid)}:{_TAG}' and uuid not in known
                    and not _is_awaited(node, uuid)):
                _drop(node, name)


def _is_awaited(node: compute_node.Node, uuid: str) -> bool:
    """Whether another agent on the same engine may be sending an image; else nobody does."""
    try:
        return node.store.is_unfinished(uuid)
    except exception.ZunException as error:
        LOG.info('Image %s cannot be asked about: %s', uuid, error.message)
        return True


def _drop(node: compute_node.Node, name: str) -> None:
    with contextlib.suppress(exception.ZunException):
        node.engine.remove_image(name)
        LOG.warning('Image %s was left by a commit: removed', name)


def _is_open(node: compute_node.Node, record: glance_store.Json) -> bool:
    uuid = record.get(CONTAINER, '')
    if node.busy(uuid):
        return True
    try:
        asked = objects.ContainerRequest.get(zun_context.get_admin_context(), uuid)
    except exception.ContainerNotFound:
        return False
    return asked.operation == 'commit' and (
        (asked.operation_args or {}).get('image_uuid') == record['id'])
