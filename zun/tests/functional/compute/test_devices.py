# SPDX-License-Identifier: Apache-2.0
"""PCI devices of a made-up host, from sysfs to the claim."""

import json
import pathlib

import fixtures

from zun import objects
from zun.common import states
from zun.compute import operations
from zun.pci import sysfs
from zun.scheduler import host_state
from zun.scheduler import request as scheduler_request
from zun.scheduler.filters import pci_passthrough_filter
from zun.tests.functional.compute import base

_PF, _VFS = '0000:0a:00.0', ('0000:0a:10.0', '0000:0a:10.2')


class Sysfs(fixtures.Fixture):
    """One network card with two virtual functions, and a device of another kind.

    :ivar root: its directory
    """

    def _setUp(self):  # noqa: N802
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        card = self.device(_PF, '0x1521', sriov_totalvfs='8')
        (card / 'net' / 'eth1').mkdir(parents=True)
        for address in _VFS:
            (self.device(address, '0x1520') / 'physfn').symlink_to(f'../{_PF}')
        self.device('0000:00:02.0', '0x1912', numa_node='0')
        (self.root / '0000:ff:00.0').mkdir()
        self.useFixture(fixtures.MonkeyPatch(
            'zun.pci.sysfs.devices', lambda: self.read(self.root)))

    read = staticmethod(sysfs.devices)

    def device(self, address, product, **files):
        directory = self.root / address
        directory.mkdir()
        for name, text in {'vendor': '0x8086', 'device': product, 'numa_node': '-1',
                           **files}.items():
            (directory / name).write_text(f'{text}\n')
        return directory


class DevicesTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.sysfs = self.useFixture(Sysfs())
        self.config(group='pci', passthrough_whitelist=[
            json.dumps({'devname': 'eth1', 'physical_network': 'net1'})])
        self.tracker.refresh()

    @property
    def host_row(self):
        return objects.ComputeNode.get_by_name(self.admin, base.HOST)

    def statuses(self):
        found = objects.PciDevice.list_by_compute_node(self.admin, self.host_row.uuid)
        return {device.address: device.status for device in found}

    def with_devices(self, count=1, **spec):
        container = self.placed()
        asked = self.asked(container)
        asked.pci_requests = [{'count': count, 'spec': [spec], 'request_id': 'r'}]
        asked.save(self.admin)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        return self.settled(container)

    def pools(self):
        found = self.host_row.pci_device_pools
        return [(pool.tags, pool.count) for pool in found.objects] if found else []

    def test_found(self):
        self.assertEqual(dict.fromkeys((_PF, *_VFS), 'available'), self.statuses())
        rows = objects.PciDevice.list_by_parent_address(self.admin, self.host_row.uuid, _PF)
        self.assertEqual([('VF', '8086', '1520', 'pci_0000_0a_10_0')], [
            (d.dev_type, d.vendor_id, d.product_id, d.dev_id) for d in rows[:1]])
        self.assertEqual([({'physical_network': 'net1', 'dev_type': 'PF'}, 1),
                          ({'physical_network': 'net1', 'dev_type': 'VF'}, 2)], self.pools())

    def test_claimed_allocated_and_free_again(self):
        container = self.with_devices(physical_network='net1')
        self.assertEqual(states.RUNNING, container.status)
        self.assertEqual([_VFS[0]], [device.address for device in container.pci_devices])
        self.assertEqual({_PF: 'unclaimable', _VFS[0]: 'claimed', _VFS[1]: 'available'},
                         self.statuses())
        self.tracker.refresh()
        self.assertEqual({_PF: 'unavailable', _VFS[0]: 'allocated', _VFS[1]: 'available'},
                         self.statuses())
        self.assertEqual([({'physical_network': 'net1', 'dev_type': 'VF'}, 1)], self.pools())
        self.run_operation(container, 'delete', states.DELETING, force=False, stop=False)
        other = self.with_devices(dev_type='PF')
        self.assertEqual(states.RUNNING, other.status)
        self.assertEqual([_PF], [device.address for device in other.pci_devices])

    def test_too_few(self):
        refused = self.with_devices(3)
        self.assertEqual([(refused.uuid, 1)], self.scheduler.asked)
        self.assertIn('PCI devices', refused.status_reason)
        self.assertEqual(dict.fromkeys((_PF, *_VFS), 'available'), self.statuses())

    def test_device_that_leaves_the_host(self):
        held = self.with_devices().pci_devices[0].address
        for address in _VFS:
            (self.sysfs.root / address / 'vendor').unlink()
        self.tracker.refresh()
        self.assertEqual({_PF: 'unavailable', held: 'allocated'}, self.statuses())

    def test_whitelist_that_is_taken_away_or_wrong(self):
        self.config(group='pci', passthrough_whitelist=['{'])
        self.tracker.refresh()
        self.assertEqual(3, len(self.statuses()))
        self.config(group='pci', passthrough_whitelist=[])
        self.tracker.refresh()
        self.assertEqual(({}, []), (self.statuses(), self.pools()))

    def test_scheduler_agrees(self):
        def passes(count):
            asked = self.asked(container)
            asked.pci_requests = [{'count': count, 'spec': [{'dev_type': 'VF'}]}]
            wanted = scheduler_request.build(container, asked)
            host = host_state.HostState(pci_stats=self.host_row.pci_device_pools.to_column())
            return pci_passthrough_filter.PciPassthroughFilter().host_passes(host, wanted)
        container = self.with_devices()
        self.tracker.refresh()
        self.assertEqual((True, False), (passes(1), passes(2)))
