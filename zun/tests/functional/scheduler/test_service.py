# SPDX-License-Identifier: Apache-2.0
"""zun-scheduler on an in-memory bus, and the API's choice between it and itself."""

import threading

import fixtures
from oslo_messaging import conffixture
from oslo_messaging.rpc import dispatcher

from zun import objects
from zun.common import exception
from zun.common import pools
from zun.placement import local
from zun.rpc import scheduler as rpc_scheduler
from zun.rpc import transport
from zun.scheduler import dispatch
from zun.scheduler import manager
from zun.scheduler import service
from zun.tests import base
from zun.tests import database
from zun.tests.functional.scheduler import agreement
from zun.tests.functional.scheduler import cloud

_WAIT = 10


class Nodes(cloud.Nodes):
    """Tells when a container has arrived."""

    def __init__(self):
        super().__init__()
        self.arrived = threading.Event()

    def container_create(self, context, host, container_uuid, generation):
        super().container_create(context, host, container_uuid, generation)
        self.arrived.set()


class Waking(local.LocalLedger):
    """A ledger that cannot be used at first."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.asked = 0

    def prepare(self):
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.addCleanup(transport.close)
        self.useFixture(conffixture.ConfFixture(self.CONF)).transport_url = 'fake:/'
        self.config(host='control')
        self.useFixture(fixtures.MockPatchObject(service, '_FIRST_PAUSE', 0.01))
        self.useFixture(fixtures.MockPatchObject(dispatch, '_LOOK_AGAIN', -1.0))
        self.books = local.LocalLedger()
        self.nodes = Nodes()
        cloud.host(self.books, 'a')
        self.addCleanup(agreement.check, self, self.books)

    def service(self, books=None):
        books = books or self.books
        made = service.SchedulerService(
            lambda: (manager.Manager(books, self.nodes), books))
        self.addCleanup(made.stop)
        made.start()
        return made

    def up(self):
        """The service's row, once it is there."""
        for _attempt in range(200):
            found = objects.ZunService.list_by_binary(cloud.ADMIN, 'zun-scheduler')
            if found and found[0].report_count:
                return found[0]
            threading.Event().wait(0.05)
        raise AssertionError('no heartbeat')

    def dispatcher(self, mode='auto'):
        pool = pools.Pool('local', 2, 10)
        self.addCleanup(pool.shutdown, 1)
        made = dispatch.Dispatcher(mode, rpc_scheduler.Client(),
                                   lambda: manager.Manager(self.books, self.nodes), pool)
        self.addCleanup(made.stop)
        return made


class ServiceTest(TestCase):
    def test_message_to_container_on_a_host(self):
        self.service()
        self.up()
        container = cloud.container()
        rpc_scheduler.Client().schedule_container(cloud.user(), container.uuid, 0)
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)

    def test_row_of_the_service(self):
        running = self.service()
        row = self.up()
        self.assertEqual(('control', 'zun-scheduler', True), (row.host, row.binary, row.is_up()))
        running.stop()
        running.wait()
        self.assertEqual([], objects.ZunService.list_by_binary(cloud.ADMIN, 'zun-scheduler'))

    def test_nothing_else_can_be_called(self):
        self.service()
        self.up()
        client = transport.Client(rpc_scheduler.TOPIC, rpc_scheduler.VERSION)
        for method in ('reap', '_end'):
            self.assertRaises(dispatcher.NoSuchMethod, client.call, cloud.user(), method, {},
                              timeout=_WAIT)

    def test_waits_for_its_ledger_and_then_serves(self):
        books = Waking(exception.LedgerUnavailable(reason='x'),
                       exception.LedgerForbidden(reason='x'))
        container = cloud.container()
        self.service(books)
        self.up()
        rpc_scheduler.Client().schedule_container(cloud.user(), container.uuid, 0)
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.assertEqual(3, books.asked)

    def test_stops_while_it_waits(self):
        self.useFixture(fixtures.MockPatchObject(service, '_FIRST_PAUSE', 60.0))
        running = self.service(Waking(*[exception.LedgerUnavailable(reason='x')] * 99))
        running.stop()
        running.wait()
        self.assertEqual([], objects.ZunService.list_by_binary(cloud.ADMIN, 'zun-scheduler'))

    def test_ledger_of_the_wrong_version_ends_it(self):
        running = self.service(Waking(exception.ConfigInvalid(error_msg='Placement offers 1.30')))
        error = self.assertRaises(exception.ConfigInvalid, running.wait)
        self.assertIn('1.30', error.message)

    def test_reaps(self):
        container = cloud.container(reap_after=-1)
        self.service()
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)


class AutoTest(TestCase):
    def test_service_while_there_is_one_else_this_process(self):
        dispatcher = self.dispatcher()
        first = cloud.container()
        dispatcher.schedule_container(cloud.user(), first.uuid, 0)
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.nodes.arrived.clear()
        self.assertIsNotNone(dispatcher._manager)

        running = self.service()
        self.up()
        elsewhere = self.dispatcher()
        second = cloud.container()
        elsewhere.schedule_container(cloud.user(), second.uuid, 0)
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.assertIsNone(elsewhere._manager)
        self.nodes.arrived.clear()

        running.stop()
        third = cloud.container()
        elsewhere.schedule_container(cloud.user(), third.uuid, 0)
        self.assertTrue(self.nodes.arrived.wait(_WAIT))
        self.assertIsNotNone(elsewhere._manager)
        self.assertEqual([first.uuid, second.uuid, third.uuid],
                         [uuid for _host, uuid, _generation in self.nodes.sent])

    def test_services_are_not_looked_up_for_every_container(self):
        self.useFixture(fixtures.MockPatchObject(dispatch, '_LOOK_AGAIN', 10.0))
        dispatcher = self.dispatcher()
        self.assertFalse(dispatcher._remotely())
        with cloud.engine.statement_counter() as counter:
            for _round in range(5):
                dispatcher._remotely()
        self.assertEqual(0, counter.count)

    def test_reaps_only_while_there_is_no_service(self):
        self.service()
        self.up()
        container = cloud.container(reap_after=-1)
        dispatcher = self.dispatcher()
        dispatcher._reap()
        self.assertIsNone(cloud.row(container.uuid).host)
        objects.ZunService.get_by_host_and_binary(
            cloud.ADMIN, 'control', 'zun-scheduler').destroy()
        dispatcher._reap()
        self.assertEqual('a', cloud.row(container.uuid).host)
