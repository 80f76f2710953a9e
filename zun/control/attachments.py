# SPDX-License-Identifier: Apache-2.0
"""Networks of containers: what users name, and what they may have."""

import typing as ty

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import policy
from zun.control import clients
from zun.network import driver as network_driver

Context = zun_context.RequestContext
Requested = network_driver.RequestedNetwork

_EXTERNAL = 'network:attach_external_network'


def resolve(context: Context, nets: list[dict[str, ty.Any]]) -> list[Requested]:
    """The networks of a create, in the order of the interfaces; for none, the default network.

    :raises ExternalNetworkAttachForbidden: the caller may not have one of them
    """
    found = clients.get().network.resolve(context, nets)
    for wanted in found:
        outside = wanted['router:external'] and not wanted['shared']
        if outside and not policy.allowed(context, _EXTERNAL):
            raise exception.ExternalNetworkAttachForbidden(network_uuid=wanted['network'])
    return found


def wanted(context: Context, container: 'objects.Container', network: str | None,
           port: str | None, fixed_ip: str | None) -> Requested:
    """One more network for a container that exists.

    :raises Invalid: it has the network already
    """
    net = {'port': port} if port else {'network': network, 'fixed_ip': fixed_ip}
    found = resolve(context, [net])[0]
    if found['network'] in (container.addresses or {}):
        raise exception.Invalid(
            f"Cannot attach port '{port}' to container '{container.uuid}' because another port "
            'on the same network is already attached to this container.' if port else
            f"Network '{network}' is already connected to container '{container.uuid}'.")
    return found


def attached(context: Context, container: 'objects.Container', network: str | None,
             port: str | None) -> str:
    """The id of the network that a container is to leave, by network or port.

    :raises NetworkNotFound, PortNotFound: it does not exist
    :raises Invalid: the container is not on it
    """
    addresses = container.addresses or {}
    if port:
        return _of_port(context, container, addresses, port)
    found = network if network in addresses else \
        clients.get().network.resolve(context, [{'network': network}])[0]['network']
    if found not in addresses:
        raise exception.Invalid(
            f"Network '{network}' is not attached to container '{container.uuid}'.")
    return ty.cast(str, found)


def _of_port(context: Context, container: 'objects.Container',
             addresses: network_driver.Addresses, port: str) -> str:
    by_port = {address['port']: network_id for network_id, found in addresses.items()
               for address in found}
    found = port if port in by_port else clients.get().network.find_port(context, port)
    if found not in by_port:
        raise exception.Invalid(
            f"Port '{port}' is not attached to container '{container.uuid}'.")
    return by_port[found]


def brought(container: 'objects.ContainerBase',
            request: 'objects.ContainerRequest | None') -> list[Requested]:
    """The ports that users brought to a container, at its create or later."""
    asked = list(request.requested_networks or []) if request else []
    found = {wanted['port']: wanted for wanted in asked
             if wanted.get('port') and wanted.get('preserve_on_delete')}
    for network_id, addresses in (container.addresses or {}).items():
        for address in addresses:
            if address.get('preserve_on_delete'):
                found.setdefault(address['port'], {
                    'network': network_id, 'port': address['port'], 'preserve_on_delete': True})
    return list(found.values())
