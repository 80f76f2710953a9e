# SPDX-License-Identifier: Apache-2.0
"""The ledger on a real Placement: the contract of every ledger, the traps, the roles."""

import pathlib
import uuid

import fixtures

import zun
from zun.common import exception
from zun.placement import client
from zun.placement import ledger
from zun.placement import placement
from zun.tests import base
from zun.tests.functional.placement import inprocess
from zun.tests.functional.placement import test_local
from zun.tests.functional.placement.test_local import consumer

Inventory = ledger.Inventory
RESOURCES = test_local.RESOURCES


class TestCase(base.TestCase):
    INVENTORIES = test_local.LocalLedgerTest.INVENTORIES

    def setUp(self):
        super().setUp()
        self.placement = self.useFixture(inprocess.Placement())
        self.connection = self.placement.connection()
        self.books = placement.PlacementLedger(self.connection)
        self.books.prepare()
        self.pause = self.useFixture(fixtures.MockPatchObject(client, 'pause')).mock

    def node(self, name):
        provider = self.again(name)
        self.books.report(provider, self.INVENTORIES)
        return provider

    def again(self, name):
        return self.books.ensure_provider(str(uuid.uuid4()), name)

    def drop(self, provider):
        self.assertTrue(client.delete_provider(self.connection, provider).done)

    def asked(self, function, *args, **kwargs):
        """The requests that a call makes."""
        del self.placement.calls[:]
        function(*args, **kwargs)
        return [f'{method} {path.split("/")[1]}' for method, path in self.placement.calls]


class ContractTest(test_local.Contract, TestCase):
    pass


class CostTest(TestCase):
    def test_a_create_is_two_requests(self):
        provider = self.node('a')

        def place():
            candidate = self.candidate_of(provider)
            self.books.claim(consumer(1), candidate)
        self.assertEqual(['GET allocation_candidates', 'PUT allocations'], self.asked(place))
        self.assertEqual(['GET allocations', 'PUT allocations'],
                         self.asked(self.books.release, consumer(1).uuid))
        self.assertEqual(['GET allocations'], self.asked(self.books.release, consumer(1).uuid))

    def candidate_of(self, provider):
        found, = self.books.candidates(RESOURCES, forbidden=[ledger.DISABLED_TRAIT],
                                       in_tree=provider)
        return found

    def test_reports_without_a_change_write_nothing(self):
        provider = self.node('a')
        self.assertEqual([], self.asked(self.books.report, provider, self.INVENTORIES))
        other = placement.PlacementLedger(self.connection)
        self.assertEqual(['GET resource_providers'] * 2,
                         self.asked(other.report, provider, self.INVENTORIES))

    def test_project_user_and_type_are_always_sent(self):
        provider = self.node('a')
        self.books.claim(consumer(1, 'CAPSULE'), self.candidate_of(provider))
        held = client.get_allocations(self.connection, consumer(1).uuid)
        self.assertEqual(('project', 'user', 'CAPSULE', 1), (
            held.project_id, held.user_id, held.kind, held.generation))


