# SPDX-License-Identifier: Apache-2.0

import contextlib
import logging
import threading
import types

import fixtures
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import driver
from zun.network import embedded
from zun.tests import base
from zun.tests import database

LONG = 30


class Engine:
    """The networks of an engine, in memory; it refuses what a real one refuses."""

    def __init__(self):
        self.networks = {}
        self.connected = []
        self.calls = []
        self.refuse = None
        self._making = threading.Lock()

    def create_network(self, network):
        if not self._making.acquire(blocking=False):
            raise AssertionError('two creates at a time')
        try:
            self.calls.append(network.name)
            found = self.networks.setdefault(network.name, network)
            if found.cidr != network.cidr:
                raise exception.Conflict('a network of that name with other addresses')
            return f'id-{network.name}'
        finally:
            self._making.release()

    def network_blocks(self):
        return [network.cidr for network in self.networks.values()]

    def remove_network(self, name):
        if any(item[1] == name for item in self.connected):
            raise exception.Conflict('has active endpoints')
        self.networks.pop(name, None)

    def connect(self, container, attachment):
        if self.refuse:
            raise self.refuse
        self.connected.append((container.uuid, attachment.engine_network))

    def disconnect(self, container, name):
        with contextlib.suppress(ValueError):
            self.connected.remove((container.uuid, name))


def _context(project='p1', **kwargs):
    return zun_context.RequestContext(project_id=project, user_id=f'u-{project}',
                                      overwrite=False, **kwargs)


def _container(**fields):
    uuid = uuidutils.generate_uuid()
    return types.SimpleNamespace(
        **{'uuid': uuid, 'name': f'c-{uuid[:4]}', 'hostname': None, **fields})


class EmbeddedTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.config(host='node1')
        self.config('embedded_network', address_pool='10.9.0.0/22', subnet_prefix=28)
        self.context = _context()
        self.engine = Engine()
        self.driver = embedded.EmbeddedDriver(engine=self.engine)
        self.api = embedded.EmbeddedDriver()

    def resolve(self, *nets, context=None):
        return self.api.resolve(context or self.context, list(nets))

    def shared(self, name='blue'):
        admin = _context('admin', is_admin=True)
        return self.api.create_network(admin, {'name': name})['neutron_net_id']

    def plan(self, container, *nets):
        return self.driver.plan(self.context, container, self.resolve(*nets))

    def address(self, attachment):
        return attachment.address(4)

    def rows(self):
        return objects.ZunNetwork.list(self.context.elevated())


