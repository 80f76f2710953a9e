# SPDX-License-Identifier: Apache-2.0
"""What every ledger must do, on the local one."""

from zun.common import exception
from zun.placement import ledger
from zun.placement import local
from zun.tests import base
from zun.tests import database
from zun.tests.functional.scheduler import cloud

Inventory = ledger.Inventory
RESOURCES = {'VCPU': 1, 'MEMORY_MB': 512}


def consumer(number, kind='CONTAINER'):
    return ledger.Consumer(f'{number:08d}-0000-4000-8000-000000000000', 'project', 'user', kind)


class Contract:
    """Cases for one ledger; ``self.books`` is it, ``self.node(name)`` makes a host."""

    def candidate(self, provider, resources=None):
        found, = self.books.candidates(resources or RESOURCES,
                                       forbidden=[ledger.DISABLED_TRAIT], in_tree=provider)
        return found

    def test_claim_and_release(self):
        provider = self.node('a')
        candidate = self.candidate(provider)
        self.assertEqual((provider, 4, 0), (candidate.provider, candidate.capacity['VCPU'],
                                            candidate.used['VCPU']))
        self.assertTrue(self.books.claim(consumer(1), candidate))
        self.assertEqual({provider: RESOURCES}, self.books.held(consumer(1).uuid))
        self.assertEqual({consumer(1).uuid: RESOURCES}, self.books.allocations_on(provider))
        self.assertEqual(1, self.candidate(provider).used['VCPU'])
        for _round in range(2):
            self.books.release(consumer(1).uuid)
            self.assertEqual({}, self.books.held(consumer(1).uuid))
        self.assertEqual({}, self.books.allocations_on(provider))
        self.assertTrue(self.books.claim(consumer(1), candidate))

    def test_claimed_twice_is_claimed_once(self):
        candidate = self.candidate(self.node('a'))
        self.assertTrue(self.books.claim(consumer(1), candidate))
        self.assertTrue(self.books.claim(consumer(1), candidate))
        self.assertEqual({candidate.provider: RESOURCES}, self.books.held(consumer(1).uuid))

    def test_somebody_elses_claim(self):
        here, there = self.node('a'), self.node('b')
        self.assertTrue(self.books.claim(consumer(1), self.candidate(here)))
        self.assertRaises(exception.ConsumerConflict, self.books.claim, consumer(1),
                          self.candidate(there))
        self.assertEqual([here], list(self.books.held(consumer(1).uuid)))

    def test_full(self):
        provider = self.node('a')
        candidate = self.candidate(provider)
        for number in range(4):
            self.assertTrue(self.books.claim(consumer(number), candidate))
        self.assertFalse(self.books.claim(consumer(9), candidate))
        self.assertEqual([], self.books.candidates(RESOURCES))
        self.assertEqual({}, self.books.held(consumer(9).uuid))
        self.books.release(consumer(0).uuid)
        self.assertTrue(self.books.claim(consumer(9), candidate))

    def test_ratio_and_reserve(self):
        self.config(group='compute', cpu_allocation_ratio=2.5)
        provider = self.node('a')
        self.books.report(provider, {'VCPU': Inventory(4, 1, 2.5),
                                     'MEMORY_MB': Inventory(1024, 24)})
        candidate = self.candidate(provider)
        self.assertEqual((7, 1000), (candidate.capacity['VCPU'],
                                     candidate.capacity['MEMORY_MB']))
        self.assertEqual([], self.books.candidates({'MEMORY_MB': 1001}))

    def test_capacity(self):
        provider = self.node('a')
        self.assertEqual(self.candidate(provider).capacity, {
            name: amount for name, amount in self.books.capacity(provider).items() if amount})
        self.assertEqual({}, self.books.capacity('99999999-0000-4000-8000-000000000000'))

    def test_class_that_is_not_offered(self):
        provider = self.node('a')
        self.books.report(provider, {'VCPU': Inventory(4), 'MEMORY_MB': Inventory(4096)})
        self.assertEqual([], self.books.candidates({**RESOURCES, 'DISK_GB': 1}))
        self.assertEqual(1, len(self.books.candidates(RESOURCES)))

    def test_limit(self):
        for name in 'abc':
            self.node(name)
        self.assertEqual(3, len(self.books.candidates(RESOURCES)))
        self.assertEqual(2, len(self.books.candidates(RESOURCES, limit=2)))

    def test_resize(self):
        provider = self.node('a')
        self.books.claim(consumer(1), self.candidate(provider))
        self.assertTrue(self.books.resize(consumer(1), {'VCPU': 4, 'MEMORY_MB': 256}))
        self.assertEqual({provider: {'VCPU': 4, 'MEMORY_MB': 256}},
                         self.books.held(consumer(1).uuid))
        self.assertFalse(self.books.resize(consumer(1), {'VCPU': 5, 'MEMORY_MB': 256}))
        self.assertEqual(4, self.books.held(consumer(1).uuid)[provider]['VCPU'])
        self.assertTrue(self.books.resize(consumer(2), RESOURCES))
        self.assertEqual({}, self.books.held(consumer(2).uuid))

    def test_disabled(self):
        provider = self.node('a')
        self.books.set_disabled(provider, True)
        forbidden = [ledger.DISABLED_TRAIT]
        self.assertEqual([], self.books.candidates(RESOURCES, forbidden=forbidden))
        self.assertEqual(1, len(self.books.candidates(RESOURCES)))
        self.assertEqual({provider}, set(self.books.closed()))
        self.books.set_disabled(provider, False)
        self.assertEqual(1, len(self.books.candidates(RESOURCES, forbidden=forbidden)))
        self.assertEqual(set(), set(self.books.closed()))
        self.books.report(provider, self.INVENTORIES, forbidden)
        self.assertEqual([], self.books.candidates(RESOURCES, forbidden=forbidden))
        self.books.set_disabled('99999999-0000-4000-8000-000000000000', True)

    def test_shrinking_below_what_is_used(self):
        provider = self.node('a')
        candidate = self.candidate(provider)
        for number in range(3):
            self.books.claim(consumer(number), candidate)
        self.books.report(provider, {**self.INVENTORIES, 'VCPU': Inventory(2)})
        self.assertEqual([], self.books.candidates(RESOURCES))
        self.assertFalse(self.books.claim(consumer(9), candidate))
        self.books.release(consumer(0).uuid)
        self.books.release(consumer(1).uuid)
        self.assertTrue(self.books.claim(consumer(9), candidate))

    def test_provider_that_went_before_the_claim(self):
        gone, there = self.node('a'), self.node('b')
        stale = self.candidate(gone)
        self.drop(gone)
        self.assertFalse(self.books.claim(consumer(1), stale))
        self.assertTrue(self.books.claim(consumer(1), self.candidate(there)))
        self.assertEqual({there: RESOURCES}, self.books.held(consumer(1).uuid))

    def test_forget(self):
        provider = self.node('a')
        self.books.claim(consumer(1), self.candidate(provider))
        self.assertRaises(exception.Conflict, self.books.forget, provider)
        self.books.release(consumer(1).uuid)
        self.books.forget(provider)
        self.books.forget(provider)
        self.assertEqual([], self.books.candidates(RESOURCES))

    def test_providers_are_those_reported_and_not_forgotten(self):
        gone, there = self.node('a'), self.node('b')
        self.books.forget(gone)
        self.assertEqual({there: 'b'}, self.books.providers())

    def test_provider_that_is_not_known_is_not_reported(self):
        self.assertRaises(exception.ResourceProviderNotFound, self.books.report,
                          '99999999-0000-4000-8000-000000000000', self.INVENTORIES)

    def test_former_life_of_a_host(self):
        former = self.node('a')
        self.books.claim(consumer(1), self.candidate(former))
        self.assertEqual(former, self.again('a'))
        self.books.release(consumer(1).uuid)
        self.assertNotEqual(former, self.again('a'))


