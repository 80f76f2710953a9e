# SPDX-License-Identifier: Apache-2.0
"""The members of a capsule: looked at, started, removed, in the FIFO of their capsule."""

import collections.abc
import concurrent.futures
import contextlib
import functools
import typing as ty

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import observation
from zun.compute import pod
from zun.compute import task
from zun.compute.tasks import power
from zun.container import capsule as capsule_driver
from zun.container import driver as container_driver

#: Seconds that a member gets to end by itself.
_GRACE = 10
_AT_A_TIME = 8


def runner(node: compute_node.Node) -> capsule_driver.CapsuleDriver:
    """
    :raises ResourcesUnavailable: this host runs no capsules
    """
    if node.capsules is None:
        raise exception.ResourcesUnavailable(reason='the host runs no capsules')
    return node.capsules


def of(capsule: ty.Any) -> 'list[ty.Any]':
    """Init containers first, each kind in its order; a plain container has none."""
    if not isinstance(capsule, objects.Capsule):
        return []
    return [*capsule.init_containers, *capsule.containers]


def policy(capsule: ty.Any) -> str:
    """Name of the restart policy."""
    return (capsule.restart_policy or {}).get('Name') or pod.ALWAYS


def look(node: compute_node.Node, container: ty.Any) -> container_driver.Observed | None:
    """The engine's view of a member or sandbox; None when it is gone."""
    try:
        return runner(node).inspect(container)
    except exception.EngineGone:
        return None


def see(node: compute_node.Node, member: ty.Any) -> pod.Part:
    """Look at a member and have its row follow."""
    seen = look(node, member)
    if seen is None:
        return pod.Part(member.name, there=False, running=False)
    return follow(member, seen)


def follow(member: ty.Any, seen: container_driver.Observed) -> pod.Part:
    """The row of a member says what the engine says."""
    observation.apply(member, seen,
                      states.CREATED if member.status == states.CREATING else None)
    save(member)
    return pod.Part(member.name, running=seen.running,
                    restarting=seen.status == states.RESTARTING, exit_code=seen.exit_code)


def save(member: ty.Any) -> None:
    """Write what has changed, if it is still there."""
    with contextlib.suppress(exception.ContainerNotFound):
        member.save()


def start(node: compute_node.Node, member: ty.Any) -> pod.Part:
    """
    :raises Conflict: its process cannot be started
    """
    seen = runner(node).start(member)
    part = follow(member, seen)
    power.check_started(seen)
    return part


def every(act: collections.abc.Callable[[ty.Any], None], members: 'list[ty.Any]') -> None:
    """Do something to all members at a time.

    :raises ZunException: of the first that failed, after all have been tried
    """
    if not members:
        return
    with concurrent.futures.ThreadPoolExecutor(min(len(members), _AT_A_TIME), 'capsule') as pool:
        tried = [pool.submit(act, member) for member in members]
    for each in tried:
        each.result()


def stop(node: compute_node.Node, member: ty.Any) -> None:
    """End it; one that does not run or is gone is success."""
    with contextlib.suppress(exception.EngineGone, exception.Conflict):
        runner(node).stop(member, _GRACE)


def remove(job: task.Job) -> None:
    """Remove all that the engine has of a capsule: members together, then the sandbox.

    Whatever is missing is success; a plain container has none of it.
    """
    capsule = job.container
    made = job.node.capsules is not None or capsule.container_id
    if not isinstance(capsule, objects.Capsule) or not made:
        return
    driver = runner(job.node)
    every(functools.partial(_remove, job.node), of(capsule))
    driver.delete(job.uuid)


def _remove(node: compute_node.Node, member: ty.Any) -> None:
    stop(node, member)
    runner(node).delete(member.uuid)


def forget(capsule: ty.Any, status: str, reason: str | None = None,
           host: str | None = None) -> None:
    """The rows of members that the engine does not have any more.

    :param host: where they are to be made
    """
    for member in of(capsule):
        member.status, member.status_reason, member.status_detail = status, reason, None
        member.host, member.container_id = host, None
        save(member)
