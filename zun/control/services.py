# SPDX-License-Identifier: Apache-2.0
"""Services of the nodes: which are up, which take new containers."""

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import clients

LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
COMPUTE = 'zun-compute'


def is_up(service: 'objects.ZunService') -> bool:
    """Whether a service lived when its row was read, by the database's clock."""
    return service.is_up()


def host_is_up(context: Context, host: str) -> bool:
    """Whether the agent of a host is alive: one look-up. An unknown one is not."""
    try:
        return objects.ZunService.get_by_host_and_binary(context, host, COMPUTE).is_up()
    except exception.ZunServiceNotFound:
        return False


def enable(context: Context, host: str, binary: str) -> 'objects.ZunService':
    """Let new containers on a host. :raises ZunServiceNotFound: there is no such service"""
    return _switch(context, host, binary, disabled=False, reason=None)


def disable(context: Context, host: str, binary: str,
            reason: str | None = None) -> 'objects.ZunService':
    """Keep new containers off a host. :raises ZunServiceNotFound: there is no such service"""
    return _switch(context, host, binary, disabled=True, reason=reason)


def _switch(context: Context, host: str, binary: str, disabled: bool,
            reason: str | None) -> 'objects.ZunService':
    service = objects.ZunService.get_by_host_and_binary(context, host, binary)
    service.disabled = disabled
    service.disabled_reason = reason
    service.save()
    _tell_ledger(context, service)
    return service


def _tell_ledger(context: Context, service: 'objects.ZunService') -> None:
    """Save the scheduler candidates it would refuse. The node repeats this with its inventory."""
    if service.binary != COMPUTE:
        return
    closed = bool(service.disabled or service.forced_down)
    try:
        node = objects.ComputeNode.get_by_name(context, service.host)
        clients.get().ledger.set_disabled(node.rp_uuid, closed)
    except exception.ZunException as error:
        LOG.warning('The ledger does not know yet that host %s is %s: %s', service.host,
                    'closed' if closed else 'open', error.message)


def force_down(context: Context, host: str, binary: str,
               forced_down: bool) -> 'objects.ZunService':
    """Declare a service to be down, or no longer; whatever it says of itself.

    :raises ZunServiceNotFound: there is no such service
    """
    service = objects.ZunService.get_by_host_and_binary(context, host, binary)
    service.forced_down = forced_down
    service.save()
    _tell_ledger(context, service)
    return service


def delete(context: Context, host: str, binary: str) -> None:
    """Forget a service, and with the agent of a host the host itself.

    :raises ZunServiceNotFound: there is no such service
    :raises Conflict: the host has containers
    """
    service = objects.ZunService.get_by_host_and_binary(context, host, binary)
    if binary == COMPUTE:
        _forget_host(context.elevated(), host)
    service.destroy()


def _forget_host(context: Context, host: str) -> None:
    for kind in (objects.Container, objects.Capsule):
        if kind.list(context, limit=1, filters={'host': host}):
            raise exception.Conflict(f'Host {host} has containers: move or delete them first.')
    try:
        node = objects.ComputeNode.get_by_name(context, host)
    except exception.ComputeNodeNotFound:
        return
    try:
        clients.get().ledger.forget(node.rp_uuid)
    except exception.ZunException as error:
        LOG.warning('The ledger keeps host %s: %s', host, error.message)
    node.destroy()


def zones(context: Context) -> list[str | None]:
    """The zones of all services, each once, in order; None for services without one."""
    found = {service.availability_zone for service in objects.ZunService.list(context)}
    return sorted(found, key=lambda zone: zone or '')
