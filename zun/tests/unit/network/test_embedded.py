# SPDX-License-Identifier: Apache-2.0

import threading
import types

from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import driver
from zun.network import embedded
from zun.tests.unit.network import embedded_base as shared


class ResolveTest(shared.TestCase):
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
        self.assertEqual([], self.rows())
        self.driver.plan(self.context, shared.make_container(), found)
        row, = [row for row in self.rows() if row.host is None]
        self.assertEqual(('default', 'p1', 'u-p1', None, row.uuid, row.uuid),
                         (row.name, row.project_id, row.user_id, row.host, row.neutron_net_id,
                          row.network_id))

    def test_each_project_has_its_own(self):
        mine = self.resolve()[0]['network']
        other = self.resolve(context=shared.make_context('p2'))[0]['network']
        self.assertNotEqual(mine, other)
        for ident in (other, 'nothing', uuidutils.generate_uuid()):
            error = self.assertRaises(exception.NetworkNotFound, self.resolve,
                                      {'network': ident})
            self.assertIn(ident, error.message)

    def test_race_of_several_hosts(self):
        start, found, wanted = threading.Barrier(8), [], self.resolve()

        def plan():
            host = embedded.EmbeddedDriver(engine=shared.Engine())
            start.wait(shared.LONG)
            attachment, = host.plan(self.context, shared.make_container(), wanted)
            found.append(attachment.network_id)

        shared.run_all([plan] * 8)
        self.assertEqual([blocks.default_network_id('p1')] * 8, found)
        self.assertEqual(1, sum(row.host is None for row in self.rows()))

    def test_default_network_of_another_project_is_not_made(self):
        self.assertRaises(exception.NetworkNotFound, self.driver.plan, shared.make_context('p2'),
                          shared.make_container(), self.resolve())
        self.assertEqual([], self.rows())

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
        holder = shared.make_container()
        taken = self.address(self.plan(holder)[0])
        for address in ('192.0.2.9', '10.9.0.0', '10.9.0.1', '10.9.0.15'):
            self.assertRaises(exception.InvalidValue, self.resolve,
                              {'network': 'default', 'fixed_ip': address})
        self.assertRaises(exception.Conflict, self.resolve,
                          {'network': 'default', 'fixed_ip': taken})
        self.assertEqual('10.9.0.9', self.resolve(
            {'network': 'default', 'fixed_ip': '10.9.0.9'})[0]['fixed_ip'])

    def test_fixed_ip_with_several_hosts_is_for_the_node_to_judge(self):
        self.plan(shared.make_container())
        self.config(host='node2')
        self.plan(shared.make_container())
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


class PlanTest(shared.TestCase):
    def test_first_container_of_a_network(self):
        container = shared.make_container(name='web')
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
        attachment, = self.plan(shared.make_container())
        made = self.engine.networks[attachment.engine_network]
        self.assertEqual((1400, True), (made.mtu, made.isolated))

    def test_hostname_is_the_alias(self):
        named = shared.make_container(hostname='h', name='n')
        self.assertEqual(('h',), self.plan(named)[0].aliases)
        self.assertEqual((), self.plan(shared.make_container(hostname=None, name=None))[0].aliases)

    def test_addresses_are_kept(self):
        container = shared.make_container()
        self.shared('blue')
        first = self.plan(container, {'network': 'default'}, {'network': 'blue'})
        self.plan(shared.make_container())
        self.assertEqual(first, self.plan(container, {'network': 'default'}, {'network': 'blue'}))

    def test_fixed_ip_does_not_move_a_container(self):
        container = shared.make_container()
        first = self.plan(container)
        again = self.plan(container, {'network': 'default', 'fixed_ip': '10.9.0.9'})
        self.assertEqual(first, again)

    def test_fixed_ip(self):
        holder, net = shared.make_container(), {'network': 'default', 'fixed_ip': '10.9.0.9'}
        wanted = self.resolve(net)
        self.assertEqual('10.9.0.9', self.address(
            self.driver.plan(self.context, holder, wanted)[0]))
        self.assertRaises(exception.Conflict, self.driver.plan, self.context,
                          shared.make_container(),
                          wanted)
        self.driver.release(self.context, holder.uuid)
        self.driver.plan(self.context, shared.make_container(), wanted)

    def test_fixed_ip_that_the_block_has_not(self):
        for address in ('192.0.2.9', '10.9.0.1', '10.9.0.15'):
            wanted = [{**self.resolve()[0], 'fixed_ip': address}]
            error = self.assertRaises(exception.InvalidValue, self.driver.plan, self.context,
                                      shared.make_container(), wanted)
            self.assertIn(address, error.message)

    def test_network_is_full(self):
        for _ in range(13):
            self.plan(shared.make_container())
        self.assertRaises(exception.Conflict, self.plan, shared.make_container())

    def test_pool_is_used_up(self):
        self.config('embedded_network', address_pool='10.9.0.0/27', subnet_prefix=28)
        for name in ('a', 'b', 'c'):
            self.shared(name)
        self.plan(shared.make_container(), {'network': 'a'}, {'network': 'b'})
        error = self.assertRaises(exception.Conflict, self.plan, shared.make_container(),
                                  {'network': 'c'})
        self.assertIn('10.9.0.0/27', error.message)

    def test_deleted_meanwhile(self):
        wanted = self.resolve({'network': self.shared()})
        self.api.delete_network(self.context, wanted[0]['network'])
        self.assertRaises(exception.NetworkNotFound, self.driver.plan, self.context,
                          shared.make_container(), wanted)
        self.assertEqual({}, self.engine.networks)

    def test_each_host_has_its_own_block(self):
        first, = self.plan(shared.make_container())
        self.config(host='node2')
        second, = self.plan(shared.make_container())
        self.assertEqual(first.network_id, second.network_id)
        self.assertNotEqual(first.engine_network, second.engine_network)
        self.assertEqual(['10.9.0.2', '10.9.0.18'], [self.address(first), self.address(second)])

    def test_bridge_that_somebody_removed_is_made_again(self):
        self.plan(shared.make_container())
        made = dict(self.engine.networks)
        self.engine.networks.clear()
        self.plan(shared.make_container())
        self.assertEqual(made, self.engine.networks)

    def test_bridge_of_an_earlier_database_is_replaced(self):
        row = blocks.realisation_id(blocks.default_network_id('p1'), 'node1')
        name = blocks.engine_name(row)
        self.engine.networks[name] = types.SimpleNamespace(cidr='10.8.0.0/24')
        self.plan(shared.make_container())
        self.assertEqual('10.9.0.0/28', self.engine.networks[name].cidr)

    def test_twenty_at_once_on_a_new_network(self):
        self.config('embedded_network', subnet_prefix=27)
        wanted, found = self.resolve(), []
        start = threading.Barrier(20)

        def plan():
            start.wait(shared.LONG)
            plan = self.driver.plan(shared.make_context(), shared.make_container(), wanted)
            found.append(plan[0].address(4))

        shared.run_all([plan] * 20)
        self.assertEqual({f'10.9.0.{number}' for number in range(2, 22)}, set(found))
        self.assertEqual(1, len(self.engine.networks))
        self.assertEqual(2, len(self.rows()))

    def test_release(self):
        container = shared.make_container()
        blue = self.shared('blue')
        self.plan(container, {'network': 'default'}, {'network': 'blue'})
        self.driver.release(self.context, container.uuid, blue)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))
        self.driver.release(self.context, container.uuid)
        self.driver.release(self.context, container.uuid)
        self.assertEqual({}, embedded_networks.addresses_of(container.uuid))
