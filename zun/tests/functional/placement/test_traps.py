# SPDX-License-Identifier: Apache-2.0
"""What is treacherous about Placement, each with the tests that keep ours out of it.

:data:`TRAPS` and :data:`ATTENTION` are the index: what may go wrong -> tests; that they exist is a
test, too.
"""

import json
import socket
import unittest
import uuid

import fixtures
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
import requests

from zun.common import clients
from zun.common import exception
from zun.placement import client
from zun.placement import ledger
from zun.placement import placement
from zun.scheduler import manager
from zun.tests import base
from zun.tests import database
from zun.tests.functional.placement import inprocess
from zun.tests.functional.scheduler import cloud

_UNIT = 'zun.tests.unit.placement'
_REAL = 'zun.tests.functional.placement'
_HERE = f'{_REAL}.test_traps'
_OPTIMISTIC = 'zun.tests.functional.scheduler.test_optimistic.PlacementTest'
_RACES = 'zun.tests.functional.scheduler.test_concurrency.PlacementTest'

TRAPS = {
    'a claim on a provider that is gone leaves an orphan record of the consumer': (
        f'{_REAL}.test_placement.TrapTest.test_orphan_of_a_vanished_provider',
        f'{_REAL}.test_placement.TrapTest.test_orphan_of_an_emptying_write',
        f'{_HERE}.ManagerTest.test_provider_deleted_between_candidates_and_claim',
        f'{_OPTIMISTIC}.test_providers_that_are_gone',
        f'{_OPTIMISTIC}.test_refusals_leave_no_consumer'),
    'to delete one class in use answers concurrent_update': (
        f'{_UNIT}.test_report.ReportTest.test_misleading_code_for_a_class_in_use_ends',
        f'{_REAL}.test_placement.TrapTest.test_class_in_use_is_never_removed'),
    'a total may be set below the usage': (
        f'{_REAL}.test_placement.ContractTest.test_shrinking_below_what_is_used',
        f'{_UNIT}.test_report.ReportTest.test_shrinking_below_usage_reserves_instead'),
    'GET of one trait is 204': (
        f'{_UNIT}.test_client.HeaderAndLogTest.test_traits_that_are_known_are_success',
        f'{_HERE}.AnswerTest.test_trait_that_exists_has_no_body'),
    'an identical PUT of inventories moves the generation': (
        f'{_REAL}.test_placement.TrapTest.test_identical_writes_would_move_the_generation',
        f'{_REAL}.test_placement.CostTest.test_reports_without_a_change_write_nothing'),
    'there is no code below 1.23': (
        f'{_REAL}.test_placement.RoleTest.test_every_request_names_the_pinned_version',),
    'a duplicate uuid and a duplicate name share one code': (
        f'{_REAL}.test_placement.TrapTest.test_duplicate_name_and_duplicate_uuid_look_alike',
        f'{_UNIT}.test_report.ProviderTest.test_made_by_a_lost_request',
        f'{_UNIT}.test_report.ProviderTest.test_former_life_without_allocations_is_replaced',
        f'{_UNIT}.test_report.ProviderTest.test_former_life_with_allocations_goes_on'),
    'in_tree of an unknown provider is an empty list, not 404': (
        f'{_REAL}.test_placement.TrapTest.test_in_tree_of_a_provider_that_is_not_there',),
    'an unknown trait is 400 even as a forbidden one': (
        f'{_REAL}.test_placement.TrapTest.test_fresh_placement_knows_no_trait',
        f'{_UNIT}.test_claim.CandidatesTest.test_fresh_placement_learns_the_trait_once',
        f'{_HERE}.ManagerTest.test_first_create_on_a_fresh_placement'),
    'the shipped test fixture permits everything and redirects every session': (
        f'{_REAL}.test_placement.RoleTest.test_others_may_not',
        f'{_HERE}.AnswerTest.test_other_sessions_are_not_redirected'),
    'a request without a version gets 1.0': (
        f'{_REAL}.test_placement.RoleTest.test_every_request_names_the_pinned_version',),
    'several workers that start on an empty database': (f'{_RACES}.test_less_than_fits',),
    'SQLite answers 500 under load': (f'{_RACES}.test_more_than_fits',),
}

