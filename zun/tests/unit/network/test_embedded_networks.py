# SPDX-License-Identifier: Apache-2.0

import logging

import fixtures
from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import driver
from zun.network import embedded
from zun.tests.unit.network import embedded_base as shared


class AttachTest(shared.TestCase):
    def test_attach_and_detach(self):
        container, net = shared.make_container(), self.shared()
        attachment = self.driver.attach(self.context, container,
                                        self.resolve({'network': net})[0])
        self.assertEqual([(container.uuid, attachment.engine_network)], self.engine.connected)
        self.driver.detach(self.context, container, net)
        self.driver.detach(self.context, container, net)
        self.assertEqual([], self.engine.connected)
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_held(self):
        container, nets = shared.make_container(), [self.shared(), self.shared()]
        for net in nets:
            self.driver.attach(self.context, container, self.resolve({'network': net})[0])
        self.driver.detach(self.context, container, nets[0])
        self.assertEqual(set(nets), self.driver.held(self.context, container.uuid))
        self.driver.release(self.context, container.uuid, nets[0])
        self.assertEqual({nets[1]}, self.driver.held(self.context, container.uuid))

    def test_refused_attach_gives_the_address_back(self):
        container = shared.make_container()
        for refusal in (exception.Conflict('no'), exception.EngineGone(container='c'),
                        exception.Invalid('no')):
            self.engine.refuse = refusal
            self.assertRaises(type(refusal), self.driver.attach, self.context, container,
                              self.resolve()[0])
            self.assertEqual({}, embedded_networks.addresses_of(container.uuid))

    def test_unknown_result_keeps_the_address(self):
        container = shared.make_container()
        self.engine.refuse = exception.EngineUnavailable(error_msg='x')
        self.assertRaises(exception.EngineUnavailable, self.driver.attach, self.context,
                          container, self.resolve()[0])
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_refused_again_keeps_what_it_had(self):
        container = shared.make_container()
        self.plan(container)
        self.engine.refuse = exception.Conflict('no')
        self.assertRaises(exception.Conflict, self.driver.attach, self.context, container,
                          self.resolve()[0])
        self.assertEqual(1, len(embedded_networks.addresses_of(container.uuid)))

    def test_detach_of_an_unknown_network(self):
        self.driver.detach(self.context, shared.make_container(), uuidutils.generate_uuid())

    def test_no_engine_in_the_api(self):
        self.assertRaises(exception.OperationNotSupported, self.api.attach, self.context,
                          shared.make_container(), self.resolve()[0])


class NetworkTest(shared.TestCase):
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
            shared.make_context('p2'), {'neutron_net_id': found['uuid']}))
        self.assertRaises(exception.NetworkNotFound, self.api.create_network, self.context,
                          {'neutron_net_id': uuidutils.generate_uuid()})
        self.assertEqual(1, len(self.rows()))

    def test_delete(self):
        container = shared.make_container()
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
        first = shared.make_container()
        cidr = self.address(self.plan(first, {'network': net})[0])
        self.driver.release(self.context, first.uuid)
        self.driver.delete_network(self.context, net)
        self.assertEqual(cidr, self.address(
            self.plan(shared.make_container(), {'network': self.shared()})[0]))

    def test_other_hosts_remove_theirs_by_sweep(self):
        net, containers = self.shared(), [shared.make_container(), shared.make_container()]
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

    def test_default_network_that_is_deleted_while_a_container_comes_to_use_it(self):
        """The host has made it, and looks no more whether it is defined."""
        first, second = shared.make_container(), shared.make_container()
        plan, = self.plan(first)
        self.driver.release(self.context, first.uuid)
        self.api.delete_network(self.context, plan.network_id)
        self.assertEqual(self.address(plan), self.address(self.plan(second)[0]))
        self.driver.sweep(self.context)
        definition = next(row for row in self.rows() if row.host is None)
        self.assertEqual((plan.network_id, 'p1', 'default'),
                         (definition.uuid, definition.project_id, definition.name))
        self.driver.sweep(self.context)
        self.assertEqual(2, len(self.rows()))

    def test_sweep_leaves_what_is_in_use(self):
        net, late = self.shared(), shared.make_container()
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


class CheckHostsTest(shared.TestCase):
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