class TrapTest(TestCase):
    def test_orphan_of_a_vanished_provider(self):
        gone, there = self.node('a'), self.node('b')
        stale = ledger.Candidate(gone, {gone: RESOURCES}, {}, {})
        self.drop(gone)
        self.assertFalse(self.books.claim(consumer(1), stale))
        # the record is there, invisible, and refuses a generation of null
        self.assertEqual({}, self.books.held(consumer(1).uuid))
        refused = client.put_allocations(self.connection, consumer(1), {there: RESOURCES}, None)
        self.assertTrue(refused.raced)
        self.assertTrue(self.books.claim(consumer(1), ledger.Candidate(
            there, {there: RESOURCES}, {}, {})))
        self.assertEqual({there: RESOURCES}, self.books.held(consumer(1).uuid))

    def test_allocation_made_before_there_were_types(self):
        provider = self.node('a')
        old = self.placement.connection()
        old._version = '1.31'
        client.put_allocations(old, consumer(1), {provider: RESOURCES}, None)
        self.assertTrue(self.books.resize(consumer(1), {'VCPU': 2, 'MEMORY_MB': 512}))
        client.put_allocations(old, consumer(2), {provider: RESOURCES}, None)
        for number in (1, 2):
            self.books.release(consumer(number).uuid)
        self.assertEqual({}, self.books.allocations_on(provider))

    def test_orphan_of_an_emptying_write(self):
        provider = self.node('a')
        client.put_allocations(self.connection, consumer(1), {}, None)
        self.assertTrue(self.books.claim(consumer(1), ledger.Candidate(
            provider, {provider: RESOURCES}, {}, {})))

    def test_class_in_use_is_never_removed(self):
        provider = self.node('a')
        self.books.claim(consumer(1), ledger.Candidate(
            provider, {provider: {**RESOURCES, 'DISK_GB': 5}}, {}, {}))
        want = {name: item for name, item in self.INVENTORIES.items() if name != 'DISK_GB'}
        self.books.report(provider, want)
        have, _generation = client.get_part(self.connection, provider, 'inventories')
        self.assertEqual(100, have['DISK_GB']['reserved'])
        self.assertEqual([], self.books.candidates({'DISK_GB': 1}))
        self.books.release(consumer(1).uuid)
        placement.PlacementLedger(self.connection).report(provider, want)
        have, _generation = client.get_part(self.connection, provider, 'inventories')
        self.assertNotIn('DISK_GB', have)

    def test_every_claim_makes_the_nodes_generation_stale(self):
        provider = self.node('a')
        self.books.claim(consumer(1), ledger.Candidate(
            provider, {provider: RESOURCES}, {}, {}))
        self.books.report(provider, {**self.INVENTORIES, 'VCPU': Inventory(6)})
        have, _generation = client.get_part(self.connection, provider, 'inventories')
        self.assertEqual(6, have['VCPU']['total'])

    def test_identical_writes_would_move_the_generation(self):
        provider = self.node('a')
        _have, before = client.get_part(self.connection, provider, 'inventories')
        placement.PlacementLedger(self.connection).report(provider, self.INVENTORIES)
        _have, after = client.get_part(self.connection, provider, 'inventories')
        self.assertEqual(before, after)

    def test_fresh_placement_knows_no_trait(self):
        unknown = f'CUSTOM_ZUN_TEST_{uuid.uuid4().hex.upper()}'
        self.node('a')
        self.assertEqual(1, len(self.books.candidates(RESOURCES, forbidden=[unknown])))

    def test_in_tree_of_a_provider_that_is_not_there(self):
        self.node('a')
        self.assertEqual([], self.books.candidates(RESOURCES, in_tree=str(uuid.uuid4())))

    def test_duplicate_name_and_duplicate_uuid_look_alike(self):
        provider = self.node('a')
        for ident, name in ((provider, 'b'), (str(uuid.uuid4()), 'a')):
            answer = client.create_provider(self.connection, ident, name)
            self.assertEqual((409, 'placement.duplicate_name'), (answer.status, answer.code))

    def test_host_that_is_renamed_onto_another_keeps_its_name(self):
        self.node('a')
        other = self.node('b')
        self.assertEqual(other, self.books.ensure_provider(other, 'a'))
        self.assertEqual('b', client.find_provider(self.connection, uuid=other)['name'])
        self.assertEqual(other, self.books.ensure_provider(other, 'c'))
        self.assertEqual('c', client.find_provider(self.connection, uuid=other)['name'])

    def test_aggregates_divide_the_hosts(self):
        here, there = self.node('a'), self.node('b')
        aggregate = str(uuid.uuid4())
        _have, generation = client.get_part(self.connection, here, 'aggregates')
        client.put_part(self.connection, here, 'aggregates', [aggregate], generation)
        self.assertEqual([here], [found.provider for found in self.books.candidates(
            RESOURCES, member_of=aggregate)])
        self.assertEqual({here, there}, {found.provider for found in self.books.candidates(
            RESOURCES)})

    def test_ratio_set_by_an_operator_stays(self):
        provider = self.node('a')
        have, generation = client.get_part(self.connection, provider, 'inventories')
        have['VCPU']['allocation_ratio'] = 3.0
        client.put_part(self.connection, provider, 'inventories', have, generation)
        again = placement.PlacementLedger(self.connection)
        again.report(provider, {**self.INVENTORIES, 'VCPU': Inventory(5, 0, 16.0)})
        have, _generation = client.get_part(self.connection, provider, 'inventories')
        self.assertEqual((5, 3.0), (have['VCPU']['total'], have['VCPU']['allocation_ratio']))

    def test_database_that_was_wiped(self):
        provider = self.node('a')
        self.drop(provider)
        self.books = placement.PlacementLedger(self.connection)
        self.assertRaises(exception.ResourceProviderNotFound, self.books.report, provider,
                          self.INVENTORIES)
        self.assertEqual(provider, self.books.ensure_provider(provider, 'a'))
        self.books.report(provider, self.INVENTORIES)
        self.assertEqual(1, len(self.books.candidates(RESOURCES)))

    def test_host_shared_with_nova(self):
        novas = self.node('a')
        self.config(group='compute', host_shared_with_nova=True)
        self.assertEqual(novas, self.again('a'))
        before, _generation = client.get_part(self.connection, novas, 'inventories')
        self.books.report(novas, {'VCPU': Inventory(1)}, [ledger.DISABLED_TRAIT])
        after, _generation = client.get_part(self.connection, novas, 'inventories')
        self.assertEqual(before, after)
        traits, _generation = client.get_part(self.connection, novas, 'traits')
        self.assertEqual({ledger.NODE_TRAIT, ledger.DISABLED_TRAIT}, set(traits))

    def test_provider_of_nova_outlives_ours(self):
        provider = self.node('a')
        traits, generation = client.get_part(self.connection, provider, 'traits')
        client.put_part(self.connection, provider, 'traits',
                        [*traits, 'COMPUTE_NODE', 'COMPUTE_ACCELERATORS'], generation)
        self.books.forget(provider)
        self.assertIsNotNone(client.find_provider(self.connection, uuid=provider))