ATTENTION = {
    'writes rely on generations': (
        f'{_UNIT}.test_claim.ClaimTest.test_conflicts_then_success',
        f'{_UNIT}.test_claim.ClaimTest.test_conflicts_for_ever_end',
        f'{_HERE}.FaultTest.test_conflicts_then_success',
        f'{_HERE}.FaultTest.test_conflicts_on_the_way_of_an_orphan',
        f'{_HERE}.FaultTest.test_conflicts_for_ever',
        f'{_HERE}.FaultTest.test_lost_answers'),
    'an inventory below its usage': TRAPS['a total may be set below the usage'],
    'a misleading code': TRAPS['to delete one class in use answers concurrent_update'],
    'candidates can be expensive': (
        f'{_UNIT}.test_client.RetryTest.'
        'test_candidates_that_time_out_are_asked_for_once_more_and_later',
        f'{_HERE}.SlowTest.test_a_read_that_takes_too_long_ends',
        'zun.tests.functional.scheduler.test_manager.FailTest.'
        'test_ledger_that_is_down_or_slow_or_closed'),
    'the reshaper needs another role': (
        f'{_REAL}.test_placement.UnusedCallsTest.test_reshaper_is_never_used',),
    'consumers without project, user or type skew usages': (
        f'{_REAL}.test_placement.CostTest.test_project_user_and_type_are_always_sent',
        f'{_REAL}.test_placement.TrapTest.test_allocation_made_before_there_were_types'),
    'each process writes the standard traits when it starts': (f'{_RACES}.test_less_than_fits',),
    'a trait is answered by 204': TRAPS['GET of one trait is 204'],
    'there is no trail of changes': (
        f'{_UNIT}.test_client.HeaderAndLogTest.test_one_line_for_a_write_and_none_for_a_read',),
    'scope is always enforced': (f'{_REAL}.test_placement.RoleTest.test_others_may_not',),
}


class IndexTest(base.TestCase):
    def test_every_trap_has_tests_that_exist(self):
        self.assertEqual((13, 10), (len(TRAPS), len(ATTENTION)))
        loader = unittest.TestLoader()
        for trap, names in (*TRAPS.items(), *ATTENTION.items()):
            for name in names:
                self.assertEqual(1, loader.loadTestsFromName(name).countTestCases(), trap)
        self.assertEqual([], loader.errors)


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.placement = self.useFixture(inprocess.Placement())
        self.connection = self.placement.connection()
        self.books = placement.PlacementLedger(self.connection)
        self.pause = self.useFixture(fixtures.MockPatchObject(client, 'pause')).mock


class ManagerTest(TestCase):
    """The scheduler on a real Placement."""

    def _schedule(self, books, container):
        nodes = cloud.Nodes()
        manager.Manager(books, nodes).schedule_container(cloud.user(), container.uuid, 0)
        return cloud.row(container.uuid)

    def test_provider_deleted_between_candidates_and_claim(self):
        self.books.prepare()
        for name in 'abc':
            cloud.host(self.books, name)
        connection, dropped = self.connection, []

        class Vanishing(placement.PlacementLedger):
            def candidates(self, *args, **kwargs):
                found = super().candidates(*args, **kwargs)
                dropped.extend(candidate.provider for candidate in found[:2] if
                               client.delete_provider(connection, candidate.provider).done)
                return found

        container = cloud.container()
        placed = self._schedule(Vanishing(connection), container)
        self.assertEqual('Creating', placed.status)
        held, = self.books.held(container.uuid)
        self.assertNotIn(held, dropped)
        self.assertGreaterEqual(len(dropped), 2)

    def test_first_create_on_a_fresh_placement(self):
        cloud.host(self.books, 'a')
        have, generation = client.get_part(
            self.connection, next(iter(self.books.providers())), 'traits')
        client.put_part(self.connection, next(iter(self.books.providers())), 'traits',
                        [], generation)
        self.placement.execute("DELETE FROM traits WHERE name LIKE 'CUSTOM_ZUN_%'")
        self.assertEqual('a', self._schedule(self.books, cloud.container()).host)
        self.assertIn(ledger.NODE_TRAIT, have)


class AnswerTest(TestCase):
    def test_trait_that_exists_has_no_body(self):
        client.ensure_trait(self.connection, ledger.DISABLED_TRAIT)
        answer = self.connection.send('GET', f'/traits/{ledger.DISABLED_TRAIT}')
        self.assertEqual((204, {}), (answer.status, answer.body))
        client.ensure_trait(self.connection, ledger.DISABLED_TRAIT)

    def test_other_sessions_are_not_redirected(self):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            url = f'http://127.0.0.1:{probe.getsockname()[1]}'
        session = ks_session.Session(auth=token_endpoint.Token(url, 'x'))
        self.assertRaises(ks_exc.ConnectFailure, session.get, url)


