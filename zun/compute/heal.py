# SPDX-License-Identifier: Apache-2.0
"""What the agent does by itself when a container ended, vanished or fell ill.

``auto_remove`` deletes what has ended or cannot start; ``auto_heal`` makes what vanished anew and
restarts what is unhealthy; what ran before the engine went away, and should run, is started.
"""

import collections.abc
import datetime
import functools
import time
import typing as ty

from oslo_log import log as logging
from oslo_utils import timeutils
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import operations
import zun.conf
from zun.container import driver as container_driver
from zun.rpc import notifications

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

MISSING = 'The container is missing in the engine.'
ILL = 'The container is unhealthy.'
UNHEALTHY = 'unhealthy'
_ALWAYS = 'always'
_ENDED = (states.STOPPED, states.DEAD)
_RAN = (states.RUNNING, states.RESTARTING, states.PAUSED)
_RESTARTED = (_ALWAYS, 'unless-stopped')
#: Actions that say whether a container is to run.
_POWER = frozenset({'create', 'start', 'stop', 'reboot', 'rebuild', 'kill'})
_SECOND_LOOK = 2.0
#: Between the end of what is removed by force and the second look.
_JUST_NOW = datetime.timedelta(seconds=15)
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
        if lost(container, None):
            repair(node, uuid, 'rebuild', {'run': _was_running(container)})
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
    ran, before = container.status in _RAN or _ended_just_now(container), container.status
    container.status, container.status_reason = states.ERROR, MISSING
    if ran:
        container.exit_code = None
    try:
        container.save(expected={'host': node.host, 'status': before, 'task_state': None})
    except (exception.Conflict, exception.ContainerNotFound):
        return
    if container.auto_heal:
        repair(node, uuid, 'rebuild', {'run': ran})


def lost(container: 'objects.ContainerBase',
         seen: container_driver.Observed | None) -> bool:
    """Whether a container in Error is one that could not be made anew, which is tried again.

    :param seen: the engine's view
    """
    return (seen is None and container.status == states.ERROR
            and isinstance(container, objects.Container)
            and container.obj_attr_is_set('auto_heal') and bool(container.auto_heal)
            and bool(container.container_id))


def _ended_just_now(container: 'objects.Container') -> bool:
    """Whether it ended as it was removed, which tells nothing of what its user wants."""
    ended = container.finished_at
    return (ended is not None and timeutils.utcnow() - ended < _JUST_NOW
            and not _stopped_by_its_user(container))


def _was_running(container: 'objects.Container') -> bool:
    """Whether it ran when it was last seen; Error has taken the place of its status."""
    return container.started_at is not None and container.exit_code is None


def found(node: compute_node.Node, uuid: str) -> None:
    """It is there."""
    node.missing.pop(uuid, None)


def consequences(node: compute_node.Node, container: 'objects.Container', before: str,
                 after_gap: bool) -> None:
    """What follows from the state that the row shows now.

    :param before: its status before this look
    """
    policy = (container.restart_policy or {}).get('Name')
    if container.auto_remove and _is_over(container):
        _record(node, container, 'delete', {'force': False, 'stop': False}, 'remove',
                status=states.DELETING)
    elif container.auto_heal and container.health == UNHEALTHY:
        repair(node, container.uuid, 'reboot', {'timeout': None})
    elif (before == states.STOPPED and container.status == states.RUNNING
          and policy == _ALWAYS and _stopped_by_its_user(container)):
        LOG.info('Container %s was stopped by its user, and the engine has started it: it is '
                 'stopped again', container.uuid)
        _record(node, container, 'stop', {'timeout': None}, 'recover')
    elif (after_gap and before in _RAN and container.status == states.STOPPED
          and (policy in _RESTARTED or CONF.compute.resume_container_state)):
        LOG.info('Container %s ran before the engine went away: it is started', container.uuid)
        _record(node, container, 'start', {}, 'recover')


def _is_over(container: 'objects.Container') -> bool:
    """Whether it has ended, or is in Error as it could not be started."""
    return container.status in _ENDED or (
        container.status == states.ERROR and container.exit_code is not None)


def _stopped_by_its_user(container: 'objects.Container') -> bool:
    """Whether the last that was asked of it, with success, is that it ends."""
    for action in objects.ContainerAction.get_by_container_uuid(
            zun_context.get_admin_context(), container.uuid):
        if action.action in _POWER and action.message is None:
            return action.action == 'stop'
    return False


def repair(node: compute_node.Node, uuid: str, verb: str, args: dict[str, ty.Any],
           ill: collections.abc.Callable[[], 'objects.ContainerBase | None'] | None = None,
           ) -> None:
    """Repair a container or capsule when its pause is over; give up after too many repairs.

    :param ill: reads it anew, and answers None when it needs no repair any more
    """
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
    node.timer.after(delay, key, _begin_repair, node, uuid, verb, args,
                     ill or functools.partial(_ill, node, uuid, verb))


def _ill(node: compute_node.Node, uuid: str, verb: str) -> 'objects.Container | None':
    """The container, when it still needs that repair."""
    container = objects.Container.get_by_uuid(zun_context.get_admin_context(), uuid)
    if not container.auto_heal or container.task_state is not None:
        return None
    if verb == 'reboot':
        return container if container.health == UNHEALTHY else None
    try:
        node.engine.inspect(container)
    except exception.EngineGone:
        return container if container.status == states.ERROR else None
    except exception.ZunException as error:
        LOG.info('Container %s is not repaired now: %s', uuid, error.message)
    return None


def _begin_repair(node: compute_node.Node, uuid: str, verb: str, args: dict[str, ty.Any],
                  ill: collections.abc.Callable[[], 'objects.ContainerBase | None']) -> None:
    try:
        container = ill()
    except exception.ContainerNotFound:
        return
    if container is None:
        return
    node.repairs.setdefault(uuid, []).append(time.monotonic())
    if _record(node, container, verb, args, 'heal'):
        notifications.emit(
            zun_context.get_admin_context(), f'zun-compute:{node.host}', 'container.heal',
            {'uuid': uuid, 'project_id': container.project_id, 'user_id': container.user_id,
             'operation': verb, 'reason': container.status_reason or ILL})


def _record(node: compute_node.Node, container: 'objects.ContainerBase', verb: str,
            args: dict[str, ty.Any], why: str, status: str | None = None) -> bool:
    """Accept an operation of the agent's own, and queue it.

    :param why: its request id begins with it
    :returns: whether it was accepted
    """
    context = operations.acting(
        zun_context.get_admin_context(), ty.cast(objects.Container, container),
        f'{why}-{uuidutils.generate_uuid()}')
    try:
        objects.ContainerRequest.record(context, container.uuid, verb, args,
                                        expected_status=container.status, status=status,
                                        action=verb)
        operations.submit(node, context, container.uuid, verb, **args)
    except (exception.Conflict, exception.ContainerNotFound):
        LOG.info('Container %s was changed: no %s', container.uuid, verb)
        return False
    except exception.PoolFull:
        LOG.info('Container %s: %s is left to the next sweep', container.uuid, verb)
    return True
