# SPDX-License-Identifier: Apache-2.0
"""Blocks and addresses of embedded networks, many at once."""

import concurrent.futures
import ipaddress

import testscenarios

from zun.common import exception
from zun.db import embedded_networks
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

POOL = '10.240.0.0/16'


class TestBlocks(database.TestCase):
    def test_next_free_one(self) -> None:
        first = embedded_networks.get_or_create('n1', POOL, 24, 1450)
        self.assertEqual(('10.240.0.0/24', '10.240.0.1', 1450),
                         (first['cidr'], first['gateway'], first['mtu']))
        second = embedded_networks.get_or_create('n2', POOL, 24, None)
        self.assertEqual('10.240.1.0/24', second['cidr'])
        again = embedded_networks.get_or_create('n1', POOL, 24, 9000)
        self.assertEqual(('10.240.0.0/24', 1450), (again['cidr'], again['mtu']))
        self.assertTrue(embedded_networks.remove('n1'))
        self.assertFalse(embedded_networks.remove('n1'))
        self.assertIsNone(embedded_networks.get('n1'))
        self.assertEqual('10.240.0.0/24',
                         embedded_networks.get_or_create('n3', POOL, 24, None)['cidr'])

    def test_blocks_do_not_overlap(self) -> None:
        embedded_networks.get_or_create('n1', POOL, 24, None)
        self.assertEqual('10.240.2.0/23',
                         embedded_networks.get_or_create('n2', POOL, 23, None)['cidr'])

    def test_used_up(self) -> None:
        for number in range(4):
            embedded_networks.get_or_create(f'n{number}', '10.0.0.0/28', 30, None)
        self.assertRaises(exception.Conflict, embedded_networks.get_or_create, 'n', '10.0.0.0/28',
                          30, None)

    def test_race(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            made = list(pool.map(lambda number: embedded_networks.get_or_create(
                f'n{number % 10}', POOL, 24, None)['cidr'], range(20)))
        self.assertEqual(10, len(set(made)))
        self.assertEqual(made[:10], made[10:])


class TestAddresses(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.network = embedded_networks.get_or_create('n', '10.0.0.0/16', 28, None)
        self.allocate = embedded_networks.allocate_address

    def test_lowest_free_one(self) -> None:
        self.assertEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4'],
                         [self.allocate('n', name) for name in 'abc'])
        self.assertEqual('10.0.0.3', self.allocate('n', 'b'))
        self.assertTrue(embedded_networks.release('n', 'b'))
        self.assertFalse(embedded_networks.release('n', 'b'))
        self.assertEqual('10.0.0.3', self.allocate('n', 'd'))

    def test_wanted(self) -> None:
        self.assertEqual('10.0.0.9', self.allocate('n', 'a', '10.0.0.9'))
        self.assertEqual('10.0.0.9', self.allocate('n', 'a', '10.0.0.9'))
        self.assertRaises(exception.Conflict, self.allocate, 'n', 'b', '10.0.0.9')
        self.assertRaises(exception.Conflict, self.allocate, 'n', 'b', '10.0.0.1')
        for wrong in ('10.0.1.2', '10.0.0.0', '10.0.0.15', 'fd00::1', 'x'):
            self.assertRaises(exception.InvalidValue, self.allocate, 'n', 'b', wrong)

    def test_full(self) -> None:
        for number in range(13):
            self.allocate('n', f'c{number}')
        self.assertRaises(exception.Conflict, self.allocate, 'n', 'more')
        embedded_networks.release('n', 'c5')
        self.assertEqual('10.0.0.7', self.allocate('n', 'more'))

    def test_unknown_network(self) -> None:
        self.assertRaises(exception.NetworkNotFound, self.allocate, 'none', 'a')

    def test_of_a_container(self) -> None:
        embedded_networks.get_or_create('m', '10.0.0.0/16', 28, None)
        self.allocate('m', 'a')
        self.allocate('n', 'a')
        self.assertEqual([('m', '10.0.0.18'), ('n', '10.0.0.2')],
                         list(embedded_networks.addresses_of('a').items()))
        self.assertEqual({'10.0.0.2': 'a'}, embedded_networks.holders('n'))
        embedded_networks.release('m', 'a')
        self.assertEqual({'n': '10.0.0.2'}, embedded_networks.addresses_of('a'))
        self.allocate('m', 'a')
        self.assertTrue(embedded_networks.release(None, 'a'))
        self.assertEqual({}, embedded_networks.addresses_of('a'))

    def test_network_in_use(self) -> None:
        self.allocate('n', 'a')
        self.assertRaises(exception.Conflict, embedded_networks.remove, 'n')
        embedded_networks.release('n', 'a')
        self.assertTrue(embedded_networks.remove('n'))

    def test_race(self) -> None:
        def take(number: int) -> str | None:
            try:
                return self.allocate('n', f'c{number}')
            except exception.Conflict:
                return None

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            taken = list(pool.map(take, range(20)))
        addresses = [address for address in taken if address is not None]
        self.assertEqual(13, len(addresses))
        self.assertEqual(
            [str(a) for a in ipaddress.ip_network(self.network['cidr']).hosts()][1:],
            sorted(addresses, key=ipaddress.ip_address))

    def test_race_for_one(self) -> None:
        def take(number: int) -> bool:
            try:
                return bool(self.allocate('n', f'c{number}', '10.0.0.5'))
            except exception.Conflict:
                return False

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertEqual(1, sum(pool.map(take, range(20))))
