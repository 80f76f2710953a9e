# SPDX-License-Identifier: Apache-2.0
"""Networks of the nodes."""

import typing as ty

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import clients

Context = zun_context.RequestContext


def create(context: Context, name: str | None, neutron_net_id: str | None) -> dict[str, ty.Any]:
    """Make a network known to the nodes.

    :param name: of a network that Zun itself makes; a network of Neutron has its own
    :param neutron_net_id: None: the network driver makes one, which not every driver can
    :returns: uuid, name, project_id, user_id, network_id, neutron_net_id
    :raises NetworkNotFound: Neutron has no such network
    """
    if neutron_net_id is None:
        return clients.get().network.create_network(context, {'name': name})
    return clients.get().compute.network_create(context, None, neutron_net_id)


def delete(context: Context, neutron_net_id: str) -> None:
    """Remove a network from every node that knows it.

    :raises NetworkNotFound: none does
    :raises Conflict: containers are on it
    """
    admin = context.elevated()
    known = objects.ZunNetwork.list(admin, filters={'neutron_net_id': neutron_net_id})
    if not known:
        raise exception.NetworkNotFound(network=neutron_net_id)
    hosts = sorted(network.host for network in known if network.host)
    if len(hosts) < len(known):
        # Defined by Zun itself: one node forgets it, the others notice.
        hosts = hosts[:1]
    for host in hosts or [None]:
        clients.get().compute.network_delete(context, host, neutron_net_id)
