# SPDX-License-Identifier: Apache-2.0
"""Services, hosts, their devices, and the books of the local ledger."""

import concurrent.futures
import datetime
import typing as ty

import fixtures
from oslo_utils import uuidutils
import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import exception
from zun.db import engine
from zun.db import local_allocations
from zun.db import models
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

Service = objects.ZunService


class TestServices(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        Service(host='node', binary='zun-compute', availability_zone='nova').create(self.admin)

    def _get(self) -> objects.ZunService:
        return Service.get_by_host_and_binary(self.admin, 'node', 'zun-compute')

    def _seen(self, seconds: float, *columns: str) -> objects.ZunService:
        """The service with some times in the past, the others not set."""
        table = models.zun_service
        with engine.writer() as session:
            then = engine.now(session) - datetime.timedelta(seconds=seconds)
            session.execute(sa.update(table).values({
                name: then if name in columns else None
                for name in ('last_seen_up', 'updated_at', 'created_at')}))
        return self._get()

    def test_new(self) -> None:
        found = self._get()
        self.assertEqual((0, False, False, None), (
            found.report_count, found.disabled, found.forced_down, found.last_seen_up))
        self.assertTrue(found.is_up())
        self.assertRaises(exception.ZunServiceAlreadyExists,
                          Service(host='node', binary='zun-compute').create, self.admin)

    def test_heartbeat(self) -> None:
        found = self._seen(1000, 'created_at')
        self.assertFalse(found.is_up())
        with engine.statement_counter() as counter:
            found.report_state_up()
        self.assertEqual(1, counter.count)
        found.report_state_up()
        found = self._get()
        self.assertEqual(2, found.report_count)
        self.assertTrue(0 <= found.seconds_since_seen < 5, found.seconds_since_seen)
        with engine.reader() as session:
            self.assertTrue(abs(engine.now(session) - found.last_seen_up)
                            < datetime.timedelta(seconds=5))

    def test_age(self) -> None:
        for columns in (('last_seen_up',), ('updated_at',), ('created_at',)):
            for seconds in (100, -100):
                age = self._seen(seconds, *columns).seconds_since_seen
                self.assertTrue(seconds - 1 <= age < seconds + 5, (columns, seconds, age))
        self.assertIsNone(self._seen(0).seconds_since_seen)

    def test_is_up(self) -> None:
        self.assertTrue(self._seen(100, 'last_seen_up').is_up(120))
        self.assertFalse(self._seen(100, 'last_seen_up').is_up(90))
        self.config(service_down_time=90)
        self.assertFalse(self._seen(100, 'last_seen_up').is_up())
        self.assertFalse(self._seen(-200, 'last_seen_up').is_up())

    def test_forced_down(self) -> None:
        found = self._get()
        found.forced_down = True
        found.disabled = True
        found.disabled_reason = 'maintenance'
        found.save()
        self.assertFalse(self._get().is_up())
        self.assertEqual('maintenance', self._get().disabled_reason)

    def test_list(self) -> None:
        Service(host='other', binary='zun-compute').create(self.admin)
        Service(host='node', binary='zun-scheduler').create(self.admin)
        with engine.statement_counter() as counter:
            self.assertEqual(['node', 'other', 'node'], [
                service.host for service in Service.list(self.admin)])
        self.assertEqual(1, counter.count)
        self.assertEqual(['node', 'other'], [
            service.host for service in Service.list_by_binary(self.admin, 'zun-compute')])
        self.assertEqual(2, len(Service.list(self.admin, filters={'host': 'node'})))

    def test_deleted(self) -> None:
        found = self._get()
        self.assertTrue(found.destroy())
        self.assertFalse(found.destroy())
        self.assertRaises(exception.ZunServiceNotFound, found.report_state_up)
        found.disabled = True
        self.assertRaises(exception.ZunServiceNotFound, found.save)
        error = self.assertRaises(exception.ZunServiceNotFound, self._get)
        self.assertEqual('Zun service zun-compute on host node could not be found.',
                         error.message)


class TestComputeNodes(database.TestCase):
    def make(self, **values: ty.Any) -> objects.ComputeNode:
        node = objects.ComputeNode(**{'hostname': 'node', **values})
        node.create(self.admin)
        return node

    def test_defaults(self) -> None:
        node = self.make()
        self.assertEqual(node.uuid, node.rp_uuid)
        found = objects.ComputeNode.get_by_name(self.admin, 'node')
        self.assertEqual(node.as_dict(), found.as_dict())
        self.assertEqual((0, 0.0, False, {}, []), (
            found.mem_total, found.cpu_used, found.enable_cpu_pinning, found.labels,
            found.runtimes))

    def test_every_field(self) -> None:
        pools = objects.PciDevicePoolList(objects=[objects.PciDevicePool(
            product_id='1520', vendor_id='8086', numa_node=0, tags={'dev_type': 'VF'}, count=4)])
        node = self.make(
            cpus=4, cpu_used=0.3, labels={'disk': 'ssd'}, runtimes=['runc'],
            numa_topology=objects.NUMATopology(nodes=[objects.NUMANode(
                id=0, cpuset={0, 1}, pinned_cpus=set(), mem_total=10, mem_available=5)]),
            pci_device_pools=pools)
        found = objects.ComputeNode.get_by_uuid(self.admin, node.uuid)
        self.assertEqual(0.3, found.cpu_used)
        self.assertEqual({0, 1}, found.numa_topology.nodes[0].free_cpus)
        self.assertEqual(4, found.pci_device_pools.objects[0].count)
        found.pci_device_pools = None
        found.cpu_used = 1.5
        found.save()
        node.refresh()
        self.assertEqual((None, 1.5), (node.pci_device_pools, node.cpu_used))

    def test_one_per_host(self) -> None:
        self.make()
        self.assertRaises(exception.ComputeNodeAlreadyExists, self.make)

    def test_racing_registrations(self) -> None:
        def register(_: int) -> bool:
            try:
                self.make()
            except exception.ComputeNodeAlreadyExists:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(register, range(8))))

    def test_gone(self) -> None:
        node = self.make()
        objects.PciDevice(
            compute_node_uuid=node.uuid, address='0000:00:00.0', vendor_id='v', product_id='p',
            dev_type='VF', label='l', status='available').save()
        self.assertTrue(node.destroy())
        self.assertFalse(node.destroy())
        node.cpus = 1
        self.assertRaises(exception.ComputeNodeNotFound, node.save)
        self.assertRaises(exception.ComputeNodeNotFound, objects.ComputeNode.get_by_name,
                          self.admin, 'node')
        self.assertEqual([], objects.PciDevice.list_by_compute_node(self.admin, node.uuid))


