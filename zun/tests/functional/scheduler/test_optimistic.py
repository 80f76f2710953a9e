# SPDX-License-Identifier: Apache-2.0
"""Claims without candidates: what the rows of hosts cannot tell must not lead astray."""

import uuid

import fixtures
import sqlalchemy as sa

from zun import objects
from zun.common import exception
from zun.placement import client
from zun.placement import ledger as placement_ledger
from zun.placement import placement
from zun.scheduler import manager
from zun.tests.functional.placement import inprocess
from zun.tests.functional.scheduler import cloud
from zun.tests.functional.scheduler import test_manager

Refusing = test_manager.Refusing
MUST_NOT = exception.LedgerUnavailable(reason='must not be asked')


class Slow(Refusing):
    """One that builds all candidates, however few are asked for."""

    draws = False


class LocalTest(test_manager.TestCase):
    def setUp(self):
        super().setUp()
        self.config(group='scheduler', optimistic=True)

    def _asks(self, **values):
        """Whether candidates are asked for."""
        refused = self.schedule(cloud.container(**values), books=Refusing(candidates=MUST_NOT))
        return refused.host is None

    def test_candidates_are_not_asked_for(self):
        cloud.host(self.books, 'a')
        self.assertEqual('a', self.schedule(
            cloud.container(), books=Refusing(candidates=MUST_NOT)).host)

    def test_with_many_hosts(self):
        self.config(group='scheduler', optimistic=False, optimistic_above=2)
        for name in 'abc':
            cloud.host(self.books, name)
        self.assertIsNotNone(self.schedule(cloud.container(), books=Slow(
            candidates=MUST_NOT)).host)
        for above in (3, 0):
            self.config(group='scheduler', optimistic_above=above)
            self.assertIsNone(self.schedule(cloud.container(), books=Slow(
                candidates=MUST_NOT)).host)

    def test_it_was_wrong(self):
        for name in 'abcde':
            provider = cloud.host(self.books, name, cpus=1)
            if name != 'e':
                self.assertTrue(self.books.claim(
                    placement_ledger.Consumer(f'{name}-holder', 'p', 'u'),
                    self.books.candidates({'VCPU': 1}, in_tree=provider)[0]))
                self.addCleanup(self.books.release, f'{name}-holder')
        self.assertEqual('e', self.schedule(cloud.container()).host)

    def test_a_refused_guess_does_not_rule_out_the_host(self):
        """The host that was asked for has room in another way, which only candidates tell."""
        cloud.host(self.books, 'a')
        books = Refusing(claim=lambda candidate: len(books.claims) < 2)
        self.assertEqual('a', self.schedule(
            cloud.container(request={'requested_host': 'a'}), books=books).host)

    def test_closed_hosts_whatever_filters_there_are(self):
        """Candidates leave them out by their trait."""
        self.config(group='scheduler', enabled_filters=['RuntimeFilter'])
        for column in ('disabled', 'forced_down'):
            cloud.host(self.books, column)
            service = objects.ZunService.get_by_host_and_binary(cloud.ADMIN, column, 'zun-compute')
            setattr(service, column, True)
            service.save()
        self.assertTrue(self._asks())
        cloud.host(self.books, 'open')
        self.assertFalse(self._asks())

    def test_hosts_that_are_full_by_their_own_rows(self):
        self.config(group='compute', reserved_host_memory_mb=0, ram_allocation_ratio=1.0,
                    cpu_allocation_ratio=1.0)
        for name, values in (('memory', {'mem_used': 8000}), ('cpu', {'cpu_used': 3.5}),
                             ('disk', {'disk_used': 99}),
                             ('quota', {'disk_quota_supported': False})):
            cloud.host(self.books, name, **{'disk_quota_supported': True, **values})
        self.assertTrue(self._asks(disk=2))
        cloud.host(self.books, 'room', disk_quota_supported=True)
        self.assertFalse(self._asks(disk=2))

    def test_no_container_is_larger_than_a_host(self):
        cloud.host(self.books, 'a')
        self.assertFalse(self._asks(cpu=4.0))
        self.assertTrue(self._asks(cpu=5.0))

    def test_the_fullest_host_is_left_to_the_ledger(self):
        cloud.host(self.books, 'a')
        self.assertFalse(self._asks())
        self.config(group='scheduler', host_weight_policy='pack')
        self.assertTrue(self._asks())


