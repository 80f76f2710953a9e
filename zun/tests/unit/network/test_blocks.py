# SPDX-License-Identifier: Apache-2.0

import uuid

from zun.common import exception
from zun.network import blocks
from zun.network import embedded
from zun.network import native
from zun.tests import base

NET = '3f0e1f7c-6a45-4a5d-9a37-7e2a1c1f0001'


class BlocksTest(base.TestCase):
    def test_ids_are_stable(self):
        # In the database of every installation: a change here loses networks and interfaces.
        self.assertEqual('b39dd610-a00a-582c-8d1a-61e825d5b36d', blocks.default_network_id('p'))
        self.assertEqual('745a9bf3-157e-595b-80f9-704a4929217e',
                         blocks.realisation_id(NET, 'node1'))

    def test_ids_differ_by_kind_and_input(self):
        ids = [blocks.default_network_id('p'), blocks.default_network_id('q'),
               blocks.realisation_id(NET, 'a'), blocks.realisation_id(NET, 'b'),
               blocks.subnet_id(NET, 'a'), blocks.port_id(NET, 'a')]
        self.assertEqual(6, len(set(ids)))
        for found in ids:
            self.assertEqual(found, str(uuid.UUID(found)))

    def test_names_fit_interfaces(self):
        row = blocks.realisation_id(NET, 'node1')
        self.assertEqual(f'zun-{row}', blocks.engine_name(row))
        self.assertRegex(blocks.bridge_name(row), r'^zun[0-9a-f]{8}$')

    def test_check_address(self):
        cases = {'10.1.0.2': True, '10.1.0.254': True, '10.1.0.0': False, '10.1.0.255': False,
                 '10.1.0.1': False, '10.1.1.2': False, '10.0.255.255': False}
        for address, good in cases.items():
            try:
                blocks.check_address('10.1.0.0/24', '10.1.0.1', address)
                found = True
            except exception.InvalidValue as error:
                found = False
                self.assertIn(address, error.message)
            self.assertEqual(good, found, address)

    def test_ipv4(self):
        self.assertEqual('10.0.0.1', blocks.ipv4('10.0.0.1'))
        for address in ('fd00::1', '10.0.0', '10.0.0.256', '', '10.0.0.1/24'):
            error = self.assertRaises(exception.InvalidValue, blocks.ipv4, address)
            self.assertEqual(400, error.code)


class OwnerTest(base.TestCase):
    """Which driver may serve a container: (addresses, cni_metadata) -> (embedded, native)."""

    OURS = {NET: [{'addr': '10.1.0.2', 'version': 4, 'port': blocks.port_id(NET, 'c1'),
                   'subnet_id': 's', 'preserve_on_delete': False}]}
    NEUTRON = {NET: [{'addr': '10.1.0.2', 'version': 4, 'port': str(uuid.UUID(int=7)),
                      'subnet_id': 's', 'preserve_on_delete': True}]}

    def test_table(self):
        for addresses, metadata, expected in (
                (self.OURS, None, (True, False)),
                (self.OURS, {}, (True, False)),
                (self.NEUTRON, None, (False, True)),
                (self.NEUTRON, {'vif': {}}, (False, True)),
                ({}, None, (True, True)),
                ({}, {'vif': {}}, (False, True))):
            found = tuple(made.owns('c1', addresses, metadata)
                          for made in (embedded.EmbeddedDriver(), native.NativeDriver()))
            self.assertEqual(expected, found, (addresses, metadata))

    def test_addresses_of_another_container(self):
        self.assertFalse(embedded.EmbeddedDriver().owns('c2', self.OURS, None))
