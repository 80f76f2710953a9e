# SPDX-License-Identifier: Apache-2.0
"""Bridge networks of a real engine."""

import concurrent.futures
import contextlib
import random

from docker import errors as docker_errors
from oslo_utils import uuidutils

from zun.common import exception
from zun.container import driver
from zun.network import driver as network_driver
from zun.tests.functional.container import base


class TestNetworks(base.DriverTestCase):
    def network(self, **fields):
        """A network in a block that nobody else is likely to use."""
        uuid = uuidutils.generate_uuid()
        block = f'10.{random.randint(180, 230)}.{random.randint(0, 255)}'
        name = f'zun-{uuid}'
        self.engine.addCleanup(self._remove, name)  # after its containers
        return network_driver.EngineNetwork(**{
            'name': name, 'bridge': f'zun{uuid[:8]}', 'cidr': f'{block}.0/24',
            'gateway': f'{block}.1', 'mtu': 1400, 'labels': {'test': 'yes'}, **fields})

    def _remove(self, name):
        with contextlib.suppress(docker_errors.NotFound):
            self.engine.api.remove_network(name)

    @staticmethod
    def attachment(network, last, mac=None, aliases=()):
        address = network.cidr.replace('.0/24', f'.{last}')
        return network_driver.Attachment(
            network_id=network.name, engine_network=network.name, mac=mac, aliases=aliases,
            addresses=({'addr': address, 'version': 4, 'port': 'p', 'subnet_id': 's',
                        'preserve_on_delete': False},))

    def on(self, *attachments, **fields):
        container = self.engine.container(**fields)
        self.driver.create(driver.Workload(container, self.engine.image_id,
                                           attachments=attachments, operation='req-1'))
        return container

    def _endpoints(self, container):
        return self.engine.inspect(container)['NetworkSettings']['Networks']

    def test_network(self):
        network = self.network(isolated=True)
        found = self.engine.api.inspect_network(self.driver.create_network(network))
        self.assertEqual(network.name, found['Name'])
        self.assertEqual([{'Subnet': network.cidr, 'Gateway': network.gateway}],
                         found['IPAM']['Config'])
        self.assertEqual({'test': 'yes'}, found['Labels'])
        options = found['Options']
        self.assertEqual(
            (network.bridge, 'false', 'true', '1400'),
            (options['com.docker.network.bridge.name'],
             options['com.docker.network.bridge.enable_icc'],
             options['com.docker.network.bridge.enable_ip_masquerade'],
             options['com.docker.network.driver.mtu']))

    def test_same_name_is_found(self):
        network = self.network()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ids = list(pool.map(lambda _: self.driver.create_network(network), range(4)))
        self.assertEqual(1, len(set(ids)))

    def test_same_name_with_other_addresses(self):
        network = self.network()
        self.driver.create_network(network)
        other = self.network(name=network.name)
        self.assertRaises(exception.Conflict, self.driver.create_network, other)

    def test_overlap(self):
        network = self.network()
        self.driver.create_network(network)
        other = self.network(cidr=network.cidr, gateway=network.gateway)
        self.assertRaises(exception.Conflict, self.driver.create_network, other)

    def test_remove(self):
        network = self.network()
        self.driver.create_network(network)
        container = self.on(self.attachment(network, 5))
        self.driver.start(container)
        self.assertRaises(exception.Conflict, self.driver.remove_network, network.name)
        self.driver.delete(container.uuid)
        self.driver.remove_network(network.name)
        self.driver.remove_network(network.name)

    def test_addresses_of_several(self):
        first, second = self.network(), self.network()
        self.driver.create_network(first)
        self.driver.create_network(second)
        container = self.on(self.attachment(first, 5, mac='02:42:ac:00:00:05', aliases=('web',)),
                            self.attachment(second, 6))
        self.driver.start(container)
        endpoints = self._endpoints(container)
        self.assertEqual({first.name, second.name}, set(endpoints))
        self.assertEqual(first.cidr.replace('.0/24', '.5'), endpoints[first.name]['IPAddress'])
        self.assertEqual('02:42:ac:00:00:05', endpoints[first.name]['MacAddress'])
        self.assertIn('web', endpoints[first.name]['Aliases'])
        self.assertEqual(second.cidr.replace('.0/24', '.6'), endpoints[second.name]['IPAddress'])
        names = self.driver.execute(container, 'ls /sys/class/net')[0].split()
        self.assertEqual(['eth0', 'eth1'], [name for name in names if name.startswith('eth')])
        route = self.driver.execute(container, 'ip route show default')[0]
        gateways = [first.gateway]
        if self.engine.api_version < (1, 48):
            gateways.append(second.gateway)  # of the two, the name that comes first
        self.assertIn(route.split()[2], gateways)

    def test_adopted_after_half_of_its_networks(self):
        first, second = self.network(), self.network()
        self.driver.create_network(first)
        container = self.engine.container()
        workload = driver.Workload(
            container, self.engine.image_id, operation='req-1',
            attachments=[self.attachment(first, 5), self.attachment(second, 6)])
        self.assertRaises(exception.NotFound, self.driver.create, workload)
        self.driver.create_network(second)
        self.driver.create(workload)
        self.driver.create(workload)
        self.assertEqual({first.name, second.name}, set(self._endpoints(container)))

    def test_connect_and_disconnect(self):
        first, second = self.network(), self.network()
        self.driver.create_network(first)
        self.driver.create_network(second)
        for start in (False, True):
            container = self.on(self.attachment(first, 15 + start))
            if start:
                self.driver.start(container)
            extra = self.attachment(second, 15 + start)
            for _ in range(2):
                self.driver.connect(container, extra)
            self.assertEqual({first.name, second.name}, set(self._endpoints(container)))
            for _ in range(2):
                self.driver.disconnect(container, second.name)
            self.assertEqual({first.name}, set(self._endpoints(container)))
            self.driver.disconnect(container, 'no-such-network')

    def test_connect_to_nothing(self):
        first = self.network()
        self.driver.create_network(first)
        container = self.on(self.attachment(first, 5))
        self.assertRaises(exception.NotFound, self.driver.connect, container,
                          self.attachment(self.network(), 5))

    def test_network_that_went_away(self):
        """A start is refused with 404, and the container is not taken for gone."""
        network = self.network()
        self.driver.create_network(network)
        container = self.on(self.attachment(network, 5))
        self.driver.remove_network(network.name)
        seen = self.driver.start(container)
        self.assertEqual(('Error', 128), (seen.status, seen.exit_code))
        self.assertIn('not found', seen.status_reason)

    def test_address_in_use(self):
        network = self.network()
        self.driver.create_network(network)
        first = self.on(self.attachment(network, 5))
        second = self.on(self.attachment(network, 5))
        self.driver.start(first)
        seen = self.driver.start(second)
        self.assertEqual('Error', seen.status)
        self.assertIn('Address already in use', seen.status_reason)

    def test_published_ports(self):
        self.config(group='embedded_network', publish_exposed_ports=True)
        network = self.network()
        self.driver.create_network(network)
        container = self.on(self.attachment(network, 5), exposed_ports={'80/tcp': {}})
        self.assertEqual((80,), self.driver.inspect(container).ports)
        port, = self.driver.start(container).ports
        bound = self.engine.inspect(container)['NetworkSettings']['Ports']['80/tcp']
        self.assertEqual([{'HostIp': '127.0.0.1', 'HostPort': str(port)}], bound)
