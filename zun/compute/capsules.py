# SPDX-License-Identifier: Apache-2.0
"""Rows of capsules and their members follow the engine; what the engine does not do is repaired.

The engine restarts a member that ended, as the restart policy says. A sandbox that ended, and what
vanished, is brought back by the agent, with the pauses of other repairs.
"""

import functools
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.compute import node as compute_node
from zun.compute import operations
from zun.compute import pod
from zun.compute import task
from zun.compute.tasks import capsules
from zun.compute.tasks import members

LOG = logging.getLogger(__name__)


def follow(node: compute_node.Node, uuid: str) -> None:
    """Look at a capsule, in the FIFO of its operations."""
    job = operations.load(node, zun_context.get_admin_context(), uuid)
    if job is None or job.container.host != node.host or node.transferring(uuid):
        return
    try:
        if job.request.operation is not None:
            capsules.go_on(job)
        elif job.container.task_state is None:
            _follow(job)
    except task.Refused as refused:
        LOG.debug('Capsule %s: %s', uuid, refused)
    except exception.ZunException as error:
        LOG.debug('Capsule %s cannot be looked at: %s', uuid, error.message)


def _follow(job: task.Job) -> None:
    node, capsule = job.node, ty.cast(objects.Capsule, job.container)
    sandbox = members.look(node, capsule)
    runs = sandbox is not None and sandbox.running
    for member in capsule.init_containers:
        members.see(node, member)
    seen = [members.see(node, member) for member in capsule.containers]
    before, policy = capsule.status, members.policy(capsule)
    status, reason = pod.overall(runs, seen, policy)
    if before == states.ERROR and status != states.RUNNING:
        status, reason = before, capsule.status_reason
    capsule.status, capsule.status_reason = status, reason
    try:
        capsule.save(expected={'host': node.host, 'status': before, 'task_state': None})
    except (exception.Conflict, exception.ContainerNotFound):
        return
    if status != before:
        LOG.info('Capsule %s: %s -> %s', capsule.uuid, before, status)
    # What failed for good is left as it is, unless somebody has removed it.
    if pod.broken(runs, seen, policy) and (before != states.ERROR or sandbox is None):
        heal.repair(node, capsule.uuid, 'rebuild', {'run': True},
                    functools.partial(_broken, node, capsule.uuid))


def _broken(node: compute_node.Node, uuid: str) -> 'objects.Capsule | None':
    """The capsule, when it still has to be brought back."""
    capsule = objects.Capsule.get_by_uuid(zun_context.get_admin_context(), uuid)
    if (capsule.host, capsule.task_state) != (node.host, None):
        return None
    try:
        sandbox = members.look(node, capsule)
        seen = [members.see(node, member) for member in capsule.containers]
    except exception.ZunException as error:
        LOG.info('Capsule %s is not repaired now: %s', uuid, error.message)
        return None
    runs = sandbox is not None and sandbox.running
    return capsule if pod.broken(runs, seen, members.policy(capsule)) else None
