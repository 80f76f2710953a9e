# SPDX-License-Identifier: Apache-2.0
"""The whitelist, against what was recorded and beyond."""

import json

from zun.common import exception
from zun.pci import whitelist
from zun.tests import base
from zun.tests import vectors

DEVICE = {'vendor_id': '8086', 'product_id': '1520', 'address': '0000:0a:10.2',
          'parent_addr': '0000:0a:00.1', 'name': 'eth5', 'parent_name': 'eth1'}


class RecordedTest(base.TestCase):
    def check(self, function, call):
        for args, result, status in vectors.of(function):
            with self.subTest(args=args):
                if status:
                    error = self.assertRaises(exception.ZunException, call, **args)
                    self.assertEqual(status, error.code)
                else:
                    found = call(**args)
                    self.assertEqual(
                        result, list(found) if isinstance(found, tuple) else found)

    def test_parse_address(self):
        self.check('pci_parse_address', whitelist.parse_address)

    def test_matches(self):
        self.check('pci_device_prop_match', whitelist.matches)

    def test_spec(self):
        self.check('pci_whitelist_match',
                   lambda spec, device: whitelist.Spec(spec).match(device))


class SpecTest(base.TestCase):
    def test_virtual_functions_go_with_the_physical_one(self):
        for entry, expected in [({'address': '0000:0a:00.1'}, True),
                                ({'address': '0000:0a:00.2'}, False), ({'devname': 'eth1'}, True),
                                ({'devname': 'eth5'}, True), ({'devname': 'eth0'}, False)]:
            self.assertEqual(expected, whitelist.Spec(entry).match(DEVICE), entry)

    def test_tags(self):
        spec = whitelist.Spec({'vendor_id': '8086', 'physical_network': 'net1', 'trusted': True})
        self.assertEqual({'physical_network': 'net1', 'trusted': 'True'}, spec.tags)

    def test_wrong(self):
        for entry, error in [
                ({'address': '0:0:0:0'}, exception.PciDeviceWrongAddressFormat),
                ({'address': 'fffff:0:0'}, exception.PciConfigInvalidWhitelist),
                ({'address': '20.0'}, exception.PciConfigInvalidWhitelist),
                ({'address': {'bus': '('}}, exception.PciConfigInvalidWhitelist),
                ({'product_id': '12345'}, exception.PciConfigInvalidWhitelist)]:
            self.assertRaises(error, whitelist.Spec, entry)


class LoadTest(base.TestCase):
    def test_objects_and_lists(self):
        self.assertEqual([], whitelist.load())
        self.config(group='pci', passthrough_whitelist=[
            json.dumps({'vendor_id': '8086'}), json.dumps([{'tag': 'a'}, {'tag': 'b'}])])
        self.assertEqual([{}, {'tag': 'a'}, {'tag': 'b'}],
                         [spec.tags for spec in whitelist.load()])

    def test_no_json(self):
        for text in ('{', '1', '[1]'):
            self.config(group='pci', passthrough_whitelist=[text])
            self.assertRaises(exception.PciConfigInvalidWhitelist, whitelist.load)
