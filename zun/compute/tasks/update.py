# SPDX-License-Identifier: Apache-2.0
"""New limits for a container: ledger, node, engine, row, in this order; each can refuse.

What was changed before a refusal is given back.
"""

import contextlib
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import task
from zun.compute import undo as node_undo
from zun.db import claims
from zun.db import pins
from zun.placement import amounts
from zun.placement import ledger

LOG = logging.getLogger(__name__)

_LIMITS = ('cpu', 'memory')
_PLAIN = ('name', 'auto_heal')


def resize(job: task.Job, patch: dict[str, ty.Any]) -> None:
    """The verb resize_container, for which nobody waits."""
    with task.task(job) as undo:
        change(job, patch, undo)


def update(job: task.Job, patch: dict[str, ty.Any]) -> None:
    """The verb update, whose caller waits.

    :raises InvalidStateException: another operation is under way, or the status forbids it
    :raises ResourcesUnavailable: the host has no room for the difference
    :raises Conflict: as in :func:`change`
    """
    container, undo = job.container, node_undo.Undo(job.uuid)
    states.check('update', job.uuid, container.status)
    if container.task_state is not None:
        raise exception.InvalidStateException(
            action='update', id=job.uuid, actual_state=container.task_state)
    if not any(name in patch for name in _LIMITS):
        change(job, patch, undo)
        return
    # Whoever finds the mark brings the limits back to the row's.
    claim = task.Task(job, states.CONTAINER_UPDATING, event=False)
    try:
        claim.begin(None)
    except task.Refused as refused:
        raise exception.Conflict(str(refused)) from refused
    objects.ContainerAction.start(job.context, job.uuid, 'update')
    failpoints.hit('update.begun')
    try:
        change(job, patch, undo)
    except Exception as error:
        _take_back(claim, undo, error)
        raise
    claim.finish()


def _take_back(claim: task.Task, undo: node_undo.Undo, error: Exception) -> None:
    """The limits are the old ones; while the engine does not let us, the mark stays."""
    if undo.run():
        task.close(claim.job, error)
        task.postpone(claim.job)
        return
    with contextlib.suppress(exception.ContainerNotFound):
        claim.job.container.refresh()
        claim.finish(error)


def settle(job: task.Job) -> None:
    """Bring ledger and engine to the limits of the row, after a change that was interrupted.

    :raises EngineUnavailable, LedgerUnavailable: it is to be tried again
    """
    container, amounts_now = job.container, claims.Amounts.of(job.container)
    _allocate(job, container.cpu, container.memory)
    try:
        job.node.engine.update(container, amounts_now.cpu, int(amounts_now.memory))
    except (exception.EngineGone, exception.Conflict, exception.Invalid) as error:
        LOG.warning('Container %s keeps the limits it has: %s', job.uuid, error.message)


def change(job: task.Job, patch: dict[str, ty.Any], undo: node_undo.Undo) -> None:
    """
    :param patch: cpu (vCPU), memory (MiB as text), name, auto_heal
    :param undo: takes it back after an error
    :raises ResourcesUnavailable: the host has no room for the difference
    :raises Conflict: the container uses more than the new limit, or was changed meanwhile
    """
    container = job.container
    values = {name: patch[name] for name in (*_LIMITS, *_PLAIN) if name in patch}
    wanted = {name: values[name] for name in _LIMITS
              if name in values and values[name] != getattr(container, name)}
    if wanted:
        _limit(job, wanted, undo)
    for name, value in values.items():
        setattr(container, name, value)
    container.save(job.context, expected={
        'host': job.node.host, 'status': container.status,
        'task_state': container.task_state})
    failpoints.hit('limits.saved')
    job.node.changed()


def _limit(job: task.Job, wanted: dict[str, ty.Any], undo: node_undo.Undo) -> None:
    """Bring ledger and engine to the new limits.

    :param wanted: cpu, memory as they will be in the row
    """
    node, container = job.node, job.container
    if 'cpu' in wanted and container.cpu_policy == pins.DEDICATED:
        raise exception.Conflict('The CPUs of a dedicated container stay as they are.')
    old = (container.cpu, container.memory)
    cpu, memory = wanted.get('cpu', old[0]), wanted.get('memory', old[1])
    undo.push('allocation', _allocate, job, *old)
    if not _allocate(job, cpu, memory):
        raise exception.ResourcesUnavailable(reason='the host is full')
    failpoints.hit('limits.allocated')
    grown = claims.Amounts.of(objects.Container(cpu=cpu, memory=memory, disk=container.disk))
    if node.offer is not None:
        claims.check(node.host, job.uuid, grown, node.offer.room)
    before = claims.Amounts.of(container)
    undo.push('limits in the engine', node.engine.update, container, before.cpu,
              int(before.memory))
    node.engine.update(container, grown.cpu, int(grown.memory))
    failpoints.hit('limits.applied')


def _allocate(job: task.Job, cpu: float | None, memory: str | None) -> bool:
    container = job.container
    consumer = ledger.Consumer(job.uuid, container.project_id, container.user_id)
    return job.node.ledger.resize(consumer, amounts.of(cpu, memory, container.disk))
