# SPDX-License-Identifier: Apache-2.0
"""Neutron's ports, wired by Zun itself.

The API's side: what a user names is looked up with his rights; what he brings is claimed with the
service's, so that it can be given back by whoever finds it.
"""

import collections.abc
import ipaddress
import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.network import blocks
from zun.network import driver
from zun.network import neutron as api

Context = zun_context.RequestContext
Factory = collections.abc.Callable[[Context | None], api.Neutron]

DEVICE_OWNER = 'compute:zun'
#: Tag of the ports that Zun made itself, and deletes.
TAG = 'zun'
_BUSY = ('ACTIVE', 'BUILD', 'ERROR')
_SRIOV = ('direct', 'macvtap', 'direct-physical', 'virtio-forwarder')
_FREE = {'device_id': '', 'device_owner': '', 'binding:host_id': ''}


class NativeDriver(driver.NetworkDriver):
    """
    :param engine: the node's container engine; None in the API
    :param neutron: makes clients: for a user, or for the service when there is no context
    """

    def __init__(self, engine: ty.Any = None, neutron: Factory = api.Neutron.of) -> None:
        self._engine = engine
        self._neutron = neutron

    def resolve(self, context: Context,
                nets: list[dict[str, ty.Any]]) -> list[driver.RequestedNetwork]:
        neutron = self._neutron(context)
        if not nets:
            return [_requested(_default_network(neutron, context))]
        found = [_from_port(neutron, context, net['port']) if net.get('port')
                 else _from_network(neutron, net) for net in nets]
        _check_twice(found)
        return found

    def find_port(self, context: Context, ident: str) -> str:
        return _one_port(self._neutron(context), ident)['id']

    def owns(self, container_uuid: str, addresses: driver.Addresses,
             metadata: dict[str, ty.Any] | None) -> bool:
        """All that has ports of Neutron, whoever wired them."""
        return bool(metadata) or not addresses or not blocks.is_of(container_uuid, addresses)

    def claim(self, context: Context, container_uuid: str,
              requested: list[driver.RequestedNetwork]) -> None:
        neutron = self._neutron(None)
        taken: list[driver.RequestedNetwork] = []
        try:
            for wanted in _brought(requested):
                _claim(neutron, context, container_uuid, wanted['port'])
                taken.append(wanted)
        except exception.ZunException:
            self.disclaim(context, container_uuid, taken)
            raise

    def disclaim(self, context: Context, container_uuid: str,
                 requested: list[driver.RequestedNetwork]) -> None:
        neutron = self._neutron(None)
        for wanted in _brought(requested):
            port = neutron.get_port(wanted['port'])
            if port and port['device_id'] == container_uuid:
                neutron.update_port(port['id'], _FREE, revision=port.get('revision_number'))

    def resolve_security_groups(self, context: Context, names: list[str],
                                project_id: str) -> list[str]:
        neutron = self._neutron(context)
        found = [_security_group(neutron, name, project_id) for name in names]
        return list(dict.fromkeys(found))

    def plan(self, context: Context, container: 'objects.Container',
             requested: list[driver.RequestedNetwork]) -> list[driver.Attachment]:
        raise _unwired('plan')

    def attach(self, context: Context, container: 'objects.Container',
               requested: driver.RequestedNetwork) -> driver.Attachment:
        raise _unwired('attach')

    def detach(self, context: Context, container: 'objects.Container', network_id: str) -> None:
        raise _unwired('detach')

    def release(self, context: Context, container_uuid: str,
                network_id: str | None = None) -> None:
        """Delete the ports that Zun made for a container, free those that were brought."""
        neutron = self._neutron(None)
        where = {'network_id': network_id} if network_id else {}
        for port in neutron.list_ports(device_id=container_uuid, **where):
            if TAG in port.get('tags', ()):
                neutron.delete_port(port['id'])
            else:
                neutron.update_port(port['id'], _FREE, revision=port.get('revision_number'))

    def held(self, context: Context, container_uuid: str) -> set[str]:
        return {port['network_id']
                for port in self._neutron(None).list_ports(device_id=container_uuid)}

    def create_network(self, context: Context, values: dict[str, ty.Any]) -> dict[str, ty.Any]:
        raise _unwired('create_network')

    def delete_network(self, context: Context, neutron_net_id: str) -> None:
        raise _unwired('delete_network')


def _unwired(method: str) -> exception.OperationNotSupported:
    return exception.OperationNotSupported(driver='Network driver native', method=method)


def _project(item: api.Item) -> str | None:
    return item.get('project_id') or item.get('tenant_id')


def _requested(network: api.Item, port: api.Item | None = None,
               addresses: ty.Sequence[str] = ()) -> driver.RequestedNetwork:
    found: driver.RequestedNetwork = {
        'network': network['id'], 'port': port['id'] if port else '',
        'router:external': bool(network.get('router:external')),
        'shared': bool(network.get('shared')), 'fixed_ip': addresses[0] if addresses else '',
        'preserve_on_delete': port is not None, 'pci_request_id': None}
    if len(addresses) > 1:
        found['fixed_ips'] = list(addresses)
    return found


