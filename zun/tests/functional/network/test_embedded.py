# SPDX-License-Identifier: Apache-2.0

import ipaddress
import threading

from docker import errors as docker_errors
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.container import driver as container_driver
from zun.container.docker import driver as docker_driver
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import embedded
from zun.tests import base
from zun.tests import database
from zun.tests.functional import engine

LONG = 60
#: Not that of a lab on the same engine.
POOL = '10.231.0.0/20'


class EmbeddedTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.config('docker', api_url=engine.URL)
        self.config('embedded_network', address_pool=POOL)
        self.useFixture(database.SqliteDatabase())
        self.behind = self.useFixture(engine.Engine())
        self.hosts = [f'test-{uuidutils.generate_uuid()}' for _ in range(2)]
        self.addCleanup(self._remove_networks)
        self.config(host=self.hosts[0])
        self.engine = docker_driver.DockerDriver()
        self.driver = embedded.EmbeddedDriver(engine=self.engine)
        self.api = embedded.EmbeddedDriver()
        self.context = zun_context.RequestContext(
            project_id=uuidutils.generate_uuid(), user_id='u', overwrite=False)
        self.plans = {}

    def networks(self):
        """What the engine has of this test."""
        return [found for host in self.hosts for found in self.behind.api.networks(
            filters={'label': f'{embedded.LABEL}.host={host}'})]

    def _remove_networks(self):
        for found in self.networks():
            for endpoint in self.behind.api.inspect_network(found['Id'])['Containers']:
                self.behind.api.disconnect_container_from_network(endpoint, found['Id'],
                                                                  force=True)
            self.behind.api.remove_network(found['Id'])

    def resolve(self, *nets):
        return self.api.resolve(self.context, list(nets))

    def shared(self, name='blue'):
        return self.api.create_network(
            self.context.elevated(), {'name': name})['neutron_net_id']

    def container(self, **fields):
        row = self.behind.container(host=self.hosts[0], addresses={}, **fields)
        self.addCleanup(self.behind.remove, f'zun-{row.uuid}')
        return row

    def create(self, *nets, container=None, **fields):
        container = container or self.container(**fields)
        attachments = self.driver.plan(self.context, container, self.resolve(*nets))
        self.engine.create(container_driver.Workload(
            container=container, image=self.behind.image_id, attachments=attachments))
        self.plans[container.uuid] = attachments
        return container

    def run_container(self, *nets, **fields):
        container = self.create(*nets, **fields)
        self.engine.start(container)
        return container

    def address(self, container, number=0):
        return self.plans[container.uuid][number].address(4)

    def seen(self, container):
        """Address by engine network, as the engine has it."""
        found = self.behind.inspect(container)['NetworkSettings']['Networks']
        return {name: item['IPAddress'] for name, item in found.items()}

    def run_in(self, container, command):
        return self.engine.execute(container, command)

    def reaches(self, container, address):
        return self.run_in(container, f'ping -c 1 -W 2 {address}')[1] == 0