class RoleTest(TestCase):
    def test_service_and_admin_may(self):
        for roles in ('service', 'admin'):
            placement.PlacementLedger(self.placement.connection(roles)).prepare()

    def test_others_may_not(self):
        for roles, headers in (('manager,member,reader', {}), ('member', {}), ('reader', {}),
                               ('service', {'Openstack-System-Scope': 'all'}),
                               ('admin', {'Openstack-System-Scope': 'all'})):
            books = placement.PlacementLedger(self.placement.connection(roles, **headers))
            error = self.assertRaises(exception.LedgerForbidden, books.prepare)
            self.assertIn('role service or admin in a project', error.message)
            self.assertRaises(exception.LedgerForbidden, books.candidates, RESOURCES)

    def test_every_request_names_the_pinned_version(self):
        provider = self.node('a')
        self.books.claim(consumer(1), self.books.candidates(RESOURCES)[0])
        self.books.resize(consumer(1), {'VCPU': 2, 'MEMORY_MB': 512})
        self.books.set_disabled(provider, True)
        self.books.allocations_on(provider)
        self.books.release(consumer(1).uuid)
        self.books.forget(provider)
        self.assertEqual({'placement 1.39'}, self.placement.versions)


class UnusedCallsTest(base.TestCase):
    def test_reshaper_is_never_used(self):
        root = pathlib.Path(zun.__file__).parent
        for path in root.rglob('*.py'):
            if 'tests' not in path.parts:
                self.assertNotIn('/reshaper', path.read_text(), path)