class ResolveTest(EmbeddedTestCase):
    def test_default_network_is_made_at_first_use(self):
        found = self.resolve()
        self.assertEqual([{
            'network': blocks.default_network_id('p1'), 'port': '', 'fixed_ip': '',
            'router:external': False, 'shared': False, 'preserve_on_delete': False,
            'pci_request_id': None}], found)
        self.assertEqual(found, self.resolve())
        self.assertEqual(found, self.resolve({'network': 'default'}))
        self.assertEqual(found, self.resolve({'network': None, 'fixed_ip': None}))
        self.assertEqual(found, self.resolve({'network': found[0]['network']}))
        row, = self.rows()
        self.assertEqual(('default', 'p1', 'u-p1', None, row.uuid, row.uuid),
                         (row.name, row.project_id, row.user_id, row.host, row.neutron_net_id,
                          row.network_id))

    def test_each_project_has_its_own(self):
        mine = self.resolve()[0]['network']
        other = self.resolve(context=_context('p2'))[0]['network']
        self.assertNotEqual(mine, other)
        for ident in (other, 'nothing', uuidutils.generate_uuid()):
            error = self.assertRaises(exception.NetworkNotFound, self.resolve,
                                      {'network': ident})
            self.assertIn(ident, error.message)

    def test_race_of_two_processes(self):
        start, found = threading.Barrier(8), []

        def resolve():
            start.wait(LONG)
            found.append(embedded.EmbeddedDriver().resolve(_context(), [])[0]['network'])

        _run_all([resolve] * 8)
        self.assertEqual([blocks.default_network_id('p1')] * 8, found)
        self.assertEqual(1, len(self.rows()))

    def test_networks_of_the_administrator_are_for_all(self):
        net = self.shared('blue')
        for ident in ('blue', net):
            self.assertEqual((net, True), (self.resolve({'network': ident})[0]['network'],
                                           self.resolve({'network': ident})[0]['shared']))

    def test_name_is_ambiguous(self):
        self.shared('blue')
        self.shared('blue')
        self.assertRaises(exception.Conflict, self.resolve, {'network': 'blue'})

    def test_name_that_looks_like_an_id(self):
        name = uuidutils.generate_uuid()
        self.assertEqual(self.shared(name), self.resolve({'network': name})[0]['network'])

    def test_order_is_kept(self):
        blue, red = self.shared('blue'), self.shared('red')
        found = self.resolve({'network': 'red'}, {'network': 'default'}, {'network': 'blue'})
        self.assertEqual([red, blocks.default_network_id('p1'), blue],
                         [wanted['network'] for wanted in found])

    def test_network_twice(self):
        net = self.shared('blue')
        error = self.assertRaises(exception.InvalidValue, self.resolve,
                                  {'network': 'blue'}, {'network': net})
        self.assertEqual(400, error.code)

    def test_ports_are_unknown(self):
        self.assertRaises(exception.PortNotFound, self.resolve, {'port': 'x'})
        self.assertRaises(exception.PortNotFound, self.api.find_port, self.context, 'x')

    def test_ipv6(self):
        for net in ({'v6-fixed-ip': 'fd00::1'}, {'fixed_ip': 'fd00::1'},
                    {'v4-fixed-ip': '10.9.0.4', 'v6-fixed-ip': 'fd00::1'}):
            self.assertRaises(exception.InvalidValue, self.resolve, {'network': 'default', **net})

    def test_fixed_ip_before_the_network_is_anywhere(self):
        for key in ('fixed_ip', 'v4-fixed-ip'):
            found, = self.resolve({'network': 'default', key: '192.0.2.9'})
            self.assertEqual('192.0.2.9', found['fixed_ip'])

    def test_fixed_ip_on_the_only_host(self):
        holder = _container()
        taken = self.address(self.plan(holder)[0])
        for address in ('192.0.2.9', '10.9.0.0', '10.9.0.1', '10.9.0.15'):
            self.assertRaises(exception.InvalidValue, self.resolve,
                              {'network': 'default', 'fixed_ip': address})
        self.assertRaises(exception.Conflict, self.resolve,
                          {'network': 'default', 'fixed_ip': taken})
        self.assertEqual('10.9.0.9', self.resolve(
            {'network': 'default', 'fixed_ip': '10.9.0.9'})[0]['fixed_ip'])

    def test_fixed_ip_with_several_hosts_is_for_the_node_to_judge(self):
        self.plan(_container())
        self.config(host='node2')
        self.plan(_container())
        self.assertEqual('192.0.2.9', self.resolve(
            {'network': 'default', 'fixed_ip': '192.0.2.9'})[0]['fixed_ip'])

    def test_rows_of_another_driver_are_no_networks(self):
        foreign = uuidutils.generate_uuid()
        for host in ('node1', None):
            objects.ZunNetwork(neutron_net_id=foreign, name='blue', host=host,
                               network_id='e', project_id='p1').create(self.context)
        for ident in (foreign, 'blue'):
            self.assertRaises(exception.NetworkNotFound, self.resolve, {'network': ident})
        self.driver.sweep(self.context)
        self.assertEqual(2, len(self.rows()))

    def test_security_groups(self):
        resolve = self.api.resolve_security_groups
        for names in ([], ['default'], ['default', 'default']):
            self.assertEqual([], resolve(self.context, names, 'p1'))
        error = self.assertRaises(exception.InvalidValue, resolve, self.context,
                                  ['default', 'web'], 'p1')
        self.assertEqual('Security group web not found.', error.message)

    def test_nothing_to_claim(self):
        self.api.claim(self.context, 'c', self.resolve())
        self.api.disclaim(self.context, 'c', self.resolve())


