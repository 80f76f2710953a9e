# SPDX-License-Identifier: Apache-2.0
"""Who works on a container that is being created, and how it leaves a host or ends without one.

The request's generation is the lock: whoever raises it, by compare-and-swap, has the container
until the time that is set with it. Whatever still refers to an older generation is void.
"""

from collections.abc import Callable
import contextlib
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
from zun.common import states
import zun.conf
from zun.db import clock
from zun.db import requests
from zun.network import driver as network_driver
from zun.placement import ledger as placement_ledger

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)
Context = zun_context.RequestContext

ERROR = 'Error'
EVENT = 'scheduler__schedule_container'

#: Gives ports back that were taken for a container: NetworkDriver.disclaim.
Disclaim = Callable[[Context, str, list[network_driver.RequestedNetwork]], None]


class Scheduler(ty.Protocol):
    def schedule_container(self, context: Context, container_uuid: str,
                           generation: int) -> None: ...


def hand_back(context: Context, container: 'objects.ContainerBase',
              asked: 'objects.ContainerRequest', scheduler: Scheduler | None,
              ledger: placement_ledger.Ledger, reason: str) -> bool:
    """A node gives a container back that it cannot run; all else has been undone there.

    The host is excluded and the scheduler asked again. Once ``[scheduler]/max_attempts`` hosts have
    failed, or the one that was asked for, the container ends in Error with this reason. Its
    allocation is given back by whoever has the container next, never by one that lost it.

    :param asked: the request as the node admitted it
    :param scheduler: who is told at once; None: a reaper finds it
    :returns: False: the container was somebody else's already, and nothing has changed
    """
    host, admin = container.host, context.elevated()
    left = withdraw(admin, asked, host, reason, seconds=0)
    if left is None:
        LOG.info('Container %s is no longer the matter of host %s', container.uuid, host)
        return False
    LOG.info('Container %s leaves host %s: %s', container.uuid, host, reason)
    if hopeless(asked):
        release(ledger, container.uuid)
        give_up(admin, left, asked, reason)
    elif scheduler is not None:
        with contextlib.suppress(exception.BusUnavailable, exception.PoolFull):
            scheduler.schedule_container(context, container.uuid, asked.generation)
    return True


def take(asked: 'objects.ContainerRequest', seconds: float, **changes: ty.Any) -> bool:
    """Raise the generation, and keep reapers away for some seconds by the database's clock.

    :param asked: as it was read; with its new values afterwards
    :param changes: further columns
    :returns: False: somebody else was faster, or the container is gone
    """
    generation = asked.generation
    values = {'generation': generation + 1, **changes}
    try:
        requests.update(asked.container_uuid, {**values, 'retry_at': clock.utc_now(seconds)},
                        expected={'generation': generation})
    except (exception.Conflict, exception.ContainerNotFound):
        return False
    asked.stored(values)
    return True


def place(asked: 'objects.ContainerRequest', host: str, seconds: float) -> bool:
    """Put a container on a host, and keep reapers away for some seconds.

    :param asked: as it was taken; with its new generation afterwards
    :returns: False: somebody else has taken the container since, or it is gone
    """
    generation = asked.generation
    try:
        requests.place(asked.container_uuid, generation, host, seconds)
    except (exception.Conflict, exception.ContainerNotFound):
        return False
    asked.stored({'generation': generation + 1})
    return True


def hopeless(asked: 'objects.ContainerRequest') -> bool:
    """Whether as many hosts have failed as may be tried, or the only one that is wanted."""
    return (asked.attempts >= CONF.scheduler.max_attempts
            or asked.requested_host in (asked.excluded_hosts or ()))


def release(ledger: placement_ledger.Ledger, container_uuid: str,
            provider: str | None = None) -> bool:
    """Free the allocation; False leaves it to the next attempt, or to the audit.

    :param provider: only if it is one of this host
    """
    try:
        ledger.release(container_uuid, provider)
    except exception.ZunException as error:
        LOG.warning('The allocation of container %s cannot be released: %s', container_uuid,
                    error.message)
        return False
    return True


def withdraw(context: Context, asked: 'objects.ContainerRequest', host: str, reason: str,
             seconds: float) -> 'objects.ContainerBase | None':
    """Take a container in Creating off a host, for good.

    :param context: sees all projects
    :param asked: as it was read; with its new values afterwards
    :param reason: shown until the container has another host
    :param seconds: from now until a reaper may look at it
    :returns: the container; None when it is not on this host, or somebody else was faster
    """
    try:
        container = objects.Container.get_any_type(context, asked.container_uuid)
        if (container.host, container.status) != (host, states.CREATING):
            return None
        if not take(asked, seconds, attempts=asked.attempts + 1, claimed=False,
                    excluded_hosts=sorted({*(asked.excluded_hosts or ()), host})):
            return None
        container.host, container.task_state, container.status_reason = None, None, reason
        container.save(context, expected={'host': host, 'status': states.CREATING})
    except (exception.Conflict, exception.ContainerNotFound):
        return None
    return container


def give_up(context: Context, container: 'objects.ContainerBase',
            asked: 'objects.ContainerRequest', reason: str, details: str | None = None,
            disclaim: Disclaim | None = None) -> bool:
    """End a container without a host in Error, with the members of a capsule.

    :param reason: for the user
    :param details: for administrators, in the event of the action
    :param disclaim: gives the ports back that the user brought
    :returns: False: somebody else was faster
    """
    container.status, container.status_reason, container.task_state = states.ERROR, reason, None
    try:
        container.save(context, expected={'host': None, 'status': states.CREATING})
    except (exception.Conflict, exception.ContainerNotFound):
        return False
    LOG.warning('Container %s has no host: %s (%s)', container.uuid, reason, details or reason)
    if isinstance(container, objects.Capsule):
        for member in (*container.init_containers, *container.containers):
            member.status, member.status_reason = states.ERROR, reason
            with contextlib.suppress(exception.ContainerNotFound):
                member.save(context)
    _close(context, container.uuid, asked, details or reason)
    if disclaim is not None and asked.requested_networks:
        pools.guard(disclaim, context, container.uuid, asked.requested_networks)
    return True


def _close(context: Context, container_uuid: str, asked: 'objects.ContainerRequest',
           details: str) -> None:
    """Finish the action and the operation that the container was made for.

    Of an event the API shows administrators the traceback, and nobody the details.
    """
    request_id = asked.operation_id or context.request_id
    with contextlib.suppress(exception.ContainerActionNotFound,
                             exception.ContainerActionEventNotFound):
        objects.ContainerActionEvent.start(
            context, EVENT, container_uuid=container_uuid,
            request_id=request_id).finish(ERROR, traceback=details, details=details)
        objects.ContainerAction.finish(context, container_uuid, request_id, message=ERROR)
    objects.ContainerRequest.finish_operation(context, container_uuid, request_id)
