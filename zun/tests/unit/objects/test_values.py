# SPDX-License-Identifier: Apache-2.0
"""What objects make of stored values."""

from oslo_versionedobjects import exception as ovo_exc

from zun import objects
from zun.objects import service
from zun.tests import base

_DOWN_TIME = 180


class TestServiceIsUp(base.TestCase):
    def test_table(self) -> None:
        for seconds, up in ((0, True), (60, True), (179, True), (180, True), (181, False),
                            (3600, False), (-100, True), (-200, False), (None, False)):
            self.assertIs(up, service.service_is_up(seconds, False, _DOWN_TIME), seconds)
            self.assertIs(False, service.service_is_up(seconds, True, _DOWN_TIME), seconds)


class TestPools(base.TestCase):
    def test_stored_forms(self) -> None:
        flat = {'product_id': '1520', 'vendor_id': '8086', 'numa_node': 0, 'count': 4,
                'dev_type': 'VF', 'tags': {'physical_network': 'physnet1'}}
        primitive = objects.PciDevicePoolList(
            objects=[objects.PciDevicePool.from_dict(flat)]).to_column()
        for stored in (flat, [flat], primitive):
            pool = objects.PciDevicePoolList.from_column(stored).objects[0]
            self.assertEqual(('1520', 0, 4), (pool.product_id, pool.numa_node, pool.count))
            self.assertEqual({'dev_type': 'VF', 'physical_network': 'physnet1'}, pool.tags)
        self.assertIsNone(objects.PciDevicePoolList.from_column(None))
        self.assertEqual([], objects.PciDevicePoolList.from_column([]).objects)
        self.assertEqual([], objects.PciDevicePoolList.from_column({}).objects)

    def test_stored_form_is_upstream_s(self) -> None:
        stored = objects.PciDevicePoolList(objects=[]).to_column()
        self.assertEqual(('PciDevicePoolList', 'zun', '1.0'), (
            stored['zun_object.name'], stored['zun_object.namespace'],
            stored['zun_object.version']))


class TestCpuset(base.TestCase):
    def test_stored_forms(self) -> None:
        for stored in (None, {}):
            self.assertIsNone(objects.Cpuset.from_column(stored))
        unset = objects.Cpuset.from_column({'cpuset_cpus': None, 'cpuset_mems': None})
        self.assertEqual({'cpuset_cpus': None, 'cpuset_mems': None}, unset.to_column())
        pinned = objects.Cpuset.from_column({'cpuset_cpus': [3, 1], 'cpuset_mems': [0]})
        self.assertEqual({1, 3}, pinned.cpuset_cpus)
        self.assertEqual({'cpuset_cpus': [1, 3], 'cpuset_mems': [0]}, pinned.to_column())


class TestFields(base.TestCase):
    def test_status_is_an_enumeration(self) -> None:
        container = objects.Container()
        for field in ('status', 'task_state'):
            self.assertRaises(ValueError, setattr, container, field, 'Odd')
            self.assertRaises(ValueError, container.take_row, {field: 'Odd'})
            setattr(container, field, None)

    def test_json_text_is_parsed(self) -> None:
        container = objects.Container(healthcheck='{"test": "x"}', annotations=[1])
        self.assertEqual(({'test': 'x'}, [1]), (container.healthcheck, container.annotations))

    def test_as_dict_has_what_is_set(self) -> None:
        self.assertEqual({'name': 'a'}, objects.Container(name='a').as_dict())

    def test_orphans_load_nothing(self) -> None:
        container = objects.Container(id=1, uuid='00000001-0000-4000-8000-000000000001')
        for name in ('registry', 'pci_devices', 'exec_instances'):
            self.assertRaises(ovo_exc.OrphanedObjectError, getattr, container, name)
        self.assertRaises(AttributeError, getattr, container, 'image')
        self.assertRaises(ovo_exc.OrphanedObjectError, container.refresh)
        mapping = objects.VolumeMapping(container_uuid=container.uuid)
        self.assertRaises(ovo_exc.OrphanedObjectError, getattr, mapping, 'container')

    def test_secrets_stay_out_of_texts(self) -> None:
        volume = objects.Volume(connection_info="{'auth_password': 'geheim'}")
        self.assertNotIn('geheim', repr(volume))