class PlanTest(EmbeddedTestCase):
    def test_first_container_of_a_network(self):
        container = _container(name='web')
        attachment, = self.plan(container)
        net = blocks.default_network_id('p1')
        row = blocks.realisation_id(net, 'node1')
        self.assertEqual(driver.Attachment(
            network_id=net, engine_network=f'zun-{row}', mac=None, aliases=('web',),
            addresses=({'addr': '10.9.0.2', 'version': 4,
                        'port': blocks.port_id(net, container.uuid),
                        'subnet_id': blocks.subnet_id(net, '10.9.0.0/28'),
                        'preserve_on_delete': False},)), attachment)
        self.assertEqual(driver.EngineNetwork(
            name=f'zun-{row}', bridge=f'zun{row[:8]}', cidr='10.9.0.0/28', gateway='10.9.0.1',
            mtu=1500, isolated=False, labels={
                'org.openstack.zun.managed': 'true', 'org.openstack.zun.network': net,
                'org.openstack.zun.host': 'node1'}), self.engine.networks[f'zun-{row}'])
        stored = objects.ZunNetwork.get_by_uuid(self.context, row)
        self.assertEqual(('default', 'node1', net, f'id-zun-{row}'),
                         (stored.name, stored.host, stored.neutron_net_id, stored.network_id))

    def test_options(self):
        self.config('embedded_network', mtu=1400, icc=False)
        attachment, = self.plan(_container())
        made = self.engine.networks[attachment.engine_network]
        self.assertEqual((1400, True), (made.mtu, made.isolated))

    def test_hostname_is_the_alias(self):
        self.assertEqual(('h',), self.plan(_container(hostname='h', name='n'))[0].aliases)
        self.assertEqual((), self.plan(_container(hostname=None, name=None))[0].aliases)

    def test_addresses_are_kept(self):
        container = _container()
        self.shared('blue')
        first = self.plan(container, {'network': 'default'}, {'network': 'blue'})
        self.plan(_container())
        self.assertEqual(first, self.plan(container, {'network': 'default'}, {'network': 'blue'}))

    def test_fixed_ip_does_not_move_a_container(self):
        container = _container()
        first = self.plan(container)
        again = self.plan(container, {'network': 'default', 'fixed_ip': '10.9.0.9'})
        self.assertEqual(first, again)

    def test_fixed_ip(self):
        holder, net = _container(), {'network': 'default', 'fixed_ip': '10.9.0.9'}
        wanted = self.resolve(net)
        self.assertEqual('10.9.0.9', self.address(
            self.driver.plan(self.context, holder, wanted)[0]))
        self.assertRaises(exception.Conflict, self.driver.plan, self.context, _container(),
                          wanted)
        self.driver.release(self.context, holder.uuid)
        self.driver.plan(self.context, _container(), wanted)

    def test_fixed_ip_that_the_block_has_not(self):
        for address in ('192.0.2.9', '10.9.0.1', '10.9.0.15'):
            wanted = [{**self.resolve()[0], 'fixed_ip': address}]
            error = self.assertRaises(exception.InvalidValue, self.driver.plan, self.context,
                                      _container(), wanted)
            self.assertIn(address, error.message)

    def test_network_is_full(self):
        for _ in range(13):
            self.plan(_container())
        self.assertRaises(exception.Conflict, self.plan, _container())

    def test_pool_is_used_up(self):
        self.config('embedded_network', address_pool='10.9.0.0/27', subnet_prefix=28)
        for name in ('a', 'b', 'c'):
            self.shared(name)
        self.plan(_container(), {'network': 'a'}, {'network': 'b'})
        error = self.assertRaises(exception.Conflict, self.plan, _container(), {'network': 'c'})
        self.assertIn('10.9.0.0/27', error.message)

    def test_deleted_meanwhile(self):
        wanted = self.resolve({'network': self.shared()})
        self.api.delete_network(self.context, wanted[0]['network'])
        self.assertRaises(exception.NetworkNotFound, self.driver.plan, self.context,
                          _container(), wanted)
        self.assertEqual({}, self.engine.networks)

    def test_each_host_has_its_own_block(self):
        first, = self.plan(_container())
        self.config(host='node2')
        second, = self.plan(_container())
        self.assertEqual(first.network_id, second.network_id)
        self.assertNotEqual(first.engine_network, second.engine_network)
        self.assertEqual(['10.9.0.2', '10.9.0.18'], [self.address(first), self.address(second)])

    def test_bridge_that_somebody_removed_is_made_again(self):
        self.plan(_container())
        made = dict(self.engine.networks)
        self.engine.networks.clear()
        self.plan(_container())
        self.assertEqual(made, self.engine.networks)

    def test_bridge_of_an_earlier_database_is_replaced(self):
        row = blocks.realisation_id(blocks.default_network_id('p1'), 'node1')
        name = blocks.engine_name(row)
        self.engine.networks[name] = types.SimpleNamespace(cidr='10.8.0.0/24')
        self.plan(_container())
        self.assertEqual('10.9.0.0/28', self.engine.networks[name].cidr)

    def test_twenty_at_once_on_a_new_network(self):
        self.config('embedded_network', subnet_prefix=27)
        wanted, found = self.resolve(), []
        start = threading.Barrier(20)

        def plan():
            start.wait(LONG)
            found.append(self.driver.plan(_context(), _container(), wanted)[0].address(4))

        _run_all([plan] * 20)
        self.assertEqual({f'10.9.0.{number}' for number in range(2, 22)}, set(found))
        self.assertEqual(1, len(self.engine.networks))
        self.assertEqual(2, len(self.rows()))

    def test_release(self):
        container = _container()
        blue = self.shared('blue')
        self.plan(container, {'network': 'default'}, {'network': 'blue'})
        self.driver.release(self.context, container.uuid, blue)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))
        self.driver.release(self.context, container.uuid)
        self.driver.release(self.context, container.uuid)
        self.assertEqual({}, embedded_networks.addresses_of(container.uuid))


