# SPDX-License-Identifier: Apache-2.0
"""Rebuild: a new engine container from the row, with the addresses and volumes of the old one.

The image comes first: a failed pull leaves everything as it was. Then the old container is stopped
and set aside, and removed when the new one is there; a failure brings it back.
"""

import dataclasses
import functools
import typing as ty

from oslo_log import log as logging

from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import observation
from zun.compute import pinning
from zun.compute import streams
from zun.compute import task
from zun.compute import undo as node_undo
from zun.compute.tasks import images
from zun.compute.tasks import power
from zun.compute.tasks import volumes
from zun.container import driver as container_driver
from zun.network import driver as network_driver

LOG = logging.getLogger(__name__)


def aside(uuid: str) -> str:
    """Name of the old engine container while the new one is made."""
    return f'zun-{uuid}-old'


@dataclasses.dataclass
class _Rebuild:
    """One rebuild between its turns."""

    job: task.Job
    claim: task.Task
    run: bool
    undo: node_undo.Undo


def rebuild(job: task.Job, run: bool = False) -> None:
    """First turn: have the image fetched.

    :param run: it ran before, and runs afterwards
    """
    claim = task.Task(job, states.IMAGE_PULLING)
    claim.begin(task.statuses(job), status=states.REBUILDING)
    work = _Rebuild(job, claim, run, node_undo.Undo(job.uuid))
    failpoints.hit('rebuild.begun')
    try:
        if job.resumed:
            _remember_stop(work)
            _remember_removal(work)
            job.node.engine.restore(job.uuid, aside(job.uuid))
        images.fetch(job, functools.partial(_replace, work))
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        _bring_back(work, error)


def _replace(work: _Rebuild, image: str | None, error: Exception | None) -> None:
    """Second turn: the new container in the place of the old one."""
    job, claim = work.job, work.claim
    failpoints.hit('rebuild.pulled')
    if image is None:
        _bring_back(work, error or exception.ImageNotFound(image=job.container.image))
        return
    try:
        claim.step(states.CONTAINER_REBUILDING)
    except (exception.Conflict, exception.ContainerNotFound):
        LOG.info('Container %s was taken over before its rebuild', job.uuid)
        return
    try:
        _build(work, image)
    except Exception as trouble:  # noqa: BLE001 - the boundary of an operation
        _bring_back(work, trouble)
        return
    try:
        job.node.engine.discard(aside(job.uuid))
    except exception.ZunException as trouble:  # the new one is there all the same
        claim.give_up(trouble, ['old container'], _settle)
        return
    failpoints.hit('rebuild.discarded')
    claim.finish()
    failpoints.hit('rebuild.saved')
    job.node.attempts.pop(job.uuid, None)


def _build(work: _Rebuild, image: str) -> None:
    job, container, node = work.job, work.job.container, work.job.node
    if not job.resumed:
        node.engine.discard(aside(job.uuid))  # what an earlier rebuild could not remove
    mounts = volumes.attach(job)
    if work.run:
        _remember_stop(work)
        _stop(job)
        failpoints.hit('rebuild.stopped')
    _remember_removal(work)
    node.engine.set_aside(job.uuid, aside(job.uuid))
    failpoints.hit('rebuild.aside')
    attachments = node.network.plan(job.context, container, _networks(job))
    container.addresses = network_driver.addresses_of(attachments)
    node.engine.create(container_driver.Workload(
        container, image, attachments, mounts, job.request.generation,
        job.context.request_id or '', pinning.shared(node, container)))
    failpoints.hit('rebuild.made')
    node.network.plug(job.context, container, attachments)
    if work.run:
        observed = power.told(job, 'start', lambda: node.engine.start(container))
        failpoints.hit('rebuild.started')
        power.check_started(observed)
    else:
        observed = node.engine.inspect(container)
    observation.apply(container, observed, otherwise=states.CREATED)


def _remember_stop(work: _Rebuild) -> None:
    if work.run:
        work.undo.push('stop of the old container', _restart, work.job)


def _remember_removal(work: _Rebuild) -> None:
    work.undo.push('removal of the old container', work.job.node.engine.restore, work.job.uuid,
                   aside(work.job.uuid))


def _stop(job: task.Job) -> None:
    """
    :raises Conflict: the engine refuses, and it runs on
    """
    streams.revoke(job.uuid)
    engine = job.node.engine
    try:
        power.told(job, 'stop', lambda: engine.stop(job.container, None))
    except exception.EngineGone as error:
        LOG.info('Container %s is not there before its rebuild: %s', job.uuid, error.message)
    except exception.Conflict as error:
        if engine.inspect(job.container).running:
            raise
        LOG.info('Container %s does not run before its rebuild: %s', job.uuid, error.message)


def _restart(job: task.Job) -> None:
    try:
        job.node.engine.start(job.container)
    except exception.EngineGone:
        LOG.info('Container %s has no old one to go back to', job.uuid)


def _networks(job: task.Job) -> list[dict[str, ty.Any]]:
    """The networks it is on by now, else those it was created with."""
    asked = {item['network']: item for item in job.request.requested_networks or []}
    now = job.container.addresses or {}
    return [asked.get(network) or _kept(network, now[network]) for network in now] or list(
        asked.values())


def _kept(network: str, addresses: list[dict[str, ty.Any]]) -> dict[str, ty.Any]:
    """A network that was attached after the create, as if it had been asked for there."""
    return {'network': network, 'port': addresses[0]['port'] if addresses else '',
            'fixed_ip': '', 'router:external': False, 'shared': False, 'pci_request_id': None,
            'preserve_on_delete': any(a['preserve_on_delete'] for a in addresses)}


def _bring_back(work: _Rebuild, error: Exception) -> None:
    """The old container again; when the engine does not let us, later."""
    left = work.undo.run()
    failpoints.hit('rebuild.undone')
    work.claim.give_up(error, left, _settle)


def _settle(job: task.Job, error: Exception) -> None:
    """The status of what is there now; Error when that is nothing, or cannot be told."""
    task.reread(job, error)
    if job.container.status in states.TRANSITIONAL:
        job.container.status = states.ERROR