class LocalLedgerTest(Contract, base.TestCase):
    INVENTORIES = {'VCPU': Inventory(4), 'MEMORY_MB': Inventory(8192), 'DISK_GB': Inventory(100)}

    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.books = local.LocalLedger()
        self.books.prepare()

    def node(self, name):
        return cloud.host(self.books, name)

    def again(self, name):
        """The host has lost its row, and registers again."""
        node = cloud.objects.ComputeNode.get_by_name(cloud.ADMIN, name)
        node.destroy()
        anew = cloud.objects.ComputeNode(hostname=name)
        anew.create(cloud.ADMIN)
        return self.books.ensure_provider(anew.uuid, name)

    def drop(self, provider):
        self.books.forget(provider)

    def test_host_without_a_report_offers_nothing(self):
        node = cloud.objects.ComputeNode(hostname='a')
        node.create(cloud.ADMIN)
        self.books.ensure_provider(node.uuid, 'a')
        self.assertEqual([], self.books.candidates(RESOURCES))

    def test_foreign_classes_and_traits_are_nowhere(self):
        self.node('a')
        self.assertEqual([], self.books.candidates({**RESOURCES, 'CUSTOM_GOLD': 1}))
        self.assertEqual([], self.books.candidates(RESOURCES, required=['CUSTOM_SSD']))

    def test_report_without_a_change_writes_nothing(self):
        provider = self.node('a')
        with cloud.engine.statement_counter() as counter:
            self.books.report(provider, self.INVENTORIES)
        self.assertEqual(1, counter.count, counter.statements)

    def test_parallel_claims_never_exceed_the_host(self):
        candidate = self.candidate(self.node('a'))
        taken = []
        cloud.together([
            lambda number=number: taken.append(self.books.claim(consumer(number), candidate))
            for number in range(12)])
        self.assertEqual((4, 8), (taken.count(True), taken.count(False)))
        self.assertEqual(4, len(self.books.allocations_on(candidate.provider)))
