# SPDX-License-Identifier: Apache-2.0
"""Networks without Neutron: bridges of the engine, with addresses kept in Zun's database.

A network is defined by one row of table ``network`` without a host, whose uuid is the network's
id. On each host where a container uses it, it is realised: a row with the host, a block of
``[embedded_network]/address_pool`` of its own and a bridge of the engine. Bridges of different
hosts are not connected.
"""

import collections
import threading
import typing as ty

from oslo_log import log as logging
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
import zun.conf
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import driver

if ty.TYPE_CHECKING:
    from zun.container import driver as container_driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext

LABEL = 'org.openstack.zun'
_COMPUTE = 'zun-compute'
_DEFAULT_GROUP = 'default'
_IN_VIEW = ('uuid', 'name', 'project_id', 'user_id', 'network_id', 'neutron_net_id')


def check_hosts(context: Context) -> None:
    """Refuse to serve one of several hosts, unless the operator knows what that means.

    :raises ConfigInvalid: there are other compute hosts
    """
    others = sorted(service.host for service in
                    objects.ZunService.list_by_binary(context, _COMPUTE)
                    if service.host != CONF.host)
    if not others:
        return
    if not CONF.embedded_network.allow_multiple_hosts:
        raise exception.ConfigInvalid(
            error_msg='[network]/driver embedded is for one compute host, and there are others: '
                      f"{', '.join(others)}. Set [embedded_network]/allow_multiple_hosts to go on.")
    LOG.warning('There are other compute hosts (%s): containers of one network on different hosts '
                'do not reach each other', ', '.join(others))


