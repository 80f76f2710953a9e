# SPDX-License-Identifier: Apache-2.0
"""The audit on real rows, with either ledger."""

import time
import uuid

import fixtures

from zun.placement import audit
from zun.placement import client
from zun.placement import ledger
from zun.placement import local
from zun.placement import placement
from zun.tests import base
from zun.tests import database
from zun.tests.functional.placement import inprocess
from zun.tests.functional.scheduler import cloud

AMOUNTS = {'VCPU': 1, 'MEMORY_MB': 512}


class Cases:
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.clock = self.useFixture(fixtures.MockPatchObject(time, 'monotonic')).mock
        self.clock.return_value = 1000.0
        self.books = self.make()
        self.auditor = audit.Auditor(self.books)
        self.provider = cloud.host(self.books, 'a')

    def allocate(self, ident, amounts=AMOUNTS, provider=None):
        provider = provider or self.provider
        self.assertTrue(self.books.claim(
            ledger.Consumer(ident, 'demo', 'alice'),
            ledger.Candidate(provider, {provider: amounts}, {}, {})))

    def audited(self, after=0.0, host='a', provider=None):
        self.clock.return_value += after
        return [finding.kind for finding in self.auditor.audit(host, provider or self.provider)]

    def running(self, host='a', status='Running', **values):
        return cloud.container(host=host, status=status, **values).uuid

    def test_orphan_is_removed_when_seen_twice(self):
        orphan, good = str(uuid.uuid4()), self.running()
        for ident in (orphan, good):
            self.allocate(ident)
        self.assertEqual([audit.ORPHAN], self.audited())
        self.assertEqual([audit.ORPHAN], self.audited(after=300))
        self.assertEqual({orphan, good}, set(self.books.allocations_on(self.provider)))
        self.audited(after=300)
        self.assertEqual({good}, set(self.books.allocations_on(self.provider)))
        self.assertEqual([], self.audited())

    def test_what_was_right_meanwhile_is_new_again(self):
        ident = str(uuid.uuid4())
        self.allocate(ident)
        self.audited()
        self.books.release(ident)
        self.assertEqual([], self.audited(after=300))
        self.allocate(ident)
        self.audited(after=300)
        self.assertIn(ident, self.books.allocations_on(self.provider))

    def test_missing_is_claimed(self):
        ident = self.running(cpu=2.0)
        self.audited()
        self.audited(after=600)
        self.assertEqual({self.provider: {'VCPU': 2, 'MEMORY_MB': 512}}, self.books.held(ident))

    def test_missing_on_a_full_host_keeps_running(self):
        self.running(cpu=99.0)
        self.audited()
        self.assertEqual([audit.MISSING], self.audited(after=600))
        self.assertEqual([audit.MISSING], self.audited(after=600))

    def test_amounts_follow_the_row(self):
        ident = self.running(memory='1024')
        self.allocate(ident)
        self.assertEqual([audit.DIFFERS], self.audited())
        self.audited(after=600)
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 1024}, self.books.held(ident)[self.provider])

    def test_container_that_is_elsewhere_or_nowhere(self):
        cloud.host(self.books, 'b')
        idents = [self.running(host='b'), self.running(host=None, status='Error')]
        for ident in idents:
            self.allocate(ident)
        self.audited()
        self.audited(after=600)
        self.assertEqual({}, self.books.allocations_on(self.provider))

    def test_container_whose_allocation_is_of_another_host(self):
        other = cloud.host(self.books, 'b')
        ident = self.running()
        self.allocate(ident, provider=other)
        self.audited()
        self.assertEqual([audit.MISSING], self.audited(after=600))
        self.assertEqual([], self.audited(host='b', provider=other))
        self.assertEqual({self.provider: AMOUNTS}, self.books.held(ident))

    def test_over_commitment_is_told_once(self):
        log = self.useFixture(fixtures.FakeLogger('zun.placement.audit', level=30))
        for _number in range(4):
            self.allocate(self.running())
        self.assertEqual([], self.audited())
        self.assertEqual('', log.output)
        self.books.report(self.provider, {'VCPU': ledger.Inventory(3),
                                          'MEMORY_MB': ledger.Inventory(8192)})
        for _round in range(2):
            self.audited()
        self.assertEqual('Host a is over-committed: 4 of 3 VCPU are held', log.output.strip())

    def test_rounds_are_made_by_one_process(self):
        others = [audit.Auditor(self.books) for _number in range(3)]
        orphan = str(uuid.uuid4())
        self.allocate(orphan)
        cloud.host(self.books, 'b')
        for auditor in (self.auditor, *others):
            auditor.step()
        self.assertEqual([1.0, 600.0, 600.0, 600.0],
                         [auditor.pause() for auditor in (self.auditor, *others)])
        self.auditor.step()
        self.assertEqual(600.0, self.auditor.pause())
        self.auditor.step()
        self.assertEqual(600.0, self.auditor.pause())

    def test_next_round(self):
        self.auditor.step()
        table = cloud.models.quota_usages
        with cloud.engine.writer() as session:
            session.execute(cloud.sa.update(table).values(updated_at=cloud.clock.utc_now(-700)))
        orphan = str(uuid.uuid4())
        self.allocate(orphan)
        self.auditor.step()
        self.assertEqual({audit.Finding(audit.ORPHAN, orphan)},
                         set(self.auditor._suspects[self.provider]))

    def test_a_round_counts_by_kind(self):
        log = self.useFixture(fixtures.FakeLogger('zun.placement.audit'))
        self.running()
        for _number in range(2):
            self.allocate(str(uuid.uuid4()))
        self.auditor.step()
        self.assertIn("found {'orphan': 2, 'missing': 1}, repaired {}", log.output)
        table = cloud.models.quota_usages
        with cloud.engine.writer() as session:
            session.execute(cloud.sa.update(table).values(updated_at=cloud.clock.utc_now(-700)))
        self.clock.return_value += 600
        self.auditor.step()
        self.assertIn("repaired {'orphan': 2, 'missing': 1}", log.output)

    def test_nothing_without_the_filter_scheduler(self):
        self.config(group='scheduler', driver='chance_scheduler')
        self.running()
        self.auditor.step()
        self.assertEqual({}, self.auditor._suspects)