class PlacementTest(test_manager.TestCase):
    """On a real Placement."""

    def setUp(self):
        super().setUp()
        self.placement = self.useFixture(inprocess.Placement())
        self.connection = self.placement.connection()
        self.books = placement.PlacementLedger(self.connection)
        self.books.prepare()
        self.useFixture(fixtures.MockPatchObject(client, 'pause'))
        self.config(group='scheduler', optimistic=True)
        self.config(group='compute', reserved_host_memory_mb=0)
        self.scheduler = self.manager(self.books)

    def _schedule(self, **values):
        """A container where it went, and the requests that it took."""
        container = cloud.container(**values)
        del self.placement.calls[:]
        self.scheduler.schedule_container(cloud.user(), container.uuid, 0)
        return cloud.row(container.uuid), [
            f'{method} {path.split("/")[1]}' for method, path in self.placement.calls]

    def _consumers(self):
        with self.placement.engine.connect() as connection:
            return connection.execute(sa.text('SELECT COUNT(*) FROM consumers')).scalar()

    def _share_disk(self, *hosts):
        """Storage of its own provider, for these hosts."""
        storage, aggregate = str(uuid.uuid4()), str(uuid.uuid4())
        client.create_provider(self.connection, storage, 'storage')
        for provider in (storage, *hosts):
            _have, generation = client.get_part(self.connection, provider, 'aggregates')
            client.put_part(self.connection, provider, 'aggregates', [aggregate], generation)
        _have, generation = client.get_part(self.connection, storage, 'traits')
        client.put_part(self.connection, storage, 'traits', ['MISC_SHARES_VIA_AGGREGATE'],
                        generation)
        _have, generation = client.get_part(self.connection, storage, 'inventories')
        client.put_part(self.connection, storage, 'inventories', {
            'DISK_GB': {'total': 100}}, generation)
        return storage

    def _without_disk(self, name):
        provider = cloud.host(self.books, name, disk_quota_supported=True)
        self.books.report(provider, {'VCPU': cloud.Inventory(4),
                                     'MEMORY_MB': cloud.Inventory(8192)})
        return provider

    def test_one_request(self):
        """Now and then another one, which asks for the hosts that are closed."""
        provider = cloud.host(self.books, 'a')
        for expected in (['GET resource_providers', 'PUT allocations'], ['PUT allocations']):
            placed, calls = self._schedule()
            self.assertEqual(('a', expected), (placed.host, calls))
        self.assertEqual({provider: {'VCPU': 1, 'MEMORY_MB': 512}}, self.books.held(placed.uuid))

    def test_shared_storage(self):
        """It is found once guesses were refused, and then there are no more of them."""
        provider = self._without_disk('a')
        storage = self._share_disk(provider)
        for expected in (['GET resource_providers', 'PUT allocations', 'GET allocation_candidates',
                          'PUT allocations'], ['GET allocation_candidates', 'PUT allocations']):
            placed, calls = self._schedule(disk=5)
            self.assertEqual(('a', expected), (placed.host, calls))
            self.assertEqual({provider: {'VCPU': 1, 'MEMORY_MB': 512}, storage: {'DISK_GB': 5}},
                             self.books.held(placed.uuid))
        self._schedule()
        self.assertEqual(['PUT allocations'], self._schedule()[1])

    def test_refusals_leave_no_consumer(self):
        for name in 'ab':
            cloud.host(self.books, name, memory=4096, mem_total=8192)
        refused, calls = self._schedule(memory='8000')
        self.assertEqual(['PUT allocations'] * 2 + ['GET allocation_candidates'], calls[1:])
        self.assertEqual((manager.NO_HOST, 0), (refused.status_reason, self._consumers()))

    def test_providers_that_are_gone(self):
        """Each leaves a record of the consumer that only generation 0 matches."""
        gone = [cloud.host(self.books, name) for name in 'ab']
        there = cloud.host(self.books, 'c', cpus=2, memory=2048)
        for provider in gone:
            self.assertTrue(client.delete_provider(self.connection, provider).done)
        placed, _calls = self._schedule()
        self.assertEqual({there: {'VCPU': 1, 'MEMORY_MB': 512}}, self.books.held(placed.uuid))
        self.assertEqual(1, self._consumers())

    def test_host_that_was_disabled_just_now(self):
        """Its row tells at once, the ledger may follow later."""
        cloud.host(self.books, 'a')
        service = objects.ZunService.get_by_host_and_binary(cloud.ADMIN, 'a', 'zun-compute')
        service.disabled = True
        service.save()
        self.assertEqual('Error', self._schedule()[0].status)
        service.disabled = False
        service.save()
        self.assertEqual('a', self._schedule()[0].host)

    def test_host_that_only_the_ledger_keeps_closed(self):
        """No row tells of a node whose disk is full, or of a trait that an operator has set."""
        clock = self.useFixture(fixtures.MockPatch('time.monotonic')).mock
        clock.return_value = 1000.0
        closed = cloud.host(self.books, 'closed')
        cloud.host(self.books, 'open', cpus=1)
        self.books.set_disabled(closed, True)
        self.assertEqual('open', self._schedule()[0].host)
        self.assertEqual('Error', self._schedule()[0].status)
        self.books.set_disabled(closed, False)
        clock.return_value += 30
        self.assertEqual('closed', self._schedule()[0].host)
