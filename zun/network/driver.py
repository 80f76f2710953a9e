# SPDX-License-Identifier: Apache-2.0
"""How containers get on a network.

A driver has two sides. The API's side resolves what a user names, and claims what the user brings,
before a request is accepted. The node's side wires a container: ``plan`` says what the engine has
to know when it makes the container, ``plug`` completes what cannot be told to the engine,
``unplug`` and ``release`` undo. Every step is idempotent and findable by the container's uuid.
"""

import abc
import dataclasses
import typing as ty

from stevedore import driver as stevedore_driver
from stevedore import exception as stevedore_exception

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
import zun.conf

CONF = zun.conf.CONF
NAMESPACE = 'zun.network.driver'

Context = zun_context.RequestContext
#: As stored in container_request.requested_networks: {'network': id, 'port': id or '', 'fixed_ip':
#: address or '', 'router:external': bool, 'shared': bool, 'preserve_on_delete': bool,
#: 'pci_request_id': uuid or None}
RequestedNetwork = dict[str, ty.Any]
#: As stored in container.addresses: network id -> [{'addr', 'version', 'port', 'subnet_id',
#: 'preserve_on_delete'}]
Address = dict[str, ty.Any]
Addresses = dict[str, list[Address]]


@dataclasses.dataclass(frozen=True)
class EngineNetwork:
    """A bridge network that the engine makes."""

    name: str
    bridge: str
    cidr: str
    gateway: str
    mtu: int
    labels: dict[str, str]
    isolated: bool = False


@dataclasses.dataclass(frozen=True)
class Attachment:
    """One interface of a container.

    :ivar engine_network: name of the engine's network; None: the driver wires it itself
    :ivar addresses: as stored, for this network
    :ivar aliases: names under which others on the network find it
    """

    network_id: str
    addresses: tuple[dict[str, ty.Any], ...]
    engine_network: str | None = None
    mac: str | None = None
    aliases: tuple[str, ...] = ()

    def address(self, version: int) -> str | None:
        """Its first address of IP version 4 or 6."""
        return next((a['addr'] for a in self.addresses if a['version'] == version), None)


class NetworkDriver(abc.ABC):
    # The API's side ---------------------------------------------------------------------------

    @abc.abstractmethod
    def resolve(self, context: Context, nets: list[dict[str, ty.Any]]) -> list[RequestedNetwork]:
        """The networks and ports that a request names; for none, the default network.

        :param nets: validated ``nets`` of a create: ``network`` or ``port``, ``v4-fixed-ip``,
            ``v6-fixed-ip``, ``fixed_ip``
        :raises NetworkNotFound, PortNotFound, Conflict, PortInUse, PortNotUsable,
            PortBindingFailed
        """

    @abc.abstractmethod
    def claim(self, context: Context, container_uuid: str,
              requested: list[RequestedNetwork]) -> None:
        """Take the ports the user brought, all or none. :raises PortInUse: somebody was faster"""

    @abc.abstractmethod
    def disclaim(self, context: Context, container_uuid: str,
                 requested: list[RequestedNetwork]) -> None:
        """Give them back."""

    @abc.abstractmethod
    def resolve_security_groups(self, context: Context, names: list[str],
                                project_id: str) -> list[str]:
        """Ids of security groups given by name or id, without duplicates.

        :raises InvalidValue: `Security group <name> not found.`
        :raises Conflict: an ambiguous name
        """

    def find_port(self, context: Context, ident: str) -> str:
        """The id of a port given by name or id, in whatever state it is.

        :raises PortNotFound: there is none, or users bring no ports to this driver
        :raises Conflict: an ambiguous name
        """
        raise exception.PortNotFound(port=ident)

    # The node's side --------------------------------------------------------------------------

    @abc.abstractmethod
    def plan(self, context: Context, container: 'objects.Container',
             requested: list[RequestedNetwork]) -> list[Attachment]:
        """Addresses for a container, in the order of its interfaces; what it already has is kept.

        :raises Conflict: a wanted address is taken
        """

    def plug(self, context: Context, container: 'objects.Container',
             attachments: list[Attachment]) -> None:
        """Wire the interfaces that the engine does not, before the first instruction runs."""

    def unplug(self, context: Context, container: 'objects.Container') -> None:
        """Undo plug."""

    @abc.abstractmethod
    def release(self, context: Context, container_uuid: str,
                network_id: str | None = None) -> None:
        """Give addresses and ports back: of one network, or all."""

    @abc.abstractmethod
    def attach(self, context: Context, container: 'objects.Container',
               requested: RequestedNetwork) -> Attachment:
        """One more interface for a container that exists in the engine."""

    @abc.abstractmethod
    def detach(self, context: Context, container: 'objects.Container', network_id: str) -> None:
        """Remove the interface on a network."""

    @abc.abstractmethod
    def held(self, context: Context, container_uuid: str) -> set[str]:
        """Ids of the networks on which a container has addresses or ports."""

    @abc.abstractmethod
    def create_network(self, context: Context, values: dict[str, ty.Any]) -> dict[str, ty.Any]:
        """``POST /v1/networks``; the view's members."""

    @abc.abstractmethod
    def delete_network(self, context: Context, neutron_net_id: str) -> None:
        """:raises NetworkNotFound, Conflict"""

    def owns(self, container_uuid: str, addresses: Addresses,
             metadata: dict[str, ty.Any] | None) -> bool:
        """Whether it can undo how a container was wired, by itself or by another driver.

        :param addresses: as stored; none if the container has no interfaces
        :param metadata: the column cni_metadata, which drivers without networks of the engine keep
        """
        return True

    def set_security_groups(self, context: Context, container: 'objects.Container',
                            groups: list[str]) -> None:
        """Make the ports of a container belong to these groups."""
        raise exception.OperationNotSupported(driver=type(self).__name__,
                                              method='security groups')


def addresses_of(attachments: list[Attachment]) -> Addresses:
    """The addresses column for these interfaces."""
    return {attachment.network_id: [dict(a) for a in attachment.addresses]
            for attachment in attachments}


def check_containers(network: NetworkDriver, context: Context, host: str) -> None:
    """Refuse to serve a host whose containers another driver wired.

    :raises ConfigInvalid: there are such containers
    """
    foreign = [found.uuid for found in objects.Container.list_any_by_host(context, host)
               if not network.owns(found.uuid, found.addresses or {}, found.cni_metadata)]
    if foreign:
        raise exception.ConfigInvalid(error_msg=(
            f'[network]/driver {CONF.network.driver}: {len(foreign)} containers of this host '
            f'({foreign[0]} ...) were wired by another driver. Go back to that one, or delete '
            'them first.'))


def load(**kwargs: ty.Any) -> NetworkDriver:
    """The configured driver.

    :param kwargs: handed to the driver: ``engine``, the ContainerDriver, on a node
    :raises ConfigInvalid: there is none of that name
    """
    try:
        found: ty.Any = stevedore_driver.DriverManager(
            NAMESPACE, CONF.network.driver, invoke_on_load=True, invoke_kwds=kwargs).driver
        return found
    except stevedore_exception.NoMatches:
        raise exception.ConfigInvalid(
            error_msg=f'[network]/driver: no driver {CONF.network.driver!r}') from None