def _default_network(neutron: api.Neutron, context: Context) -> api.Item:
    """The oldest network of the project, else the oldest that is shared.

    Networks without a subnet give no address, and external ones are chosen by name only.
    """
    for where in ({'project_id': context.project_id, 'shared': False}, {'shared': True}):
        usable = [network for network in neutron.list_networks(**where)
                  if network.get('subnets') != []
                  and (network.get('shared') or not network.get('router:external'))]
        if usable:
            return min(usable, key=lambda network: (network.get('created_at') or '',
                                                    network['id']))
    raise exception.Conflict('There is no neutron network available')


def _lookup(many: collections.abc.Callable[..., list[api.Item]], ident: str) -> list[api.Item]:
    """What has this id, else what has this name."""
    if uuidutils.is_uuid_like(ident):
        found = many(id=ident)
        if found:
            return found
    return many(name=ident)


def _only(many: collections.abc.Callable[..., list[api.Item]], ident: str, kind: str,
          missing: exception.ZunException) -> api.Item:
    """The one item of an id or name.

    :raises Conflict: several of that name
    """
    found = _lookup(many, ident)
    if not found:
        raise missing
    if len(found) > 1:
        raise exception.Conflict(
            f'Multiple neutron {kind} exist with same name. Please use the uuid instead.')
    return found[0]


def _from_network(neutron: api.Neutron, net: dict[str, ty.Any]) -> driver.RequestedNetwork:
    ident = net['network']
    network = _only(neutron.list_networks, ident, 'networks',
                    exception.NetworkNotFound(network=ident))
    given = [net.get('fixed_ip')] if net.get('fixed_ip') else [
        net.get('v4-fixed-ip'), net.get('v6-fixed-ip')]
    addresses = [address for address in given if address]
    if addresses:
        _check_addresses(neutron, network, addresses)
    return _requested(network, addresses=addresses)


def _check_addresses(neutron: api.Neutron, network: api.Item, addresses: list[str]) -> None:
    blocks = [ipaddress.ip_network(subnet['cidr'])
              for subnet in neutron.list_subnets(network_id=network['id'])]
    for address in addresses:
        if blocks and not any(ipaddress.ip_address(address) in block for block in blocks):
            raise exception.Invalid(
                f"No subnet of network '{network['id']}' contains the address '{address}'.")


def _one_port(neutron: api.Neutron, ident: str) -> api.Item:
    return _only(neutron.list_ports, ident, 'ports', exception.PortNotFound(port=ident))


def _from_port(neutron: api.Neutron, context: Context, ident: str) -> driver.RequestedNetwork:
    port = _one_port(neutron, ident)
    check_port(port, context.project_id)
    networks = neutron.list_networks(id=port['network_id'])
    if not networks:
        raise exception.NetworkNotFound(network=port['network_id'])
    return _requested(networks[0], port)


def check_port(port: api.Item, project_id: str | None) -> None:
    """Refuse a port that a container of a project cannot have.

    :raises PortNotUsable, PortInUse, PortBindingFailed
    """
    ident = port['id']
    if _project(port) != project_id:
        raise exception.PortNotUsable(port=ident)
    if port.get('device_id'):
        raise exception.PortInUse(port=ident)
    if port.get('status') in _BUSY:
        raise exception.PortNotUsable(port=ident)
    if port.get('binding:vif_type') == 'binding_failed':
        raise exception.PortBindingFailed(port=ident)
    if port.get('binding:vnic_type') in _SRIOV:
        raise exception.PortNotUsable(port=ident)


def _check_twice(found: list[driver.RequestedNetwork]) -> None:
    seen: set[tuple[str, str]] = set()
    for wanted in found:
        key = (wanted['network'], wanted['port'])
        if key in seen and wanted['port']:
            raise exception.PortInUse(port=wanted['port'])
        if key in seen:
            raise exception.Invalid(f"Network '{wanted['network']}' is asked for twice.")
        seen.add(key)


def _brought(requested: list[driver.RequestedNetwork]) -> list[driver.RequestedNetwork]:
    return [wanted for wanted in requested
            if wanted.get('port') and wanted.get('preserve_on_delete')]


def _claim(neutron: api.Neutron, context: Context, container_uuid: str, port_id: str) -> None:
    """Compare and swap by the port's revision: of two containers one gets it."""
    port = neutron.get_port(port_id)
    if port is None:
        raise exception.PortNotFound(port=port_id)
    if port.get('device_id') == container_uuid:
        return
    check_port(port, context.project_id)
    changes = {'device_id': container_uuid, 'device_owner': DEVICE_OWNER}
    if not neutron.update_port(port_id, changes, revision=port.get('revision_number')):
        raise exception.PortInUse(port=port_id)


def _security_group(neutron: api.Neutron, name: str, project_id: str) -> str:
    found = _lookup(
        lambda **where: neutron.list_security_groups(project_id=project_id, **where), name)
    if not found:
        raise exception.InvalidValue(f'Security group {name} not found.')
    if len(found) > 1:
        raise exception.Conflict(
            f'Multiple security group matches found for name {name}, '
            'use an ID to be more specific.')
    return found[0]['id']
