# SPDX-License-Identifier: Apache-2.0
"""Ids, names and addresses of networks without Neutron: the same input, the same id anywhere."""

import collections.abc
import ipaddress
import typing as ty
import uuid

from zun.common import exception

DEFAULT_NAME = 'default'
_ROOT = uuid.uuid5(uuid.NAMESPACE_DNS, 'network.zun.openstack.org')


def _id(*parts: str) -> str:
    return str(uuid.uuid5(_ROOT, '/'.join(parts)))


def default_network_id(project_id: str) -> str:
    """Id of a project's default network."""
    return _id('default', project_id)


def realisation_id(network_id: str, host: str) -> str:
    """Id of a network's row for one host."""
    return _id('host', network_id, host)


def subnet_id(network_id: str, cidr: str) -> str:
    """Id of the block of a network on one host, as addresses show it."""
    return _id('subnet', network_id, cidr)


def port_id(network_id: str, container_uuid: str) -> str:
    """Id of a container's interface on a network, as addresses show it."""
    return _id('port', network_id, container_uuid)


def is_of(container_uuid: str,
          addresses: collections.abc.Mapping[str, list[dict[str, ty.Any]]]) -> bool:
    """Whether all addresses of a container are on such networks."""
    return all(address['port'] == port_id(network_id, container_uuid)
               for network_id, found in addresses.items() for address in found)


def engine_name(realisation: str) -> str:
    """Name of the engine's network."""
    return f'zun-{realisation}'


def bridge_name(realisation: str) -> str:
    """Name of its bridge: interfaces have at most 15 characters."""
    return f'zun{realisation[:8]}'


def check_address(cidr: str, gateway: str, address: str) -> None:
    """Refuse an address that no container of a block can have.

    :raises InvalidValue: it is outside, or the block's own, or the gateway
    """
    block, wanted = ipaddress.ip_network(cidr), ipaddress.ip_address(address)
    if wanted not in block or wanted in (block.network_address, block.broadcast_address):
        raise exception.InvalidValue(f'{address} is no address of the network {cidr}.')
    if wanted == ipaddress.ip_address(gateway):
        raise exception.InvalidValue(f'{address} is the gateway of the network {cidr}.')


def ipv4(address: str) -> str:
    """An IPv4 address in its usual form.

    :raises InvalidValue: it is none
    """
    try:
        return str(ipaddress.IPv4Address(address))
    except ValueError:
        raise exception.InvalidValue(
            f'{address} is no IPv4 address; networks have no IPv6 subnet.') from None
