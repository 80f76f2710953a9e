# SPDX-License-Identifier: Apache-2.0
"""Interfaces and security groups of a container that exists, and networks of the host."""

import contextlib
import typing as ty

from oslo_log import log as logging

from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
from zun.compute import node as compute_node
from zun.compute import task
from zun.network import driver as network_driver

LOG = logging.getLogger(__name__)


def attach(job: task.Job, requested_network: dict[str, ty.Any]) -> None:
    """One more interface."""
    with task.task(job) as undo:
        network = requested_network['network']
        if network not in (job.container.addresses or {}):
            undo.push('interface', _leave, job, network)
        attachment = job.node.network.attach(job.context, job.container, requested_network)
        failpoints.hit('network_attach.done')
        job.container.addresses = {
            **(job.container.addresses or {}),
            attachment.network_id: [dict(address) for address in attachment.addresses]}


def detach(job: task.Job, network: str) -> None:
    """Remove the interface on a network, and give its addresses back.

    :param network: id
    """
    with task.task(job) as undo:
        known = (job.container.addresses or {}).get(network)
        if known:
            undo.push('detach', _attach_again, job, network, known)
        job.node.network.detach(job.context, job.container, network)
        failpoints.hit('network_detach.done')
        job.node.network.release(job.context, job.uuid, network)
        failpoints.hit('network_detach.released')
        job.container.addresses = {
            key: value for key, value in (job.container.addresses or {}).items()
            if key != network}


def add_security_group(job: task.Job, security_group: str) -> None:
    """
    :param security_group: id; one it has already is success
    """
    groups = list(job.container.security_groups or [])
    _set(job, groups if security_group in groups else [*groups, security_group])


def remove_security_group(job: task.Job, security_group: str) -> None:
    """
    :param security_group: id; one it has not is success
    """
    _set(job, [group for group in job.container.security_groups or []
               if group != security_group])


def _set(job: task.Job, groups: list[str]) -> None:
    with task.task(job) as undo:
        undo.push('security groups', _regroup, job)
        job.node.network.set_security_groups(job.context, job.container, groups)
        job.container.security_groups = groups


def settle(job: task.Job) -> None:
    """Bring engine and network to what the row says, after a change that was interrupted.

    Only an address that was given back is not taken again: the row loses it.

    :raises ZunException: it is to be tried again
    """
    network, container = job.node.network, job.container
    known = dict(container.addresses or {})
    held = network.held(job.context, job.uuid)
    for network_id in sorted(held - known.keys()):
        _leave(job, network_id)
    for network_id in sorted(held & known.keys()):
        _attach_again(job, network_id, known[network_id])
    if known.keys() - held:
        container.addresses = {key: known[key] for key in known if key in held}
        container.save(job.context, expected={
            name: getattr(container, name) for name in ('host', 'status', 'task_state')})
    _regroup(job)


def _leave(job: task.Job, network_id: str) -> None:
    """The container is not on a network any more, and has no address there."""
    job.node.network.detach(job.context, job.container, network_id)
    job.node.network.release(job.context, job.uuid, network_id)


def _regroup(job: task.Job) -> None:
    """The security groups are those of the row."""
    with contextlib.suppress(exception.OperationNotSupported):  # a driver without groups
        job.node.network.set_security_groups(job.context, job.container,
                                             job.container.security_groups or [])


def _attach_again(job: task.Job, network_id: str,
                  addresses: list[network_driver.Address]) -> None:
    """An interface that is there stays as it is."""
    try:
        job.node.network.attach(job.context, job.container, {
            'network': network_id, 'port': addresses[0]['port'],
            'fixed_ip': addresses[0]['addr']})
    except (exception.NotFound, exception.Conflict, exception.Invalid) as error:
        LOG.warning('Container %s stays without its interface on network %s: %s', job.uuid,
                    network_id, error.message)


def create(node: compute_node.Node, context: zun_context.RequestContext,
           neutron_net_id: str) -> dict[str, ty.Any]:
    """A network of the host for a network of Neutron."""
    return node.network.create_network(context.elevated(), {'neutron_net_id': neutron_net_id})


def remove(node: compute_node.Node, context: zun_context.RequestContext,
           neutron_net_id: str) -> None:
    """Remove it again.

    :raises NetworkNotFound: there is none
    :raises Conflict: a container is on it
    """
    node.network.delete_network(context.elevated(), neutron_net_id)