class FaultTest(TestCase):
    """Between us and a real Placement somebody answers, or swallows answers."""

    def setUp(self):
        super().setUp()
        self.books.prepare()
        self.provider = cloud.host(self.books, 'a')
        self.consumer = ledger.Consumer(str(uuid.uuid4()), 'project', 'user')
        self.candidate, = self.books.candidates({'VCPU': 1, 'MEMORY_MB': 512})
        self.writes = 0

    def _interfere(self, count, status, code, passed_on):
        """The first so many writes of allocations get this answer.

        :param passed_on: Placement does what it was asked for all the same
        """
        genuine = self.placement.application
        body = json.dumps({'errors': [{'status': status, 'code': code, 'detail': ''}]}).encode()

        def answer(environ, start_response):
            is_write = (environ['REQUEST_METHOD'], environ['PATH_INFO'].split('/')[1]) == (
                'PUT', 'allocations')
            self.writes += is_write
            if not is_write or self.writes > count:
                return genuine(environ, start_response)
            if passed_on:
                list(genuine(environ, lambda *_args: None))
            start_response(f'{status} x', [('Content-Type', 'application/json')])
            return [body]

        self.placement.application = answer

    def _held(self):
        """What the real Placement has, not in the way of the faults."""
        return client.get_allocations(self.connection, self.consumer.uuid)

    def test_conflicts_then_success(self):
        """Whether the last try is with null or with 0, in the end there is one allocation."""
        for count in range(1, 6):
            genuine, self.writes = self.placement.application, 0
            self._interfere(count, 409, client.CONCURRENT, passed_on=False)
            self.assertTrue(self.books.claim(self.consumer, self.candidate))
            self.placement.application = genuine
            self.assertLessEqual(self.writes, count + 2)
            self.assertEqual(self.candidate.allocations, self._held().allocations)
            self.assertEqual([self.consumer.uuid],
                             list(self.books.allocations_on(self.provider)))
            self.books.release(self.consumer.uuid)

    def test_conflicts_on_the_way_of_an_orphan(self):
        """The same for a consumer of which a record is left that no read shows."""
        for count in range(1, 6):
            client.put_allocations(self.connection, self.consumer, {}, None)
            genuine, self.writes = self.placement.application, 0
            self._interfere(count, 409, client.CONCURRENT, passed_on=False)
            self.assertTrue(self.books.claim(self.consumer, self.candidate))
            self.placement.application = genuine
            self.assertEqual(self.candidate.allocations, self._held().allocations)
            self.books.release(self.consumer.uuid)

    def test_conflicts_for_ever(self):
        self._interfere(1000, 409, client.CONCURRENT, passed_on=False)
        self.assertRaises(exception.LedgerUnavailable, self.books.claim, self.consumer,
                          self.candidate)
        self.assertEqual(7, self.writes)
        self.assertEqual({}, self._held().allocations)

    def test_lost_answers(self):
        for count in range(1, 4):
            genuine, self.writes = self.placement.application, 0
            self._interfere(count, 503, '', passed_on=True)
            self.assertTrue(self.books.claim(self.consumer, self.candidate))
            self.placement.application = genuine
            self.assertEqual((self.candidate.allocations, 1),
                             (self._held().allocations, self._held().generation))
            self.books.release(self.consumer.uuid)


class SlowTest(base.TestCase):
    def test_a_read_that_takes_too_long_ends(self):
        """The time limits of the session hold: a server accepts, and says nothing."""
        silent = socket.socket()
        self.addCleanup(silent.close)
        silent.bind(('127.0.0.1', 0))
        silent.listen()
        self.useFixture(fixtures.MockPatchObject(client, 'pause'))
        transport = requests.Session()
        transport.mount('http://', clients._TimedTransport(1.0, 0.2))
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        slow = client.Connection(ks_adapter.Adapter(
            ks_session.Session(auth=token_endpoint.Token(url, 'x'), session=transport),
            service_type='placement', raise_exc=False, connect_retries=0))
        slow._version = client.VERSION
        error = self.assertRaises(exception.LedgerUnavailable, client.candidates, slow,
                                  'resources=VCPU:1')
        self.assertTrue(error.kwargs['timed_out'])
