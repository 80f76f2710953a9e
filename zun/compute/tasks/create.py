# SPDX-License-Identifier: Apache-2.0
"""Create: admission, image, volumes, network, engine, start. Each step can be undone and redone.

It works in two turns of the container's FIFO with the fetching of the image between them, which
belongs to another pool. A redone create finds what an earlier try left, by the container's uuid.
"""

import collections.abc
import dataclasses
import functools

from oslo_log import log as logging

from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import observation
from zun.compute import pinning
from zun.compute import resources
from zun.compute import task
from zun.compute import undo as node_undo
from zun.compute.tasks import images
from zun.compute.tasks import members
from zun.compute.tasks import power
from zun.compute.tasks import volumes
from zun.container import driver as container_driver
from zun.control import handover
from zun.db import journal
from zun.network import driver as network_driver

LOG = logging.getLogger(__name__)

#: Somebody else owns the row now.
LOST = (exception.Conflict, exception.ContainerNotFound)


@dataclasses.dataclass
class Create:
    """One create between its turns."""

    job: task.Job
    claim: task.Task
    undo: node_undo.Undo


def create(job: task.Job, generation: int | None = None) -> None:
    """
    :param generation: that of the message; an older one is somebody else's by now
    """
    admit(job, generation, images.fetch, _assemble)


def admit(job: task.Job, generation: int | None,
          fetch: collections.abc.Callable[..., None],
          assemble: collections.abc.Callable[..., None]) -> None:
    """First turn: admit the container and have its image fetched.

    :param fetch: like ``images.fetch``
    :param assemble: second turn: gets the Create, and what the fetch hands on
    """
    if generation not in (None, job.request.generation):
        LOG.info('Container %s: create of generation %s has been overtaken', job.uuid, generation)
        return
    claim = task.Task(job, states.IMAGE_PULLING)
    claim.begin({states.CREATING})
    work = Create(job, claim, node_undo.Undo(job.uuid))
    if not job.container.disk:
        work.undo.push('size of the disk', resources.forget_default_disk, job)
    failpoints.hit('create.begun')
    try:
        resources.claim(job)
        failpoints.hit('create.claimed')
        fetch(job, functools.partial(assemble, work))
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        give_up(work, error)


def _assemble(work: Create, image: str | None, error: Exception | None) -> None:
    """Second turn: make the container, and run it if that is wanted."""
    job, container = work.job, work.job.container
    failpoints.hit('create.pulled')
    try:
        work.claim.step(states.CONTAINER_CREATING)
    except LOST:
        abandon(job)
        return
    try:
        if image is None:
            raise error or exception.ImageNotFound(image=container.image)
        _build(work, image)
    except Exception as trouble:  # noqa: BLE001 - the boundary of an operation
        give_up(work, trouble)
        return
    failed = _start(job) if job.request.run else None
    if not work.claim.finish(failed):
        abandon(job)
    elif failed:
        job.node.look(job.uuid)  # no event tells of a failed start
    failpoints.hit('create.saved')
    job.node.changed()


def _build(work: Create, image: str) -> None:
    job, container, node, undo = work.job, work.job.container, work.job.node, work.undo
    undo.push('volumes', volumes.detach, job)
    mounts = volumes.attach(job)
    failpoints.hit('create.volumes')
    undo.push('network', node.network.release, job.context, job.uuid)
    attachments = node.network.plan(job.context, container, job.request.requested_networks or [])
    container.addresses = network_driver.addresses_of(attachments)
    failpoints.hit('create.planned')
    undo.push('engine container', node.engine.delete, job.uuid)
    node.engine.create(container_driver.Workload(
        container, image, attachments, mounts, job.request.generation,
        job.context.request_id or '', pinning.shared(node, container)))
    failpoints.hit('create.made')
    undo.push('plugs', node.network.unplug, job.context, container)
    node.network.plug(job.context, container, attachments)
    failpoints.hit('create.plugged')
    if job.request.run:
        container.status = container.status_detail = states.CREATED  # its start looks closer
    else:
        observation.apply(container, node.engine.inspect(container), otherwise=states.CREATED)


