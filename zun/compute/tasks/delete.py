# SPDX-License-Identifier: Apache-2.0
"""Delete: the workload first, then what it used, the row last. It is tried until it succeeds."""

import contextlib

from oslo_log import log as logging

from zun import objects
from zun.common import exception
from zun.common import failpoints
from zun.common import pools
from zun.common import states
from zun.compute import observation
from zun.compute import streams
from zun.compute import task
from zun.compute.tasks import images
from zun.compute.tasks import members
from zun.compute.tasks import rebuild
from zun.compute.tasks import volumes

LOG = logging.getLogger(__name__)

#: Seconds that a container gets to end by itself.
_GRACE = 10
_FIRST_RETRY = 1.0
_LAST_RETRY = 300.0


def delete(job: task.Job, force: bool = False, stop: bool = False) -> None:
    """Remove a container and all it holds; on failure it stays Deleting, and says why.

    :param force: by an administrator, in any state: nothing more is done for it, as what runs is
        killed anyway
    :param stop: let it end by itself first
    """
    claim = task.Task(job, states.CONTAINER_DELETING, event=False)
    claim.begin(None, status=states.DELETING, preempt=True)
    failpoints.hit('delete.begun')
    images.give_up(job.node, job.uuid)
    try:
        _remove(job, stop and not force)
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        _postpone(job, claim, error)
    else:
        job.node.attempts.pop(job.uuid, None)
    job.node.changed()


def _remove(job: task.Job, stop: bool) -> None:
    """Every step is content when there is nothing to do."""
    node, container = job.node, job.container
    if stop:
        with contextlib.suppress(exception.EngineGone, exception.Conflict):
            node.engine.stop(container, _GRACE)
        with contextlib.suppress(exception.ContainerActionNotFound):
            objects.ContainerAction.finish(job.context, job.uuid, job.context.request_id, 'stop')
        failpoints.hit('delete.stopped')
    members.remove(job)
    streams.revoke(job.uuid)
    node.engine.delete(job.uuid)
    node.engine.discard(rebuild.aside(job.uuid))
    failpoints.hit('delete.removed')
    node.network.unplug(job.context, container)
    node.network.release(job.context, job.uuid)
    failpoints.hit('delete.network')
    volumes.detach(job)
    failpoints.hit('delete.volumes')
    node.ledger.release(job.uuid)
    failpoints.hit('delete.released')
    container.destroy(job.context)
    failpoints.hit('delete.forgotten')


def _postpone(job: task.Job, claim: task.Task, error: Exception) -> None:
    """Say why it is not gone yet; the operation stays open and the timer takes it up."""
    def failure(failed: task.Job, trouble: Exception) -> None:
        failed.container.status = states.DELETING
        failed.container.status_reason = observation.reason(failed.title, trouble)
    attempt = job.node.attempts.get(job.uuid, 0)
    job.node.attempts[job.uuid] = attempt + 1
    claim.fail(error, failure, again=True)
    job.node.retry(pools.backoff(attempt, _FIRST_RETRY, _LAST_RETRY), job.uuid)