class TestPciDevices(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.node = objects.ComputeNode(hostname='node')
        self.node.create(self.admin)

    def _device(self, **values: ty.Any) -> objects.PciDevice:
        return objects.PciDevice(**{
            'compute_node_uuid': self.node.uuid, 'address': '0000:81:00.1', 'vendor_id': '8086',
            'product_id': '1520', 'dev_type': 'VF', 'label': 'label_8086_1520',
            'status': 'available', 'parent_addr': '0000:81:00.0', **values})

    def test_save_is_an_upsert(self) -> None:
        device = self._device(extra_info={'capabilities': '{}'})
        device.save()
        self._device(status='claimed', container_uuid='c').save()
        found = objects.PciDevice.get_by_dev_addr(self.admin, self.node.uuid, '0000:81:00.1')
        self.assertEqual((device.id, 'claimed', {'capabilities': '{}'}),
                         (found.id, found.status, found.extra_info))
        self.assertEqual(device.id, objects.PciDevice.get_by_dev_id(self.admin, device.id).id)
        for listed in (
                objects.PciDevice.list_by_compute_node(self.admin, self.node.uuid),
                objects.PciDevice.list_by_container_uuid(self.admin, 'c'),
                objects.PciDevice.list_by_parent_address(
                    self.admin, self.node.uuid, '0000:81:00.0')):
            self.assertEqual([device.id], [found.id for found in listed])

    def test_removed(self) -> None:
        device = self._device()
        device.save()
        device.status = 'removed'
        device.save()
        self.assertRaises(exception.PciDeviceNotFound, objects.PciDevice.get_by_dev_addr,
                          self.admin, self.node.uuid, '0000:81:00.1')
        self.assertRaises(exception.PciDeviceNotFoundById, objects.PciDevice.get_by_dev_id,
                          self.admin, device.id)

    def test_unknown_host(self) -> None:
        self.assertRaises(exception.ComputeNodeNotFound,
                          self._device(compute_node_uuid=uuidutils.generate_uuid()).save)


class TestLocalAllocations(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.rp_uuid = uuidutils.generate_uuid()
        local_allocations.register(self.rp_uuid, 'node')
        local_allocations.offer(self.rp_uuid, {'vcpu': 4, 'memory_mb': 1000, 'disk_gb': 10})

    def _claim(self, consumer: str, **amounts: int) -> bool:
        return local_allocations.claim(consumer, self.rp_uuid, amounts, 'project', 'user',
                                       'CONTAINER')

    def _host(self) -> dict[str, ty.Any]:
        row, = local_allocations.providers(models.local_provider.c.rp_uuid == self.rp_uuid)
        return row

    def _assert_counted(self) -> None:
        """What the host's row counts is what is held."""
        held = local_allocations.by_provider(self.rp_uuid)
        for name, used in local_allocations.USED.items():
            self.assertEqual(sum(row[name] for row in held), self._host()[used], name)

    def test_until_full(self) -> None:
        self.assertTrue(self._claim('a', vcpu=2, memory_mb=600))
        self.assertFalse(self._claim('b', vcpu=1, memory_mb=600))
        self.assertFalse(self._claim('b', vcpu=3))
        self.assertTrue(self._claim('b', vcpu=2, memory_mb=400, disk_gb=10))
        self.assertEqual(['a', 'b'], [row['consumer_uuid'] for row in
                                      local_allocations.by_provider(self.rp_uuid)])
        self._assert_counted()
        self.assertTrue(local_allocations.release('a'))
        self.assertFalse(local_allocations.release('a'))
        self.assertTrue(self._claim('c', vcpu=1, memory_mb=600))
        self._assert_counted()

    def test_replace(self) -> None:
        self.assertTrue(self._claim('a', vcpu=4))
        self.assertTrue(self._claim('a', vcpu=3, memory_mb=1000))
        self.assertFalse(self._claim('a', vcpu=5))
        row = local_allocations.get('a')
        self.assertEqual((3, 1000, 0, 1, 'project', 'CONTAINER'), (
            row['vcpu'], row['memory_mb'], row['disk_gb'], row['generation'],
            row['project_id'], row['consumer_type']))
        self.assertIsNone(local_allocations.get('b'))
        self._assert_counted()

    def test_less_is_possible_on_a_host_that_has_shrunk(self) -> None:
        self._claim('a', vcpu=4)
        local_allocations.offer(self.rp_uuid, {'vcpu': 2})
        self.assertFalse(self._claim('b', vcpu=1))
        self.assertTrue(self._claim('a', vcpu=3))
        self._assert_counted()

    def test_another_host(self) -> None:
        self._claim('a', vcpu=1)
        self.assertRaises(exception.ConsumerConflict, local_allocations.claim, 'a',
                          uuidutils.generate_uuid(), {'vcpu': 1})
        self.assertFalse(local_allocations.claim('b', uuidutils.generate_uuid(), {'vcpu': 1}))

    def test_host_that_registers_again_has_what_is_held_of_it(self) -> None:
        self._claim('a', vcpu=3, memory_mb=10)
        local_allocations.forget(self.rp_uuid)
        local_allocations.register(self.rp_uuid, 'node')
        self._assert_counted()
        local_allocations.register(self.rp_uuid, 'renamed')
        self.assertEqual(('renamed', 3), (self._host()['name'], self._host()['used_vcpu']))

    def test_race(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            won = list(pool.map(lambda number: self._claim(f'c{number}', vcpu=1), range(20)))
        self.assertEqual(4, sum(won))
        self.assertEqual(4, len(local_allocations.by_provider(self.rp_uuid)))
        self._assert_counted()

    def test_race_for_one_consumer(self) -> None:
        """Claims, changes and releases of one consumer at once leave the count right."""
        def act(number: int) -> None:
            if number % 3:
                self._claim('one', vcpu=1 + number % 2)
            else:
                local_allocations.release('one')

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(act, range(30)))
        self._assert_counted()

    def test_consumer_that_gave_back_and_claimed_meanwhile(self) -> None:
        """The new row looks like the one that was read, but for its amounts."""
        if self.backend == 'sqlite':
            self.skipTest('it has one writer at a time')
        for last in (lambda: self._claim('one', vcpu=3), lambda: local_allocations.release('one')):
            self._claim('one', vcpu=1)
            self._during_the_booking(lambda: (
                local_allocations.release('one'), self._claim('one', vcpu=2)))
            self.assertTrue(last())
            self._assert_counted()
            local_allocations.release('one')

    def _during_the_booking(self, act: ty.Callable[[], object]) -> None:
        """Do something in another transaction once the next one has read what is held."""
        book, pending = local_allocations._book, [act]

        def interrupted(*args: ty.Any) -> bool:
            if pending:
                with concurrent.futures.ThreadPoolExecutor(1) as pool:
                    pool.submit(pending.pop()).result()
            return book(*args)
        self.useFixture(fixtures.MonkeyPatch('zun.db.local_allocations._book', interrupted))

    def test_every_claim_changes_the_row_of_the_host(self) -> None:
        """Two in one second, of the same consumer and amounts: Galera must see both."""
        self._claim('a', vcpu=1)
        before = self._host()['generation']
        for _ in range(2):
            self.assertTrue(self._claim('a', vcpu=1))
        self.assertEqual(before + 2, self._host()['generation'])

    def test_hosts_with_room_are_not_always_the_same_first_ones(self) -> None:
        for _ in range(20):
            rp_uuid = uuidutils.generate_uuid()
            local_allocations.register(rp_uuid, 'x')
            local_allocations.offer(rp_uuid, {'vcpu': 1})
        found = {row['rp_uuid'] for _ in range(60)
                 for row in local_allocations.with_room({'vcpu': 1}, True, limit=3)}
        self.assertGreater(len(found), 10)
