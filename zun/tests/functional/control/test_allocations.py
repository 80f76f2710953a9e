# SPDX-License-Identifier: Apache-2.0
"""zun-status allocations, on real rows with either ledger."""

import uuid

from zun import objects
from zun.common import exception
from zun.control import allocations
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
        self.books = self.make()
        self.providers = {name: cloud.host(self.books, name) for name in 'ab'}

    def allocate(self, ident, amounts=AMOUNTS, host='a'):
        provider = self.providers[host]
        self.assertTrue(self.books.claim(
            ledger.Consumer(ident, 'demo', 'alice'),
            ledger.Candidate(provider, {provider: amounts}, {}, {})))

    def running(self, host='a', status='Running', **values):
        return cloud.container(host=host, status=status, **values).uuid

    def found(self, host=None, repair=False):
        """{(kind, host, consumer): repaired}"""
        return {(item.kind, item.host, item.consumer): item.repaired for item in
                allocations.differences(self.books, host, repair, pause=0.0)}

    def test_agreement(self):
        self.allocate(self.running())
        self.running(host=None, status='Error')
        self.assertEqual({}, self.found())
        self.assertEqual({}, self.found(repair=True))

    def test_every_kind_is_found_on_its_host_and_repaired(self):
        orphan = str(uuid.uuid4())
        missing, differs = self.running(cpu=2.0), self.running(host='b', memory='1024')
        elsewhere, nowhere = self.running(host='b'), self.running(host=None, status='Error')
        for ident, host in ((orphan, 'a'), (differs, 'b'), (elsewhere, 'a'), (nowhere, 'a')):
            self.allocate(ident, host=host)
        expected = {(audit.ORPHAN, 'a', orphan), (audit.MISSING, 'a', missing),
                    (audit.DIFFERS, 'b', differs), (audit.ELSEWHERE, 'a', elsewhere),
                    (audit.MISSING, 'b', elsewhere), (audit.ELSEWHERE, 'a', nowhere)}
        self.assertEqual(dict.fromkeys(expected), self.found())
        self.assertEqual(expected, set(self.found()))  # to look changes nothing
        self.assertEqual(dict.fromkeys(expected, True), self.found(repair=True))
        self.assertEqual({}, self.found())
        self.assertEqual({missing: {'VCPU': 2, 'MEMORY_MB': 512}},
                         self.books.allocations_on(self.providers['a']))
        self.assertEqual({differs: {'VCPU': 1, 'MEMORY_MB': 1024}, elsewhere: AMOUNTS},
                         self.books.allocations_on(self.providers['b']))

    def test_what_another_host_holds_for_a_container_is_moved_to_its_own(self):
        ident = self.running()
        self.allocate(ident, host='b')
        self.assertEqual({(audit.MISSING, 'a', ident): True}, self.found(repair=True))
        self.assertEqual({self.providers['a']: AMOUNTS}, self.books.held(ident))

    def test_amounts_are_shown_both_ways(self):
        self.allocate(self.running(cpu=3.0))
        found, = allocations.differences(self.books)
        self.assertEqual((AMOUNTS, {'VCPU': 3, 'MEMORY_MB': 512}), (found.held, found.wanted))

    def test_one_host(self):
        self.running()
        other = self.running(host='b')
        self.assertEqual({(audit.MISSING, 'b', other): True}, self.found('b', repair=True))
        self.assertEqual(1, len(self.found()))
        self.assertRaises(exception.ComputeNodeNotFound, self.found, 'c')

    def test_what_a_full_host_cannot_take_stays_and_is_said(self):
        ident = self.running(cpu=99.0)
        self.assertEqual({(audit.MISSING, 'a', ident): False}, self.found(repair=True))

    def test_what_is_under_way_is_left_alone(self):
        for status in ('Creating', 'Deleting', 'Rebuilding'):
            self.allocate(self.running(status=status, cpu=2.0))
        self.running(task_state='container_stopping')
        self.assertEqual({}, self.found(repair=True))

    def test_what_is_right_at_the_second_look_is_nothing(self):
        ident = self.running()
        look, looks = audit.look, []

        def settling(books, host, provider):
            seen = look(books, host, provider)
            looks.append(host)
            if len(looks) == 2:
                self.allocate(ident)
            return seen

        self.addCleanup(setattr, audit, 'look', look)
        audit.look = settling
        self.assertEqual({}, self.found(repair=True))
        self.assertEqual(['a', 'b', 'a'], looks)

    def test_host_that_only_the_ledger_has(self):
        ident = str(uuid.uuid4())
        self.allocate(ident)
        objects.ComputeNode.get_by_name(cloud.ADMIN, 'a').destroy()
        expected = {(audit.ORPHAN, 'a', ident), (allocations.LOST_HOST, 'a', None)}
        self.assertEqual(dict.fromkeys(expected), self.found('a'))
        self.assertEqual(dict.fromkeys(expected, True), self.found(repair=True))
        self.assertEqual({self.providers['b']: 'b'}, self.books.providers())

    def test_host_without_an_agent(self):
        """Upstream's deletion of a service leaves row and provider."""
        for name in 'ab':
            objects.ZunService.get_by_host_and_binary(cloud.ADMIN, name, 'zun-compute').destroy()
        self.allocate(self.running(host='b'), host='b')
        expected = {(allocations.LOST_HOST, 'a', None): True,
                    (allocations.LOST_HOST, 'b', None): False}
        self.assertEqual(expected, self.found(repair=True))
        self.assertEqual(['b'], [node.hostname for node in objects.ComputeNode.list(cloud.ADMIN)])
        self.assertEqual({self.providers['b']: 'b'}, self.books.providers())

    def test_host_without_an_agent_whose_containers_hold_nothing(self):
        objects.ZunService.get_by_host_and_binary(cloud.ADMIN, 'a', 'zun-compute').destroy()
        cloud.container(host='a', status='Deleting')
        self.assertEqual({(allocations.LOST_HOST, 'a', None): False}, self.found(repair=True))
        self.assertIn(self.providers['a'], self.books.providers())

    def test_lost_host_with_containers_is_kept(self):
        self.allocate(self.running())
        objects.ComputeNode.get_by_name(cloud.ADMIN, 'a').destroy()
        self.assertEqual({(allocations.LOST_HOST, 'a', None): False}, self.found(repair=True))
        self.assertEqual(1, len(self.books.allocations_on(self.providers['a'])))