class WireTest(EmbeddedTestCase):
    def test_container_has_its_address(self):
        container = self.run_container()
        plan = self.plans[container.uuid][0]
        self.assertEqual({plan.engine_network: plan.address(4)}, self.seen(container))
        output, code = self.run_in(container, 'ip -4 addr show eth0')
        self.assertEqual(0, code)
        self.assertIn(f'inet {plan.address(4)}/24', output)

    def test_network_of_the_engine(self):
        self.config('embedded_network', mtu=1400)
        container = self.run_container()
        found, = self.networks()
        net = blocks.default_network_id(self.context.project_id)
        row = blocks.realisation_id(net, self.hosts[0])
        self.assertEqual(f'zun-{row}', found['Name'])
        self.assertEqual('bridge', found['Driver'])
        self.assertEqual({'Subnet': '10.231.0.0/24', 'Gateway': '10.231.0.1'},
                         found['IPAM']['Config'][0])
        self.assertEqual({
            'com.docker.network.bridge.name': f'zun{row[:8]}',
            'com.docker.network.bridge.enable_ip_masquerade': 'true',
            'com.docker.network.bridge.enable_icc': 'true',
            'com.docker.network.driver.mtu': '1400'}, found['Options'])
        self.assertEqual({f'{embedded.LABEL}.managed': 'true',
                          f'{embedded.LABEL}.network': net,
                          f'{embedded.LABEL}.host': self.hosts[0]}, found['Labels'])
        self.assertIn('mtu 1400', self.run_in(container, 'ip link show eth0')[0])
        self.assertEqual(found['Id'], objects.ZunNetwork.get_by_uuid(
            self.context, row).network_id)

    def test_names_resolve_on_a_network(self):
        web = self.run_container(name='web', hostname='web-host')
        db = self.run_container(name='db')
        for client, name, address in ((db, 'web-host', self.address(web)),
                                      (web, 'db', self.address(db))):
            output, code = self.run_in(client, f'nslookup {name}')
            self.assertEqual(0, code, output)
            self.assertIn(address, output)
        self.assertTrue(self.reaches(web, self.address(db)))

    def test_names_do_not_resolve_across_networks(self):
        self.shared('blue')
        web = self.run_container({'network': 'blue'}, name='web')
        other = self.run_container(name='other')
        self.assertNotEqual(0, self.run_in(other, 'nslookup web')[1])
        self.assertFalse(self.reaches(other, self.address(web)))

    def test_two_networks(self):
        self.shared('blue')
        container = self.run_container({'network': 'blue'}, {'network': 'default'})
        shown = self.run_in(container, 'ip -4 addr show')[0]
        for plan in self.plans[container.uuid]:
            self.assertIn(f'inet {plan.address(4)}/', shown)
            self.assertEqual(plan.address(4), self.seen(container)[plan.engine_network])

    def test_addresses_survive_a_restart_and_a_rebuild(self):
        container, other = self.run_container(), self.run_container()
        before = self.seen(container)
        self.engine.stop(container, 1)
        self.engine.start(container)
        self.assertEqual(before, self.seen(container))
        self.engine.delete(container.uuid)
        self.create(container=container)
        self.engine.start(container)
        self.assertEqual(before, self.seen(container))
        self.assertTrue(self.reaches(other, self.address(container)))

    def test_fixed_address(self):
        net = {'network': 'default', 'fixed_ip': '10.231.0.77'}
        container = self.run_container(net)
        self.assertEqual(['10.231.0.77'], list(self.seen(container).values()))
        error = self.assertRaises(exception.Conflict, self.resolve, net)
        self.assertIn('10.231.0.77', error.message)
        wanted = [{**self.resolve()[0], 'fixed_ip': '10.231.0.77'}]
        self.assertRaises(exception.Conflict, self.driver.plan, self.context, self.container(),
                          wanted)

    def test_containers_that_do_not_run_keep_their_addresses(self):
        created = self.create()
        for _ in range(3):
            self.assertNotEqual(self.address(created), self.address(self.run_container()))
        self.engine.start(created)
        self.assertEqual([self.address(created)], list(self.seen(created).values()))


