# SPDX-License-Identifier: Apache-2.0
"""The neighbours of a recorded scenario: networks, volumes, images as the control layer sees them.

``world`` of a scenario holds networks, ports and security groups as Neutron's API shows them, and
volumes as Cinder's does.
"""

import collections.abc
import typing as ty

from zun.common import exception
from zun.network import driver as network_driver

Json = dict[str, ty.Any]

#: Id of every volume that is made.
NEW_VOLUME = '0f0e0d0c-0b0a-4908-8706-050403020100'
_UNUSABLE = ('ACTIVE', 'BUILD', 'ERROR')


def _find(items: list[Json], ident: str, missing: Exception, ambiguous: str) -> Json:
    """The item of an id, else the only one of a name."""
    by_id = [item for item in items if item['id'] == ident]
    found = by_id or [item for item in items if item['name'] == ident]
    if not found:
        raise missing
    if len(found) > 1:
        raise exception.Conflict(ambiguous)
    return found[0]


class Networks(network_driver.NetworkDriver):
    """Neutron as the scenario describes it. Nodes do not use it."""

    def __init__(self, neutron: Json) -> None:
        self._networks = neutron.get('networks', [])
        self._ports = neutron.get('ports', [])
        self._groups = neutron.get('security_groups', [])

    def resolve(self, context: ty.Any, nets: list[Json]) -> list[Json]:
        if not nets:
            return [self._requested(self._default(context.project_id))]
        return [self._port(context, net['port']) if net.get('port') else
                self._requested(self._network(net['network']), fixed_ip=_address(net))
                for net in nets]

    def _default(self, project_id: str) -> Json:
        own = [net for net in self._networks
               if net['tenant_id'] == project_id and not net['shared']]
        usable = own or [net for net in self._networks if net['shared']]
        if not usable:
            raise exception.Conflict('There is no neutron network available')
        return min(usable, key=lambda net: net['created_at'])

    def _network(self, ident: str) -> Json:
        return _find(self._networks, ident, exception.NetworkNotFound(network=ident),
                     'Multiple neutron networks exist with same name. '
                     'Please use the uuid instead.')

    def _named_port(self, ident: str) -> Json:
        return _find(self._ports, ident, exception.PortNotFound(port=ident),
                     'Multiple neutron ports exist with same name. Please use the uuid instead.')

    def _port(self, context: ty.Any, ident: str) -> Json:
        port = self._named_port(ident)
        if port.get('tenant_id') != context.project_id and not context.is_admin:
            raise exception.PortNotUsable(port=port['id'])
        if port.get('device_id'):
            raise exception.PortInUse(port=port['id'])
        if port.get('status') in _UNUSABLE:
            raise exception.PortNotUsable(port=port['id'])
        if port.get('binding:vif_type') == 'binding_failed':
            raise exception.PortBindingFailed(port=port['id'])
        return self._requested(self._network(port['network_id']), port=port['id'],
                               preserve_on_delete=True)

    def _requested(self, network: Json, port: str = '', fixed_ip: str = '',
                   preserve_on_delete: bool = False) -> Json:
        return {'network': network['id'], 'port': port, 'fixed_ip': fixed_ip,
                'router:external': network['router:external'], 'shared': network['shared'],
                'preserve_on_delete': preserve_on_delete, 'pci_request_id': None}

    def find_port(self, context: ty.Any, ident: str) -> str:
        return self._named_port(ident)['id']

    def claim(self, context: ty.Any, container_uuid: str, requested: list[Json]) -> None:
        """Ports are free in all scenarios that get here."""

    def disclaim(self, context: ty.Any, container_uuid: str, requested: list[Json]) -> None:
        """Nothing was claimed."""

    def resolve_security_groups(self, context: ty.Any, names: list[str],
                                project_id: str) -> list[str]:
        groups = [group for group in self._groups if group['tenant_id'] == project_id]
        found = [_find(groups, name,
                       exception.InvalidValue(f'Security group {name} not found.'),
                       f'Multiple security group matches found for name {name}, '
                       'use an ID to be more specific.')['id'] for name in names]
        return list(dict.fromkeys(found))

    def release(self, context: ty.Any, container_uuid: str,
                network_id: str | None = None) -> None:
        """Nothing was made."""

    def plan(self, *args: ty.Any) -> ty.NoReturn:
        raise NotImplementedError

    attach = detach = held = create_network = delete_network = plan


def _address(net: Json) -> str:
    return net.get('v4-fixed-ip') or net.get('v6-fixed-ip') or net.get('fixed_ip') or ''


class Volumes:
    """Cinder as the scenario describes it.

    :param tell: gets the size of each volume that is made
    """

    def __init__(self, cinder: Json, tell: collections.abc.Callable[[int], None]) -> None:
        self._cinder = cinder
        self._tell = tell

    def find(self, context: ty.Any, ident: str) -> Json:
        return _find(self._cinder.get('volumes', []), ident,
                     exception.VolumeNotFound(volume=ident),
                     'Multiple cinder volumes exist with same name. '
                     'Please use the uuid instead.')

    def create(self, context: ty.Any, size: int) -> str:
        if self._cinder.get('create_error'):
            raise exception.VolumeCreateFailed(
                creation_failed=f'{self._cinder["create_error"]} (HTTP 413)')
        self._tell(size)
        return NEW_VOLUME

    def delete(self, context: ty.Any, volume_id: str) -> None:
        """No scenario looks."""


class Images:
    """Glance; the id of an image is what the node answered in the recording."""

    next_id = ''

    def create(self, context: ty.Any, name: str, tags: ty.Sequence[str],
               properties: ty.Mapping[str, str]) -> str:
        return self.next_id

    def delete(self, context: ty.Any, image_id: str) -> None:
        """No scenario looks."""


class Ledger:
    """Holds nothing; the scenario's scheduler does not ask it."""

    def release(self, consumer_uuid: str, provider: str | None = None) -> None:
        pass

    def set_disabled(self, provider: str, disabled: bool) -> None:
        pass

    def forget(self, provider: str) -> None:
        pass