class LocalAuditTest(Cases, base.TestCase):
    def make(self):
        return local.LocalLedger()


class PlacementAuditTest(Cases, base.TestCase):
    def make(self):
        self.placement = self.useFixture(inprocess.Placement())
        self.connection = self.placement.connection()
        books = placement.PlacementLedger(self.connection)
        books.prepare()
        return books

    def _foreign(self, kind):
        ident = str(uuid.uuid4())
        client.put_allocations(self.connection, ledger.Consumer(ident, 'p', 'u', kind),
                               {self.provider: AMOUNTS}, None)
        return ident

    def test_consumers_of_nova_are_not_ours(self):
        servers = self._foreign('INSTANCE')
        self.audited()
        self.audited(after=600)
        self.assertIn(servers, self.books.allocations_on(self.provider))

    def test_consumers_without_a_type_on_a_host_of_ours_alone(self):
        self.connection._version = '1.31'
        old = self._foreign('CONTAINER')
        self.connection._version = '1.39'
        self.assertEqual('unknown', client.get_allocations(self.connection, old).kind)
        self.audited()
        self.audited(after=600)
        self.assertEqual({}, self.books.allocations_on(self.provider))

    def test_consumers_without_a_type_on_a_host_of_nova(self):
        self.connection._version = '1.31'
        old = self._foreign('CONTAINER')
        self.connection._version = '1.39'
        _have, generation = client.get_part(self.connection, self.provider, 'traits')
        client.put_part(self.connection, self.provider, 'traits', ['COMPUTE_NODE'], generation)
        self.audited()
        self.audited(after=600)
        self.assertIn(old, self.books.allocations_on(self.provider))
