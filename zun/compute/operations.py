# SPDX-License-Identifier: Apache-2.0
"""From an accepted operation to the function that does it, one at a time for each container."""

import collections.abc
import concurrent.futures
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import task
from zun.compute.tasks import capsules
from zun.compute.tasks import commit
from zun.compute.tasks import create
from zun.compute.tasks import delete
from zun.compute.tasks import networks
from zun.compute.tasks import power
from zun.compute.tasks import rebuild
from zun.compute.tasks import update
import zun.conf
from zun.db import journal

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: As in container_request.operation -> what does it; arguments as in operation_args.
OPERATIONS: dict[str, collections.abc.Callable[..., None]] = {
    'create': create.create, 'delete': delete.delete, 'rebuild': rebuild.rebuild,
    'start': power.start, 'stop': power.stop, 'reboot': power.reboot, 'pause': power.pause,
    'unpause': power.unpause, 'kill': power.kill,
    'add_security_group': networks.add_security_group,
    'remove_security_group': networks.remove_security_group,
    'network_attach': networks.attach, 'network_detach': networks.detach,
    'resize_container': update.resize, 'commit': commit.commit,
}
#: Of capsules; nothing else is asked of them.
CAPSULE_OPERATIONS: dict[str, collections.abc.Callable[..., None]] = {
    'create': capsules.create, 'delete': delete.delete, 'rebuild': capsules.rebuild,
}


def submit(node: compute_node.Node, context: zun_context.RequestContext, uuid: str, name: str,
           **args: ty.Any) -> None:
    """Queue an operation behind the earlier ones of its container.

    :raises PoolFull: it stays in the database, for the sweep
    """
    node.lifecycle.submit(uuid, run, node, context, uuid, name, args)


def run(node: compute_node.Node, context: zun_context.RequestContext, uuid: str, name: str,
        args: dict[str, ty.Any]) -> None:
    """Do an operation whose turn has come, as its message asks for it."""
    job = load(node, context, uuid, name)
    if job is None or _repeated(job):
        LOG.info('Container %s: %s of %s is not wanted any more', uuid, name, context.request_id)
        return
    perform(job, args)


def perform(job: task.Job, args: dict[str, ty.Any]) -> None:
    """Do an operation."""
    job.context.update_store()  # of this thread, for the log
    LOG.debug('Container %s: %s', job.uuid, job.name)
    try:
        known = CAPSULE_OPERATIONS if isinstance(job.container, objects.Capsule) else OPERATIONS
        known[job.name](job, **args)
    except task.Refused as refused:
        LOG.debug('Container %s: %s', job.uuid, refused)


def change(node: compute_node.Node, context: zun_context.RequestContext, uuid: str,
           patch: dict[str, ty.Any]) -> None:
    """Change a container in the order of its operations, and wait for it.

    :param patch: as for :func:`zun.compute.tasks.update.change`
    :raises NodeTimeout: its turn has not come in time; then it never comes
    """
    result: concurrent.futures.Future[None] = concurrent.futures.Future()
    node.lifecycle.submit(uuid, _change, node, context, uuid, patch, result)
    try:
        result.result(CONF.rpc_response_timeout)
    except concurrent.futures.TimeoutError:
        if result.cancel():
            raise exception.NodeTimeout() from None
        result.result(CONF.rpc_response_timeout)


def _change(node: compute_node.Node, context: zun_context.RequestContext, uuid: str,
            patch: dict[str, ty.Any], result: 'concurrent.futures.Future[None]') -> None:
    if not result.set_running_or_notify_cancel():
        return
    try:
        job = load(node, context, uuid, 'update')
        if job is None or job.container.host != node.host:
            raise exception.ContainerNotFound(container=uuid)
        update.update(job, patch)
    except Exception as error:  # noqa: BLE001 - handed on to the caller
        result.set_exception(error)
    else:
        result.set_result(None)


def load(node: compute_node.Node, context: zun_context.RequestContext, uuid: str,
         name: str | None = None) -> task.Job | None:
    """The rows of a container as they are now; None when it is gone.

    :param name: of the operation; None: the open one
    """
    admin = context.elevated()
    try:
        found, request = objects.ContainerRequest.get_with_container(admin, uuid)
    except exception.ContainerNotFound:
        return None
    container = ty.cast(objects.Container, found)  # or a capsule, which is alike
    name = name or request.operation or ''
    # A scheduler or a reaper sends the create of another one's request.
    own = request.operation == name and request.operation_id
    return task.Job(node, acting(context, container, own or context.request_id), container,
                    request, name)


def acting(context: zun_context.RequestContext, container: 'objects.Container',
           request_id: str) -> zun_context.RequestContext:
    """The context of one API request, for work on a container of any project."""
    return zun_context.RequestContext.from_dict({
        **context.to_dict(), 'request_id': request_id, 'is_admin': True, 'all_projects': True,
        'project_id': context.project_id or container.project_id,
        'user_id': context.user_id or container.user_id})


def _repeated(job: task.Job) -> bool:
    """Whether a message was delivered twice, or after its operation was taken up without it."""
    if job.request.operation_id == job.context.request_id:
        return False
    if not states.ACTIONS.get(job.name, states.ACTIONS['start']).recorded:
        return False
    return journal.seen_before(job.uuid, job.context.request_id)