class EmbeddedDriver(driver.NetworkDriver):
    """
    :param engine: the node's container engine; None in the API
    """

    def __init__(self, engine: 'container_driver.ContainerDriver | None' = None) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        #: One for each network of this host: nobody waits for the bridge of another network.
        self._making: dict[str, threading.Lock] = collections.defaultdict(threading.Lock)
        #: Row and block by the row's uuid; neither changes while containers use the network.
        self._realised: dict[str, tuple[objects.ZunNetwork, dict[str, ty.Any]]] = {}
        #: Blocks that the engine would not take, as something else has them.
        self._refused: set[str] = set()

    # The API's side -----------------------------------------------------------------------------

    def resolve(self, context: Context,
                nets: list[dict[str, ty.Any]]) -> list[driver.RequestedNetwork]:
        """
        :raises NetworkNotFound, PortNotFound, Conflict: as for Neutron
        :raises InvalidValue: a network twice, or an address it cannot give
        """
        found = [self._resolve(context, net) for net in nets or [{}]]
        ids = [wanted['network'] for wanted in found]
        for network_id in ids:
            if ids.count(network_id) > 1:
                raise exception.InvalidValue(f"Network '{network_id}' is asked for twice.")
        return found

    def _resolve(self, context: Context, net: dict[str, ty.Any]) -> driver.RequestedNetwork:
        if net.get('port'):
            raise exception.PortNotFound(port=net['port'])
        own = blocks.default_network_id(_owner(context))
        ident = net.get('network')
        # The default network is defined by the first host that makes it.
        network_id = own if ident in (None, '', blocks.DEFAULT_NAME, own) else \
            _visible(context, ident, own)
        addresses = [net[key] for key in ('fixed_ip', 'v4-fixed-ip', 'v6-fixed-ip')
                     if net.get(key)]
        # The IPv6 one is refused even next to an IPv4 one.
        fixed_ip = [blocks.ipv4(address) for address in addresses][:1]
        for address in fixed_ip:
            _check_free(context, network_id, address)
        return {'network': network_id, 'port': '', 'fixed_ip': fixed_ip[0] if fixed_ip else '',
                'router:external': False, 'shared': network_id != own,
                'preserve_on_delete': False, 'pci_request_id': None}

    def owns(self, container_uuid: str, addresses: driver.Addresses,
             metadata: dict[str, ty.Any] | None) -> bool:
        return not metadata and blocks.is_of(container_uuid, addresses)

    def claim(self, context: Context, container_uuid: str,
              requested: list[driver.RequestedNetwork]) -> None:
        """Nobody brings ports."""

    def disclaim(self, context: Context, container_uuid: str,
                 requested: list[driver.RequestedNetwork]) -> None:
        """Nobody brought ports."""

    def resolve_security_groups(self, context: Context, names: list[str],
                                project_id: str) -> list[str]:
        """
        :raises InvalidValue: any but ``default``, which is no group here
        """
        for name in names:
            if name != _DEFAULT_GROUP:
                raise exception.InvalidValue(f'Security group {name} not found.')
        return []

    def create_network(self, context: Context, values: dict[str, ty.Any]) -> dict[str, ty.Any]:
        """Define a network for all projects; hosts make it when a container first uses it.

        :param values: ``name``; or ``neutron_net_id``, of a network that is defined already
        :raises NetworkNotFound: there is none of that id
        """
        known = values.get('neutron_net_id')
        if known:
            network = _definition(context, known)
            if network is None:
                raise exception.NetworkNotFound(network=known)
        else:
            uuid = uuidutils.generate_uuid()
            network = objects.ZunNetwork(
                uuid=uuid, neutron_net_id=uuid, network_id=uuid, name=values.get('name'),
                project_id=context.project_id, user_id=context.user_id)
            network.create(context)
        return {name: getattr(network, name) for name in _IN_VIEW}

    def delete_network(self, context: Context, neutron_net_id: str) -> None:
        """Remove a network and, on a node, its bridge; other hosts remove theirs by ``sweep``."""
        rows = _rows(context, neutron_net_id)
        definition = next((row for row in rows if _defines(row)), None)
        if definition is None:
            raise exception.NetworkNotFound(network=neutron_net_id)
        realisations = [row for row in rows if row is not definition]
        users = [user for row in realisations
                 for user in embedded_networks.holders(row.uuid).values()]
        if users:
            raise exception.Conflict(
                f'Network {neutron_net_id} is in use by {len(users)} containers.')
        definition.destroy(context)
        for row in realisations:
            if self._engine is not None and row.host == CONF.host:
                self._unmake(context, row)

    # The node's side ----------------------------------------------------------------------------

    def plan(self, context: Context, container: 'objects.Container',
             requested: list[driver.RequestedNetwork]) -> list[driver.Attachment]:
        """
        :raises NetworkNotFound: a network was deleted meanwhile
        :raises InvalidValue: a wanted address is not one of this host's block
        :raises Conflict: a wanted address is taken, or there is none left
        """
        return [self._plan(context, container, wanted) for wanted in requested]

    def _plan(self, context: Context, container: 'objects.Container',
              wanted: driver.RequestedNetwork) -> driver.Attachment:
        network_id = wanted['network']
        row, block = self._realise(context, network_id)
        try:
            address = _allocate(row.uuid, block, container.uuid, wanted.get('fixed_ip'))
        except exception.NetworkNotFound:
            self._realised.pop(row.uuid, None)
            raise
        name = container.hostname or container.name
        return driver.Attachment(
            network_id=network_id, engine_network=blocks.engine_name(row.uuid),
            addresses=({'addr': address, 'version': 4,
                        'port': blocks.port_id(network_id, container.uuid),
                        'subnet_id': blocks.subnet_id(network_id, block['cidr']),
                        'preserve_on_delete': False},),
            aliases=(name,) if name else ())

    def release(self, context: Context, container_uuid: str,
                network_id: str | None = None) -> None:
        if network_id is None:
            embedded_networks.release(None, container_uuid)
            return
        for row in _rows(context, network_id):
            embedded_networks.release(row.uuid, container_uuid)

    def attach(self, context: Context, container: 'objects.Container',
               requested: driver.RequestedNetwork) -> driver.Attachment:
        """
        :raises NetworkNotFound, InvalidValue, Conflict: as of ``plan``
        """
        held = embedded_networks.addresses_of(container.uuid)
        attachment = self._plan(context, container, requested)
        failpoints.hit('network_attach.planned')
        try:
            self._node_engine.connect(container, attachment)
        except (exception.Invalid, exception.NotFound, exception.Conflict):
            # After any other error it may be connected: the address stays its own.
            row = blocks.realisation_id(attachment.network_id, CONF.host)
            if row not in held:
                embedded_networks.release(row, container.uuid)
            raise
        return attachment

    def detach(self, context: Context, container: 'objects.Container', network_id: str) -> None:
        """The address stays the container's until ``release``."""
        for row in _rows(context, network_id):
            if row.host == CONF.host:
                self._node_engine.disconnect(container, blocks.engine_name(row.uuid))

    def held(self, context: Context, container_uuid: str) -> set[str]:
        return {objects.ZunNetwork.get_by_uuid(context.elevated(), uuid).neutron_net_id
                for uuid in embedded_networks.addresses_of(container_uuid)}

    def sweep(self, context: Context) -> None:
        """Remove the bridges of this host whose network was deleted elsewhere."""
        rows = [row for row in objects.ZunNetwork.list(
            context.elevated(), filters={'host': CONF.host}) if _is_realisation(row)]
        defined = {row.uuid for row in objects.ZunNetwork.list(context.elevated(), filters={
            'neutron_net_id': [row.neutron_net_id for row in rows], 'host': None})}
        for row in rows:
            if row.neutron_net_id in defined:
                continue
            try:
                self._unmake(context, row)
            except exception.Conflict as error:
                LOG.info('Network %s is left on this host: %s', row.neutron_net_id, error)
                if _is_default(row):  # it was deleted just before a container came to use it
                    _define_default(row.neutron_net_id, row.project_id, row.user_id)

    @property
    def _node_engine(self) -> 'container_driver.ContainerDriver':
        if self._engine is None:
            raise exception.OperationNotSupported(driver='The API', method='wiring of containers')
        return self._engine

    def _realise(self, context: Context,
                 network_id: str) -> tuple['objects.ZunNetwork', dict[str, ty.Any]]:
        """The network's row and block on this host, with its bridge made.

        :raises NetworkNotFound: the network was deleted
        :raises Conflict: there is no free block, or the engine refuses the bridge
        """
        with self._made_once(network_id):
            known = self._realised.get(blocks.realisation_id(network_id, CONF.host))
            row, block = known or self._find(context, network_id)
            engine_id, block = self._bridge(row, block)
            if row.network_id != engine_id:
                row.network_id = engine_id
                row.save(context)
            self._realised[row.uuid] = row, block
            return row, block

    def _find(self, context: Context,
              network_id: str) -> tuple['objects.ZunNetwork', dict[str, ty.Any]]:
        """The network's row and block on this host, made at first use."""
        rows = _rows(context, network_id)
        if not any(_defines(row) for row in rows):
            if network_id != blocks.default_network_id(_owner(context)):
                raise exception.NetworkNotFound(network=network_id)
            rows.append(_define_default(network_id, context.project_id, context.user_id))
        row = next((row for row in rows if _is_realisation(row) and row.host == CONF.host),
                   None) or _new_realisation(context, rows[0])
        options = CONF.embedded_network
        block = embedded_networks.get(row.uuid) or embedded_networks.get_or_create(
            row.uuid, options.address_pool, options.subnet_prefix, options.mtu, self._foreign())
        return row, block

    def _foreign(self) -> set[str]:
        return {*self._node_engine.network_blocks(), *self._refused}

    def _bridge(self, row: 'objects.ZunNetwork',
                block: dict[str, ty.Any]) -> tuple[str, dict[str, ty.Any]]:
        """The engine's id of the bridge, and its block: another one where it was taken meanwhile.

        :raises Conflict: containers have addresses of the block, or there is no free one
        """
        while True:
            try:
                return self._make(_engine_network(row, block)), block
            except exception.AddressBlockInUse:
                LOG.warning('Block %s of network %s is used by something else on this host',
                            block['cidr'], row.neutron_net_id)
                self._refused.add(block['cidr'])
            options = CONF.embedded_network
            block = embedded_networks.replace(
                row.uuid, options.address_pool, options.subnet_prefix, self._foreign())

    def _made_once(self, network_id: str) -> threading.Lock:
        with self._lock:
            return self._making[network_id]

    def _make(self, network: driver.EngineNetwork) -> str:
        try:
            return self._node_engine.create_network(network)
        except exception.AddressBlockInUse:
            raise
        except exception.Conflict:
            # One of the same name but of another block, as an earlier database left it.
            self._node_engine.remove_network(network.name)
            return self._node_engine.create_network(network)

    def _unmake(self, context: Context, row: 'objects.ZunNetwork') -> None:
        """
        :raises Conflict: a container uses it
        """
        with self._made_once(row.neutron_net_id):
            if embedded_networks.holders(row.uuid):
                raise exception.Conflict('containers use it')
            self._realised.pop(row.uuid, None)
            self._node_engine.remove_network(blocks.engine_name(row.uuid))
            embedded_networks.remove(row.uuid)
            row.destroy(context)