class AttachTest(EmbeddedTestCase):
    def test_attach_and_detach(self):
        container, net = _container(), self.shared()
        attachment = self.driver.attach(self.context, container,
                                        self.resolve({'network': net})[0])
        self.assertEqual([(container.uuid, attachment.engine_network)], self.engine.connected)
        self.driver.detach(self.context, container, net)
        self.driver.detach(self.context, container, net)
        self.assertEqual([], self.engine.connected)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_refused_attach_gives_the_address_back(self):
        container = _container()
        for refusal in (exception.Conflict('no'), exception.EngineGone(container='c'),
                        exception.Invalid('no')):
            self.engine.refuse = refusal
            self.assertRaises(type(refusal), self.driver.attach, self.context, container,
                              self.resolve()[0])
            self.assertEqual({}, embedded_networks.addresses_of(container.uuid))

    def test_unknown_result_keeps_the_address(self):
        container = _container()
        self.engine.refuse = exception.EngineUnavailable(error_msg='x')
        self.assertRaises(exception.EngineUnavailable, self.driver.attach, self.context,
                          container, self.resolve()[0])
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_refused_again_keeps_what_it_had(self):
        container = _container()
        self.plan(container)
        self.engine.refuse = exception.Conflict('no')
        self.assertRaises(exception.Conflict, self.driver.attach, self.context, container,
                          self.resolve()[0])
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_detach_of_an_unknown_network(self):
        self.driver.detach(self.context, _container(), uuidutils.generate_uuid())

    def test_no_engine_in_the_api(self):
        self.assertRaises(exception.OperationNotSupported, self.api.attach, self.context,
                          _container(), self.resolve()[0])


