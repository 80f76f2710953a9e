# SPDX-License-Identifier: Apache-2.0
"""Opening, closing and emptying a host, with the local ledger."""

import testscenarios

from zun import objects
from zun.common import exception
from zun.control import clients
from zun.control import hosts
from zun.control import services
from zun.placement import ledger
from zun.tests.functional import database
from zun.tests.functional.control import world
from zun.tests.functional.scheduler import cloud

load_tests = testscenarios.load_tests_apply_scenarios

BINARY = 'zun-compute'


class TestCase(database.TestCase):
    def setUp(self):
        super().setUp()
        self.books = world.local.LocalLedger()
        clients.use(clients.Clients(
            compute=world.Nodes(), scheduler=world.Scheduler(), network=None, volumes=None,
            images=None, ledger=self.books))
        self.addCleanup(clients.use, None)
        self.provider = cloud.host(self.books, 'a')

    def running(self, status='Running', cls=objects.Container, **values):
        container = cloud.container(cls, host='a', status=status, **values)
        self.assertTrue(self.books.claim(
            ledger.Consumer(container.uuid, 'demo', 'alice'),
            ledger.Candidate(self.provider, {self.provider: {'VCPU': 1, 'MEMORY_MB': 512}},
                             {}, {})))
        return container

    def candidates(self):
        """Whether the ledger offers the host to a scheduler."""
        return len(self.books.candidates({'VCPU': 1}, forbidden=[ledger.DISABLED_TRAIT]))


class CloseTest(TestCase):
    def test_the_ledger_is_told_at_once(self):
        for close, reopen in (
                (lambda: services.disable(self.admin, 'a', BINARY, 'fans'),
                 lambda: services.enable(self.admin, 'a', BINARY)),
                (lambda: services.force_down(self.admin, 'a', BINARY, True),
                 lambda: services.force_down(self.admin, 'a', BINARY, False))):
            close()
            self.assertEqual(0, self.candidates())
            reopen()
            self.assertEqual(1, self.candidates())

    def test_closed_for_two_reasons_opens_when_both_are_gone(self):
        services.disable(self.admin, 'a', BINARY)
        services.force_down(self.admin, 'a', BINARY, True)
        services.enable(self.admin, 'a', BINARY)
        self.assertEqual(0, self.candidates())
        services.force_down(self.admin, 'a', BINARY, False)
        self.assertEqual(1, self.candidates())

    def test_a_ledger_that_is_away_does_not_stop_it(self):
        class Away(type(self.books)):
            def set_disabled(self, provider, disabled):
                raise exception.LedgerUnavailable(reason='x')

        clients.get().ledger = Away()
        self.assertTrue(services.force_down(self.admin, 'a', BINARY, True).forced_down)
        self.assertTrue(services.disable(self.admin, 'a', BINARY).disabled)

    def test_forced_down_is_down_though_it_reports(self):
        service = services.force_down(self.admin, 'a', BINARY, True)
        before = service.report_count
        service.report_state_up()
        found = objects.ZunService.get_by_host_and_binary(self.admin, 'a', BINARY)
        self.assertEqual((before + 1, False), (found.report_count, found.is_up()))
        self.assertFalse(services.host_is_up(self.admin, 'a'))
        services.force_down(self.admin, 'a', BINARY, False)
        self.assertTrue(services.host_is_up(self.admin, 'a'))


class ReportTest(TestCase):
    def test_what_is_left(self):
        for status in ('Running', 'Running', 'Stopped'):
            self.running(status)
        self.running(cls=objects.Capsule, containers=[], init_containers=[])
        cloud.container(host='a', status='Error')
        cloud.container(host='b')
        found = hosts.report(self.books, 'a')
        self.assertEqual(({'Error': 1, 'Running': 3, 'Stopped': 1}, 4,
                          {'VCPU': 4, 'MEMORY_MB': 2048}),
                         (found.containers, found.consumers, found.held))
        self.assertEqual((False, False), (found.closed, found.drained))
        services.disable(self.admin, 'a', BINARY)
        found = hosts.report(self.books, 'a')
        self.assertEqual((True, False), (found.closed, found.drained))

    def test_drained(self):
        container = self.running()
        services.disable(self.admin, 'a', BINARY)
        container.destroy()
        self.assertFalse(hosts.report(self.books, 'a').drained)  # the allocation is still there
        self.books.release(container.uuid)
        self.assertTrue(hosts.report(self.books, 'a').drained)
        services.enable(self.admin, 'a', BINARY)
        self.assertFalse(hosts.report(self.books, 'a').drained)

    def test_host_that_is_half_gone(self):
        cloud.container(host='c', status='Running')
        found = hosts.report(self.books, 'c')
        self.assertEqual((None, None, {'Running': 1}, 0), (
            found.service, found.provider, found.containers, found.consumers))
        self.assertRaises(exception.ComputeNodeNotFound, hosts.report, self.books, 'nope')

    def test_statements(self):
        self.running()
        with cloud.engine.statement_counter() as counter:
            hosts.report(self.books, 'a')
        self.assertEqual(4, counter.count, counter.statements)
