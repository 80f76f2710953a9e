# SPDX-License-Identifier: Apache-2.0
"""Claims and the journal, on every database."""

import concurrent.futures

from oslo_utils import uuidutils
import sqlalchemy as sa

from zun import objects
from zun.common import exception
from zun.common import states
from zun.db import claims
from zun.db import engine
from zun.db import journal
from zun.db import locks
from zun.db import models
from zun.tests.functional import database

HOST = 'node-1'
ROOM = claims.Amounts(4.0, 1000, 10)

load = objects.ContainerRequest.get_with_container


class BooksTestCase(database.TestCase):
    def container(self, host=HOST, claimed=False, request=True, **values):
        container = objects.Container(self.context, **{
            'uuid': uuidutils.generate_uuid(), 'name': 'x', 'project_id': 'project',
            'user_id': 'user', 'cpu': 1.0, 'memory': '100', 'disk': 1, 'host': host,
            'status': states.CREATING, **values})
        asked = objects.ContainerRequest(
            self.context, operation='create', operation_id=self.context.request_id,
            claimed=claimed) if request else None
        container.create(self.context, request=asked, action='create')
        return container

    def admit(self, container, generation=0, room=ROOM):
        claims.admit(HOST, container.uuid, generation, claims.Amounts.of(container), room)

    def claimed(self, container):
        return objects.ContainerRequest.get(self.admin, container.uuid).claimed


class ClaimsTest(BooksTestCase):
    def test_admitted_once_or_twice(self):
        container = self.container()
        for _ in range(2):
            self.admit(container)
        self.assertTrue(self.claimed(container))
        self.assertEqual(claims.Usage(1, claims.Amounts(1.0, 100.0, 1.0)), claims.usage(HOST))

    def test_refused(self):
        for values, lacks in [({'cpu': 4.5}, 'cpu'), ({'memory': '1001'}, 'memory'),
                              ({'disk': 11}, 'disk')]:
            with self.subTest(values=values):
                container = self.container(**values)
                error = self.assertRaises(exception.ResourcesUnavailable, self.admit, container)
                self.assertIn(f'{lacks}: ', error.message)
                self.assertFalse(self.claimed(container))

    def test_what_counts(self):
        self.container(claimed=True)                            # being made
        self.container(status=states.STOPPED, request=False)    # from before there were requests
        self.container(status=states.ERROR, memory='0.5g')      # whatever became of it
        self.container()                                        # not admitted
        self.container(host='node-2', claimed=True)             # elsewhere
        self.container(host=None, status=states.ERROR)          # nowhere
        self.assertEqual(claims.Usage(3, claims.Amounts(3.0, 712.0, 3.0)), claims.usage(HOST))
        self.admit(self.container())
        self.assertRaises(exception.ResourcesUnavailable, self.admit, self.container())

    def test_overtaken(self):
        container = self.container()
        self.assertRaises(exception.Conflict, self.admit, container, generation=1)
        self.assertFalse(self.claimed(container))

    def test_every_claim_changes_the_row_that_it_locks(self):
        """Two in one second: Galera must see both; a row that is only locked does not collide."""
        def version():
            with engine.reader() as session:
                return session.execute(sa.select(models.quota_usages.c.in_use).where(
                    models.quota_usages.c.project_id == HOST,
                    models.quota_usages.c.resource == locks.CLAIMS)).scalar_one()

        container = self.container()
        self.admit(container)
        before = version()
        for _ in range(2):
            self.admit(container)
            claims.check(HOST, container.uuid, claims.Amounts(1.0), ROOM)
        self.assertEqual(before + 4, version())

    def test_racing_claims_never_overfill(self):
        made = [self.container(memory='10', disk=0) for _ in range(12)]

        def fits(container):
            try:
                self.admit(container)
            except exception.ResourcesUnavailable:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            self.assertEqual(4, sum(pool.map(fits, made)))
        self.assertEqual(4.0, claims.usage(HOST).amounts.cpu)

    def test_check_leaves_the_own_amounts_out(self):
        container = self.container(claimed=True, cpu=3.0)
        claims.check(HOST, container.uuid, claims.Amounts(4.0), ROOM)
        self.assertRaises(exception.ResourcesUnavailable, claims.check, HOST, container.uuid,
                          claims.Amounts(4.1), ROOM)