class NetworkTest(EmbeddedTestCase):
    def test_create(self):
        found = self.api.create_network(self.context, {'name': 'blue'})
        self.assertEqual({'uuid', 'name', 'project_id', 'user_id', 'network_id',
                          'neutron_net_id'}, set(found))
        self.assertEqual(('blue', 'p1', 'u-p1', found['uuid'], found['uuid']),
                         (found['name'], found['project_id'], found['user_id'],
                          found['network_id'], found['neutron_net_id']))
        self.assertEqual({}, self.engine.networks)

    def test_create_of_one_that_is_known(self):
        found = self.api.create_network(self.context, {'name': 'blue'})
        self.assertEqual(found, self.api.create_network(
            _context('p2'), {'neutron_net_id': found['uuid']}))
        self.assertRaises(exception.NetworkNotFound, self.api.create_network, self.context,
                          {'neutron_net_id': uuidutils.generate_uuid()})
        self.assertEqual(1, len(self.rows()))

    def test_delete(self):
        container = _container()
        net = self.shared()
        self.plan(container, {'network': net})
        error = self.assertRaises(exception.Conflict, self.driver.delete_network, self.context,
                                  net)
        self.assertEqual(409, error.code)
        self.driver.release(self.context, container.uuid)
        self.driver.delete_network(self.context, net)
        self.assertEqual(([], {}), (self.rows(), self.engine.networks))
        self.assertRaises(exception.NetworkNotFound, self.driver.delete_network, self.context,
                          net)

    def test_block_is_used_again(self):
        net = self.shared()
        first = _container()
        cidr = self.address(self.plan(first, {'network': net})[0])
        self.driver.release(self.context, first.uuid)
        self.driver.delete_network(self.context, net)
        self.assertEqual(cidr, self.address(
            self.plan(_container(), {'network': self.shared()})[0]))

    def test_other_hosts_remove_theirs_by_sweep(self):
        net, containers = self.shared(), [_container(), _container()]
        self.plan(containers[0], {'network': net})
        self.config(host='node2')
        self.plan(containers[1], {'network': net}, {'network': 'default'})
        for container in containers:
            self.driver.release(self.context, container.uuid)
        self.driver.delete_network(self.context, net)
        left = blocks.realisation_id(net, 'node1')
        self.assertIn(blocks.engine_name(left), self.engine.networks)
        self.driver.sweep(self.context)
        self.assertIn(blocks.engine_name(left), self.engine.networks)
        self.config(host='node1')
        self.driver.sweep(self.context)
        self.assertNotIn(blocks.engine_name(left), self.engine.networks)
        self.assertEqual({blocks.default_network_id('p1')},
                         {row.neutron_net_id for row in self.rows()})
        self.assertIsNone(embedded_networks.get(left))

    def test_sweep_leaves_what_is_in_use(self):
        net, late = self.shared(), _container()
        self.plan(late, {'network': net})
        objects.ZunNetwork.get_by_uuid(self.context.elevated(), net).destroy()
        self.driver.sweep(self.context)
        self.assertEqual(1, len(self.engine.networks))
        self.driver.release(self.context, late.uuid)
        self.engine.connected.append(('somebody', next(iter(self.engine.networks))))
        self.driver.sweep(self.context)
        self.assertEqual(1, len(self.rows()))
        self.engine.connected.clear()
        self.driver.sweep(self.context)
        self.assertEqual(([], {}), (self.rows(), self.engine.networks))

    def test_driver_is_loaded_by_name(self):
        self.config('network', driver='embedded')
        self.assertIsInstance(driver.load(engine=self.engine), embedded.EmbeddedDriver)
        self.assertIsInstance(driver.load(), embedded.EmbeddedDriver)


class CheckHostsTest(EmbeddedTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))

    def _service(self, host, binary='zun-compute'):
        objects.ZunService(host=host, binary=binary).create(self.context)

    def test_alone(self):
        embedded.check_hosts(self.context)
        self._service('node1')
        self._service('node2', 'zun-scheduler')
        embedded.check_hosts(self.context)
        self.assertEqual('', self.log.output)

    def test_several(self):
        self._service('node1')
        self._service('node2')
        error = self.assertRaises(exception.ConfigInvalid, embedded.check_hosts, self.context)
        self.assertIn('node2', error.message)
        self.assertIn('allow_multiple_hosts', error.message)

    def test_several_on_purpose(self):
        self.config('embedded_network', allow_multiple_hosts=True)
        self._service('node2')
        embedded.check_hosts(self.context)
        self.assertIn('do not reach each other', self.log.output)


def _run_all(functions):
    errors = []

    def run(function):
        try:
            function()
        except Exception as error:  # noqa: BLE001 - shown by the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    if errors:
        raise errors[0]