def _owner(context: Context) -> str:
    return context.project_id or context.user_id or ''


def _defines(row: 'objects.ZunNetwork') -> bool:
    """Rows of a database that another driver wrote are neither definition nor realisation."""
    return row.host is None and row.uuid == row.neutron_net_id


def _is_realisation(row: 'objects.ZunNetwork') -> bool:
    return bool(row.host) and row.uuid == blocks.realisation_id(row.neutron_net_id, row.host)


def _rows(context: Context, network_id: str) -> list['objects.ZunNetwork']:
    found = objects.ZunNetwork.list(context.elevated(), filters={'neutron_net_id': network_id})
    return [row for row in found if _defines(row) or _is_realisation(row)]


def _definition(context: Context, network_id: str) -> 'objects.ZunNetwork | None':
    return next((row for row in _rows(context, network_id) if _defines(row)), None)


def _define_default(network_id: str, project_id: str | None,
                    user_id: str | None) -> 'objects.ZunNetwork':
    """Define the default network of a project."""
    context = zun_context.get_admin_context()
    network = objects.ZunNetwork(
        uuid=network_id, neutron_net_id=network_id, network_id=network_id,
        name=blocks.DEFAULT_NAME, project_id=project_id, user_id=user_id)
    try:
        network.create(context)
    except exception.NetworkAlreadyExists:
        LOG.debug('Another process defined network %s', network_id)
        return objects.ZunNetwork.get_by_uuid(context, network_id)
    return network


