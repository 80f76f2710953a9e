# SPDX-License-Identifier: Apache-2.0
"""Who gets which device."""

from zun.common import exception
from zun.common import states
from zun.pci import books
from zun.pci import requests
from zun.tests import base


def device(address, dev_type='PCI', parent=None, holder=None, request=None, **extra):
    return {'address': address, 'dev_type': dev_type, 'parent_addr': parent,
            'vendor_id': '8086', 'product_id': '1520', 'numa_node': None,
            'container_uuid': holder, 'request_id': request, 'status': 'available',
            'extra_info': extra}


def card(**holders):
    """A physical function with two virtual ones."""
    return [device('pf', 'PF', holder=holders.get('pf')),
            device('vf0', 'VF', 'pf', holders.get('vf0'), physical_network='net1'),
            device('vf1', 'VF', 'pf', holders.get('vf1'), physical_network='net1')]


def statuses(devices):
    return [each['status'] for each in devices]


def ask(count=1, request_id='r', **spec):
    return {'count': count, 'spec': [spec], 'request_id': request_id}


class SettleTest(base.TestCase):
    def test_table(self):
        being, there = {'c': states.CREATING}, {'c': states.STOPPED}
        for held, holders, expected in [
                ({}, {}, ['available'] * 3),
                ({'vf0': 'c'}, being, ['unclaimable', 'claimed', 'available']),
                ({'vf0': 'c'}, there, ['unavailable', 'allocated', 'available']),
                ({'vf0': 'c'}, {}, ['available'] * 3),
                ({'pf': 'c'}, being, ['claimed', 'unclaimable', 'unclaimable']),
                ({'pf': 'c'}, there, ['allocated', 'unavailable', 'unavailable']),
                ({'vf0': 'c', 'vf1': 'd'}, {**being, 'd': states.RUNNING},
                 ['unavailable', 'claimed', 'allocated'])]:
            devices = card(**held)
            books.settle(devices, holders)
            self.assertEqual(expected, statuses(devices), (held, holders))


class TakeTest(base.TestCase):
    def test_virtual_first_and_the_physical_one_only_when_asked_for(self):
        devices = card()
        books.take(devices, 'c', [ask(2)])
        self.assertEqual(['unclaimable', 'claimed', 'claimed'], statuses(devices))
        self.assertRaises(exception.ResourcesUnavailable, books.take, devices, 'd', [ask()])
        devices = card()
        books.take(devices, 'c', [ask(dev_type='PF')])
        self.assertEqual(['claimed', 'unclaimable', 'unclaimable'], statuses(devices))
        self.assertRaises(exception.ResourcesUnavailable, books.take, devices, 'd', [ask()])

    def test_physical_one_whose_virtual_one_is_held(self):
        devices = card()
        books.take(devices, 'c', [ask()])
        self.assertRaises(exception.ResourcesUnavailable, books.take, devices, 'd',
                          [ask(dev_type='PF')])

    def test_again_takes_no_more(self):
        devices = card()
        for _ in range(2):
            books.take(devices, 'c', [ask()])
        self.assertEqual(['c'], [d['container_uuid'] for d in devices if d['container_uuid']])
        books.take(devices, 'c', [ask(request_id='other')])
        self.assertEqual(['r', 'other'], [d['request_id'] for d in devices[1:]])

    def test_by_tag(self):
        devices = [device('a', physical_network='net1'), device('b', physical_network='net2')]
        books.take(devices, 'c', [ask(physical_network='net2')])
        self.assertEqual([None, 'c'], [each['container_uuid'] for each in devices])


class PoolsTest(base.TestCase):
    def test_free_ones_by_kind(self):
        devices = card()
        self.assertEqual([('PF', 1), ('VF', 2)], [
            (pool['tags']['dev_type'], pool['count']) for pool in books.pools(devices)])
        books.take(devices, 'c', [ask()])
        self.assertEqual([{'vendor_id': '8086', 'product_id': '1520', 'numa_node': None,
                           'tags': {'dev_type': 'VF', 'physical_network': 'net1'}, 'count': 1}],
                         books.pools(devices))


class RequestsTest(base.TestCase):
    def test_stored(self):
        plain = [{'count': 1, 'spec': [{'a': 'b'}], 'request_id': 'r'}]
        for value, expected in [(None, []), (plain, plain), ({'requests': plain}, plain), (
                {'zun_object.name': 'ContainerPCIRequests', 'zun_object.data': {
                    'requests': [{'zun_object.data': plain[0]}]}}, plain)]:
            self.assertEqual(expected, requests.stored(value))