class JournalTest(BooksTestCase):
    def begin(self, container, event='compute__do_it', **expected):
        container.task_state = states.CONTAINER_STARTING
        container.begin_operation(self.context.request_id, event,
                                  {'task_state': None, **expected})

    def end(self, container, outcome, again=False, **expected):
        container.task_state = None
        container.end_operation(self.context.request_id, outcome, expected, again)

    def action(self, container):
        return objects.ContainerAction.get_by_container_uuid(self.admin, container.uuid)[0]

    def events(self, container):
        return objects.ContainerActionEvent.get_by_action(self.admin, self.action(container).id)

    def test_success(self):
        container = self.container()
        self.begin(container)
        self.assertEqual([('compute__do_it', None)],
                         [(e.event, e.finish_time) for e in self.events(container)])
        self.assertTrue(self.events(container)[0].start_time)
        container.status = states.RUNNING
        self.end(container, journal.Outcome())
        found, asked = load(self.admin, container.uuid)
        self.assertEqual((states.RUNNING, None, None),
                         (found.status, found.task_state, asked.operation))
        event, action = self.events(container)[0], self.action(container)
        self.assertEqual(('Success', None, None), (event.result, event.details, action.message))
        self.assertTrue(event.finish_time and action.finish_time)

    def test_failure(self):
        container = self.container()
        self.begin(container)
        self.end(container, journal.Outcome(True, 'why', 'trace' * 20000))
        event, action = self.events(container)[0], self.action(container)
        self.assertEqual(('Error', 'why', 60000, 'Error'),
                         (event.result, event.details, len(event.traceback), action.message))

    def test_again_closes_the_event_only(self):
        container = self.container()
        self.begin(container)
        self.end(container, journal.Outcome(True, 'why'), again=True)
        self.assertEqual('Error', self.events(container)[0].result)
        self.assertIsNone(self.action(container).finish_time)
        self.assertEqual('create', load(self.admin, container.uuid)[1].operation)

    def test_row_that_is_not_as_expected(self):
        container = self.container()
        self.assertRaises(exception.Conflict, self.begin, container, status=states.RUNNING)
        self.assertEqual([], self.events(container))
        other = objects.Container.get_by_uuid(self.admin, container.uuid)
        self.begin(other)
        self.assertRaises(exception.Conflict, self.end, container, journal.Outcome(),
                          host='node-2')
        self.assertIsNone(self.action(container).finish_time)

    def test_only_the_own_request(self):
        container = self.container()
        objects.ContainerRequest.record(
            self.admin, container.uuid, 'delete', {}, action='delete')
        self.begin(container)
        self.end(container, journal.Outcome())
        found = objects.ContainerAction.get_by_container_uuid(self.admin, container.uuid)
        self.assertEqual({'create': True, 'delete': False},
                         {a.action: a.finish_time is not None for a in found})
        self.assertEqual('delete', load(self.admin, container.uuid)[1].operation)

    def test_without_an_action_there_is_no_event(self):
        container = self.container()
        container.task_state = states.CONTAINER_STARTING
        container.begin_operation('req-unknown', 'compute__do_it', {})
        self.assertEqual([], self.events(container))

    def test_seen_before(self):
        container = self.container()
        request_id = self.context.request_id
        self.assertFalse(journal.seen_before(container.uuid, request_id))
        self.assertTrue(journal.seen_before(container.uuid, 'req-unknown'))
        journal.end(container.uuid, request_id, journal.Outcome())
        self.assertTrue(journal.seen_before(container.uuid, request_id))

    def test_load(self):
        self.assertRaises(exception.ContainerNotFound, load, self.admin,
                          uuidutils.generate_uuid())
        old = self.container(request=False)
        self.assertEqual((old.uuid, 0), (lambda c, r: (c.uuid, r.generation))(
            *load(self.admin, old.uuid)))

    def test_statements(self):
        container = self.container()
        for call, count in [(lambda: load(self.admin, container.uuid), 1),
                            (lambda: self.begin(container), 2),
                            (lambda: self.end(container, journal.Outcome()), 4)]:
            with engine.statement_counter() as counter:
                call()
            self.assertEqual(count, counter.count, counter.statements)