class AttachTest(EmbeddedTestCase):
    def setUp(self):
        super().setUp()
        self.net = self.shared('blue')

    def attach(self, container, **net):
        wanted, = self.resolve({'network': 'blue', **net})
        return self.driver.attach(self.context, container, wanted)

    def test_running(self):
        container, neighbour = self.run_container(), self.run_container({'network': 'blue'})
        attachment = self.attach(container)
        self.assertEqual(attachment.address(4),
                         self.seen(container)[attachment.engine_network])
        self.assertTrue(self.reaches(container, self.address(neighbour)))
        self.assertEqual(0, self.run_in(container, f'nslookup {neighbour.name}')[1])
        self.driver.detach(self.context, container, self.net)
        self.assertNotIn(attachment.engine_network, self.seen(container))
        self.assertFalse(self.reaches(container, self.address(neighbour)))

    def test_stopped(self):
        container = self.create()
        attachment = self.attach(container)
        self.engine.start(container)
        self.assertEqual(attachment.address(4),
                         self.seen(container)[attachment.engine_network])
        self.engine.stop(container, 1)
        self.driver.detach(self.context, container, self.net)
        self.engine.start(container)
        self.assertNotIn(attachment.engine_network, self.seen(container))

    def test_again(self):
        container = self.run_container()
        self.assertEqual(self.attach(container), self.attach(container))
        for _ in range(2):
            self.driver.detach(self.context, container, self.net)
            self.driver.release(self.context, container.uuid, self.net)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_fixed_address(self):
        container = self.run_container()
        self.run_container({'network': 'blue'})
        self.assertEqual('10.231.1.50', self.attach(
            container, fixed_ip='10.231.1.50').address(4))
        self.assertIn('10.231.1.50', self.seen(container).values())

    def test_container_that_the_engine_lost(self):
        container = self.create()
        self.engine.delete(container.uuid)
        self.assertRaises(exception.EngineGone, self.attach, container)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))
        self.driver.detach(self.context, container, self.net)

    def test_last_network_can_be_detached(self):
        container = self.run_container()
        self.driver.detach(self.context, container,
                           blocks.default_network_id(self.context.project_id))
        self.assertEqual({}, self.seen(container))


class ManyTest(EmbeddedTestCase):
    def _at_once(self, count, work):
        start, results = threading.Barrier(count), []

        def run(number):
            start.wait(LONG)
            try:
                results.append(work(number))
            except exception.ZunException as error:
                results.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        return results

    def test_twenty_creates_on_a_network_that_is_new_to_the_node(self):
        containers = [self.container() for _ in range(20)]
        self._at_once(20, lambda number: self.create(container=containers[number]))
        self.assertEqual({container.uuid for container in containers}, set(self.plans))
        addresses = {self.address(container) for container in containers}
        self.assertEqual(20, len(addresses))
        self.assertEqual(1, len(self.networks()))
        for container in containers[:3]:
            self.engine.start(container)
            self.assertEqual([self.address(container)], list(self.seen(container).values()))

    def test_race_for_one_address(self):
        self.create()
        wanted = [{**self.resolve()[0], 'fixed_ip': '10.231.0.99'}]
        results = self._at_once(20, lambda number: self.driver.plan(
            self.context, self.container(), wanted)[0].address(4))
        self.assertEqual(1, results.count('10.231.0.99'))
        self.assertEqual(19, sum(isinstance(item, exception.Conflict) for item in results))

    def test_two_hosts(self):
        first = self.run_container()
        self.config(host=self.hosts[1])
        second = self.run_container()
        self.assertEqual(['10.231.0.2', '10.231.1.2'], [self.address(first),
                                                       self.address(second)])
        self.assertEqual(self.plans[first.uuid][0].network_id,
                         self.plans[second.uuid][0].network_id)
        self.assertEqual(2, len(self.networks()))
        self.assertFalse(self.reaches(first, self.address(second)))