def _start(job: task.Job) -> Exception | None:
    """Run it. The container is kept when that fails: it is the user's to look at and delete."""
    try:
        observed = power.told(job, 'start', lambda: job.node.engine.start(job.container))
        failpoints.hit('create.started')
        power.check_started(observed)
        observation.apply(job.container, observed)
    except exception.ZunException as error:
        task.report(job, error)
        task.broken(job, error)
        return error
    return None


def host_is_to_blame(error: Exception) -> bool:
    """Whether another host may succeed where this one failed.

    What the user asked for is wrong everywhere; a host without room, engine or network is not.

    >>> host_is_to_blame(exception.ImageNotFound(image='x'))
    False
    """
    if isinstance(error, (exception.ResourcesUnavailable, exception.EngineGone)):
        return True
    return isinstance(error, exception.ZunException) and error.code >= 500


def give_up(work: Create, error: Exception) -> None:
    """Take everything back, then let another host try, or tell the user."""
    job = work.job
    resources.note_failure(job.node, error)
    left = work.undo.run()
    failpoints.hit('create.undone')
    if left:
        _fail(work, error, undone=False)
    elif host_is_to_blame(error):
        task.report(job, error)
        work.claim.end_event(error)
        handover.hand_back(job.context, job.container, job.request, job.node.scheduler,
                           job.node.ledger, observation.reason(job.title, error))
    else:
        _fail(work, error, undone=_release(job))
    job.node.changed()


def _release(job: task.Job) -> bool:
    """Give the allocation back and forget the host; False when that has to be tried again."""
    try:
        job.node.ledger.release(job.uuid)
    except exception.ZunException as error:
        LOG.warning('Container %s: its allocation cannot be released: %s', job.uuid,
                    error.message)
        return False
    return True


def _fail(work: Create, error: Exception, undone: bool) -> None:
    """Error, with the reason; the host is kept as long as something of it is left here."""
    def failure(job: task.Job, trouble: Exception) -> None:
        job.container.status = states.ERROR
        job.container.status_reason = observation.reason(job.title, trouble)
        members.forget(job.container, states.ERROR, job.container.status_reason)
        if undone:
            job.container.host = None
    work.claim.fail(error, failure, again=not undone)


def abandon(job: task.Job) -> None:
    """The row has changed hands: leave nothing here, and touch nothing that is theirs."""
    try:
        job.container.refresh()
        if job.container.host == job.node.host:
            return  # another operation of this host goes on with it
    except exception.ContainerNotFound:
        pass
    LOG.warning('Container %s was taken away during its create', job.uuid)
    undo = node_undo.Undo(job.uuid)
    undo.push('plugs', job.node.network.unplug, job.context, job.container)
    undo.push('engine container', job.node.engine.delete, job.uuid)
    undo.push('members', members.remove, job)
    undo.run()


def clear(job: task.Job, reason: str) -> None:
    """Take back what an interrupted or failed create left; tried again until nothing is left.

    :param reason: for a container that does not say yet why it failed
    """
    undo = node_undo.Undo(job.uuid)
    undo.push('volumes', volumes.detach, job)
    undo.push('network', job.node.network.release, job.context, job.uuid)
    undo.push('plugs', job.node.network.unplug, job.context, job.container)
    undo.push('engine container', job.node.engine.delete, job.uuid)
    undo.push('members', members.remove, job)
    if undo.run() or not _release(job):
        return
    container = job.container
    expected = {'host': container.host, 'status': container.status}
    container.status_reason = container.status_reason or reason
    members.forget(container, states.ERROR, container.status_reason)
    container.status, container.task_state, container.host = states.ERROR, None, None
    container.end_operation(job.context.request_id,
                            journal.Outcome(True, container.status_reason), expected)
    job.node.changed()