class LocalTest(Cases, base.TestCase):
    def make(self):
        return local.LocalLedger()


class PlacementTest(Cases, base.TestCase):
    def make(self):
        self.placement = self.useFixture(inprocess.Placement())
        self.connection = self.placement.connection()
        books = placement.PlacementLedger(self.connection)
        books.prepare()
        return books

    def test_consumers_of_nova_are_none_of_ours(self):
        ident, provider = str(uuid.uuid4()), self.providers['a']
        client.put_allocations(self.connection, ledger.Consumer(ident, 'p', 'u', 'INSTANCE'),
                               {provider: AMOUNTS}, None)
        self.assertEqual({}, self.found(repair=True))
        self.assertIn(ident, self.books.allocations_on(provider))
        del self.placement.calls[:]
        self.found()
        self.assertNotIn(('GET', f'/allocations/{ident}'), self.placement.calls)

    def test_placement_whose_database_was_wiped(self):
        """Nodes bring back what they have, the audit what their containers hold."""
        running = {name: self.running(host=name) for name in 'ab'}
        for name, ident in running.items():
            self.allocate(ident, host=name)
        self.placement.execute(*inprocess.RESET)
        self.books = placement.PlacementLedger(self.connection)
        for name, provider in self.providers.items():
            self.books.ensure_provider(provider, name)
            self.books.report(provider, {'VCPU': ledger.Inventory(4),
                                         'MEMORY_MB': ledger.Inventory(8192)})
        self.assertEqual({(audit.MISSING, name, ident): True for name, ident in running.items()},
                         self.found(repair=True))
        self.assertEqual({}, self.found())

    def test_providers_of_other_services_are_none_of_ours(self):
        client.create_provider(self.connection, str(uuid.uuid4()), 'router-agent')
        self._provider('nova-host', ['COMPUTE_NODE'])
        self.assertEqual({}, self.found())

    def _provider(self, name, traits=(), **inventories):
        """One that Zun of today has not made."""
        provider = str(uuid.uuid4())
        client.create_provider(self.connection, provider, name)
        for part, value in (('traits', list(traits)), ('inventories', {
                resource: {'total': total} for resource, total in
                (inventories or {'VCPU': 4, 'MEMORY_MB': 4096}).items()})):
            _have, generation = client.get_part(self.connection, provider, part)
            client.put_part(self.connection, provider, part, value, generation)
        return provider

    def test_dead_hosts_of_upstream(self):
        """Those that were disabled are marked; others may be another service's."""
        self._provider('disabled', [ledger.DISABLED_TRAIT])
        unmarked = self._provider('unmarked')
        client.put_allocations(self.connection, ledger.Consumer(str(uuid.uuid4()), 'p', 'u'),
                               {unmarked: AMOUNTS}, None)
        self.assertEqual({(allocations.LOST_HOST, 'disabled', None): True,
                          (allocations.UNKNOWN_HOST, 'unmarked', None): None},
                         self.found(repair=True))
        self.assertEqual({(allocations.UNKNOWN_HOST, 'unmarked', None): None}, self.found())
        self.assertEqual({audit.ORPHAN: True, allocations.UNKNOWN_HOST: True}, {
            kind: done for (kind, _, _), done in self.found('unmarked', repair=True).items()})
        self.assertEqual({}, self.found())

    def _hold(self, ident, *held):
        self.assertTrue(client.put_allocations(
            self.connection, ledger.Consumer(ident, 'demo', 'alice'), dict(held), None).done)

    def test_move_that_was_never_finished(self):
        """Upstream's claims hold the old and the new host; the row says which is right."""
        here, there = self.providers['a'], self.providers['b']
        moved, gone = self.running(host='b'), str(uuid.uuid4())
        for ident in (moved, gone):
            self._hold(ident, (here, AMOUNTS), (there, AMOUNTS))
        self.assertEqual({(audit.ELSEWHERE, 'a', moved): True, (audit.ORPHAN, 'a', gone): True},
                         self.found('a', repair=True))
        self.assertEqual(({there: AMOUNTS}, {}), (self.books.held(moved), self.books.held(gone)))
        self.assertEqual({}, self.found())

    def test_shared_storage(self):
        """It belongs to what is held of a host, and goes with the last one."""
        here, there = self.providers['a'], self.providers['b']
        storage = self._provider('storage', ['MISC_SHARES_VIA_AGGREGATE'], DISK_GB=100)
        disk = (storage, {'DISK_GB': 5})
        good, moved = self.running(disk=5), self.running(disk=5)
        left, gone = self.running(host=None, status='Error'), str(uuid.uuid4())
        for ident in (good, left, gone):
            self._hold(ident, (here, AMOUNTS), disk)
        self._hold(moved, (here, AMOUNTS), (there, AMOUNTS), disk)
        self.assertEqual({(audit.ELSEWHERE, 'a', left): True, (audit.ORPHAN, 'a', gone): True,
                          (audit.ELSEWHERE, 'b', moved): True}, self.found(repair=True))
        for ident in (good, moved):
            self.assertEqual({here: AMOUNTS, storage: {'DISK_GB': 5}}, self.books.held(ident))
        self.assertEqual({good, moved}, set(self.books.allocations_on(storage)))