class DeleteTest(EmbeddedTestCase):
    def test_nothing_is_left(self):
        net = self.shared('blue')
        container = self.run_container({'network': 'blue'})
        self.assertRaises(exception.Conflict, self.driver.delete_network, self.context, net)
        self.assertTrue(self.networks())
        self.engine.delete(container.uuid)
        self.assertRaises(exception.Conflict, self.driver.delete_network, self.context, net)
        self.driver.release(self.context, container.uuid)
        self.driver.delete_network(self.context, net)
        self.assertEqual([], self.networks())
        self.assertEqual([], objects.ZunNetwork.list(self.context.elevated()))
        self.assertRaises(exception.NetworkNotFound, self.resolve, {'network': 'blue'})

    def test_container_of_somebody_else(self):
        net = self.shared('blue')
        ours = self.create({'network': 'blue'})
        name = self.plans[ours.uuid][0].engine_network
        foreign = self.behind.api.create_container(
            self.behind.image_id, engine.FOREVER,
            host_config=self.behind.api.create_host_config(network_mode=name))
        self.addCleanup(self.behind.remove, foreign['Id'])
        self.behind.api.start(foreign['Id'])
        self.engine.delete(ours.uuid)
        self.driver.release(self.context, ours.uuid)
        error = self.assertRaises(exception.Conflict, self.driver.delete_network, self.context,
                                  net)
        self.assertIn('endpoints', error.message)
        self.behind.remove(foreign['Id'])
        self.driver.sweep(self.context)
        self.assertEqual([], self.networks())

    def test_bridge_that_somebody_removed(self):
        first = self.create()
        self.engine.delete(first.uuid)
        self.behind.api.remove_network(self.networks()[0]['Id'])
        self.assertRaises(docker_errors.NotFound, self.behind.api.inspect_network,
                          self.plans[first.uuid][0].engine_network)
        self.create(container=first)
        self.engine.start(first)
        self.assertEqual([self.address(first)], list(self.seen(first).values()))

    def test_block_that_somebody_else_uses(self):
        pool = ipaddress.ip_network(POOL)
        first = next(pool.subnets(new_prefix=24))
        foreign = self.behind.api.create_network(f'foreign-{self.hosts[0]}', ipam={
            'Driver': 'default', 'Config': [{'Subnet': str(first)}]})
        self.addCleanup(self.behind.api.remove_network, foreign['Id'])
        address = ipaddress.ip_address(self.address(self.run_container()))
        self.assertIn(address, pool)
        self.assertNotIn(address, first)

    def occupy(self, cidr):
        foreign = self.behind.api.create_network(f'foreign-{self.hosts[0]}', ipam={
            'Driver': 'default', 'Config': [{'Subnet': cidr}]})
        self.addCleanup(self.behind.api.remove_network, foreign['Id'])

    def test_block_that_somebody_else_takes_meanwhile(self):
        own = blocks.realisation_id(blocks.default_network_id(self.context.project_id),
                                    self.hosts[0])
        chosen = embedded_networks.get_or_create(own, POOL, 24, 1500)
        self.occupy(chosen['cidr'])
        container = self.run_container()
        self.assertEqual('10.231.1.2', self.address(container))
        self.assertEqual(['10.231.1.2'], list(self.seen(container).values()))
        self.assertEqual('10.231.1.0/24', embedded_networks.get(own)['cidr'])
        # Nor does the next network try the block that was refused.
        self.assertEqual('10.231.2.2', self.address(self.run_container(
            {'network': self.shared('blue')})))

    def test_block_with_addresses_that_somebody_else_takes(self):
        first = self.create()
        self.engine.delete(first.uuid)
        self.behind.api.remove_network(self.networks()[0]['Id'])
        self.occupy('10.231.0.0/24')
        error = self.assertRaises(exception.Conflict, self.create, container=first)
        self.assertIn('10.231.0.0/24', error.message)
        self.driver.release(self.context, first.uuid)
        self.create(container=first)
        self.assertEqual('10.231.1.2', self.address(first))

    def test_bridge_of_an_earlier_database(self):
        first = self.create()
        self.engine.delete(first.uuid)
        self.useFixture(database.SqliteDatabase())
        self.driver = embedded.EmbeddedDriver(engine=self.engine)
        embedded_networks.get_or_create(uuidutils.generate_uuid(), POOL, 24, 1500)
        again = self.run_container()
        self.assertEqual('10.231.1.2', self.address(again))
        self.assertEqual(['10.231.1.2'], list(self.seen(again).values()))