def _visible(context: Context, ident: str, own: str) -> str:
    """Id of a network by id, else by name: those for all projects, and the project's default one.

    :raises NetworkNotFound, Conflict
    """
    if uuidutils.is_uuid_like(ident):
        found = _definition(context, ident)
        if found is not None and _is_for(found, own):
            return found.uuid
    named = [row.uuid for row in objects.ZunNetwork.list(
        context.elevated(), filters={'name': ident, 'host': None})
        if _defines(row) and _is_for(row, own)]
    if len(named) > 1:
        raise exception.Conflict(
            'Multiple networks exist with same name. Please use the uuid instead.')
    if not named:
        raise exception.NetworkNotFound(network=ident)
    return named[0]


def _is_for(row: 'objects.ZunNetwork', own: str) -> bool:
    return row.uuid == own or not _is_default(row)


def _is_default(row: 'objects.ZunNetwork') -> bool:
    return row.neutron_net_id == blocks.default_network_id(row.project_id or row.user_id or '')


def _check_free(context: Context, network_id: str, address: str) -> None:
    """Refuse what can be known before a host is chosen: with one host, all of it.

    :raises InvalidValue: not an address of the network
    :raises Conflict: taken
    """
    realised = [row for row in _rows(context, network_id) if _is_realisation(row)]
    block = embedded_networks.get(realised[0].uuid) if len(realised) == 1 else None
    if block is None:
        return
    blocks.check_address(block['cidr'], block['gateway'], address)
    if address in embedded_networks.holders(realised[0].uuid):
        raise exception.Conflict(f'The address {address} is in use.')


def _new_realisation(context: Context, network: 'objects.ZunNetwork') -> 'objects.ZunNetwork':
    uuid = blocks.realisation_id(network.neutron_net_id, CONF.host)
    row = objects.ZunNetwork(
        uuid=uuid, neutron_net_id=network.neutron_net_id, name=network.name, host=CONF.host,
        project_id=network.project_id, user_id=network.user_id)
    try:
        row.create(context)
    except exception.NetworkAlreadyExists:
        row = objects.ZunNetwork.get_by_uuid(context.elevated(), uuid)
    return row


def _engine_network(row: 'objects.ZunNetwork', block: dict[str, ty.Any]) -> driver.EngineNetwork:
    options = CONF.embedded_network
    return driver.EngineNetwork(
        name=blocks.engine_name(row.uuid), bridge=blocks.bridge_name(row.uuid),
        cidr=block['cidr'], gateway=block['gateway'], mtu=block['mtu'] or options.mtu,
        labels={f'{LABEL}.managed': 'true', f'{LABEL}.network': row.neutron_net_id,
                f'{LABEL}.host': CONF.host},
        isolated=not options.icc)


def _allocate(row_uuid: str, block: dict[str, ty.Any], container_uuid: str,
              wanted: str | None) -> str:
    """The address that the container has, else the wanted one, else the lowest free one."""
    if not wanted:
        return embedded_networks.allocate_address(row_uuid, container_uuid, block=block)
    held = embedded_networks.addresses_of(container_uuid).get(row_uuid)
    if held:
        return held
    blocks.check_address(block['cidr'], block['gateway'], wanted)
    return embedded_networks.allocate_address(row_uuid, container_uuid, wanted, block)
