# SPDX-License-Identifier: Apache-2.0
"""What the agent does by itself when a container ended, vanished or fell ill.

``auto_remove`` deletes what has ended; ``auto_heal`` makes what vanished anew and restarts what is
unhealthy; what ran before the engine went away, and should run, is started.
"""

import collections.abc
import time
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import operations
import zun.conf

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

MISSING = 'The container is missing in the engine.'
UNHEALTHY = 'unhealthy'
_ENDED = (states.STOPPED, states.DEAD)
_RAN = (states.RUNNING, states.RESTARTING, states.PAUSED)
_RESTARTED = ('always', 'unless-stopped')
_SECOND_LOOK = 2.0
_FIRST_PAUSE = 10.0
_LONGEST_PAUSE = 600.0
_WINDOW = 3600.0


def pause(repairs: collections.abc.Sequence[float], now: float, most: int) -> float | None:
    """Seconds to wait before the next repair; None when there were too many in an hour.

    >>> pause([], 0.0, 5), pause([0.0], 5.0, 5), pause([0.0, 1.0], 2.0, 2)
    (10.0, 15.0, None)
    """
    recent = [moment for moment in repairs if now - moment < _WINDOW]
    if len(recent) >= most:
        return None
    delay = min(_FIRST_PAUSE * 2 ** len(recent), _LONGEST_PAUSE)
    return delay if not recent else max(0.0, recent[-1] + delay - now)


def vanished(node: compute_node.Node, container: 'objects.Container',
             look_again: collections.abc.Callable[[], None]) -> None:
    """The engine, which is well, has no such container. Said twice, it is true."""
    uuid, now = container.uuid, time.monotonic()
    if container.status == states.ERROR:
        return
    first = node.missing.setdefault(uuid, now)
    if now - first < _SECOND_LOOK:
        node.timer.after(_SECOND_LOOK, f'look {uuid}', look_again)
        return
    del node.missing[uuid]
    LOG.warning('Container %s has vanished from the engine', uuid)
    if container.auto_remove:
        _record(node, container, 'delete', {'force': False, 'stop': False}, 'remove',
                status=states.DELETING)
        return
    ran, before = container.status in _RAN, container.status
    container.status, container.status_reason = states.ERROR, MISSING
    try:
        container.save(expected={'host': node.host, 'status': before, 'task_state': None})
    except (exception.Conflict, exception.ContainerNotFound):
        return
    if container.auto_heal:
        _repair(node, uuid, 'rebuild', {'run': ran})


def found(node: compute_node.Node, uuid: str) -> None:
    """It is there."""
    node.missing.pop(uuid, None)


def consequences(node: compute_node.Node, container: 'objects.Container', before: str,
                 after_gap: bool) -> None:
    """What follows from the state that the row shows now.

    :param before: its status before this look
    """
    if container.auto_remove and container.status in _ENDED:
        _record(node, container, 'delete', {'force': False, 'stop': False}, 'remove',
                status=states.DELETING)
    elif container.auto_heal and container.health == UNHEALTHY:
        _repair(node, container.uuid, 'reboot', {'timeout': None})
    elif after_gap and before in _RAN and container.status == states.STOPPED:
        policy = (container.restart_policy or {}).get('Name')
        if policy in _RESTARTED or CONF.compute.resume_container_state:
            LOG.info('Container %s ran before the engine went away: it is started', container.uuid)
            _record(node, container, 'start', {}, 'recover')


def _repair(node: compute_node.Node, uuid: str, verb: str, args: dict[str, ty.Any]) -> None:
    """Repair a container when its pause is over; give up after too many repairs."""
    key = f'heal {uuid}'
    if node.timer.waits(key):
        return
    now = time.monotonic()
    repairs = node.repairs.setdefault(uuid, [])
    repairs[:] = [moment for moment in repairs if now - moment < _WINDOW]
    delay = pause(repairs, now, CONF.compute.heal_max_attempts)
    if delay is None:
        LOG.error('Container %s is not repaired: %d attempts within an hour', uuid, len(repairs))
        return
    LOG.warning('Container %s is repaired by %s in %.0f s', uuid, verb, delay)
    node.timer.after(delay, key, _begin_repair, node, uuid, verb, args)


def _begin_repair(node: compute_node.Node, uuid: str, verb: str, args: dict[str, ty.Any]) -> None:
    try:
        container = objects.Container.get_by_uuid(zun_context.get_admin_context(), uuid)
    except exception.ContainerNotFound:
        return
    ill = container.health == UNHEALTHY if verb == 'reboot' else (
        container.status == states.ERROR and container.status_reason == MISSING)
    if ill and container.auto_heal and container.task_state is None:
        node.repairs.setdefault(uuid, []).append(time.monotonic())
        _record(node, container, verb, args, 'heal')


def _record(node: compute_node.Node, container: 'objects.Container', verb: str,
            args: dict[str, ty.Any], why: str, status: str | None = None) -> None:
    """Accept an operation of the agent's own, and queue it.

    :param why: request id is ``<why>-<uuid>``
    """
    context = operations.acting(zun_context.get_admin_context(), container,
                                f'{why}-{container.uuid}')
    try:
        objects.ContainerRequest.record(context, container.uuid, verb, args,
                                        expected_status=container.status, status=status,
                                        action=verb)
        operations.submit(node, context, container.uuid, verb, **args)
    except (exception.Conflict, exception.ContainerNotFound):
        LOG.info('Container %s was changed: no %s', container.uuid, verb)
    except exception.PoolFull:
        LOG.info('Container %s: %s is left to the next sweep', container.uuid, verb)
