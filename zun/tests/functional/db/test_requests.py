# SPDX-License-Identifier: Apache-2.0
"""Requests, actions and their events."""

import concurrent.futures
import datetime

from oslo_utils import uuidutils
import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.db import actions
from zun.db import engine
from zun.db import models
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

Action = objects.ContainerAction
Event = objects.ContainerActionEvent
Request = objects.ContainerRequest


class TestCase(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.container = self.make()

    def make(self, **values: object) -> objects.Container:
        made = objects.Container(**{'project_id': 'project', 'user_id': 'user',
                                    'status': 'Creating', **values})
        made.create(self.context, Request(run=True, hints={'a': 'b'}))
        return made

    def request(self) -> Request:
        return Request.get(self.admin, self.container.uuid)

    def set_time(self, table: sa.Table, column: str, ago: float) -> None:
        """Put a time of every row into the past of the database's clock."""
        with engine.writer() as session:
            then = engine.now(session) - datetime.timedelta(seconds=ago)
            session.execute(sa.update(table).values({column: then, 'updated_at': None}))


class TestRequest(TestCase):
    def test_fields(self) -> None:
        request = self.request()
        self.assertEqual((0, 0, False, True), (request.generation, request.attempts,
                                               request.claimed, request.run))
        self.assertEqual(([], {}, [], {'a': 'b'}, {}, None), (
            request.requested_networks, request.requested_volumes, request.excluded_hosts,
            request.hints, request.operation_args, request.pci_requests))
        request.requested_networks = [{'network': 'n', 'shared': True}]
        request.requested_volumes = {'c': [{'contents': 'x' * 70000}]}
        request.excluded_hosts = ['node1']
        request.pci_requests = [{'count': 1}]
        request.generation += 1
        request.save()
        self.assertEqual(request.as_dict(), self.request().as_dict())

    def test_compare_and_swap(self) -> None:
        request = self.request()
        request.generation = 1
        request.save(expected={'generation': 0})
        request.generation = 2
        self.assertRaises(exception.Conflict, request.save, expected={'generation': 0})
        self.assertEqual(1, self.request().generation)

    def test_goes_with_the_container(self) -> None:
        request = self.request()
        self.container.destroy()
        request.attempts = 1
        self.assertRaises(exception.ContainerNotFound, request.save)
        self.assertRaises(exception.ContainerNotFound, self.request)

    def test_one_per_container(self) -> None:
        again = Request(container_uuid=self.container.uuid)
        self.assertRaises(exception.Conflict, again.create, self.admin)
        orphan = Request(container_uuid=uuidutils.generate_uuid())
        self.assertRaises(exception.ContainerNotFound, orphan.create, self.admin)

    def test_made_when_it_is_missing(self) -> None:
        with engine.writer() as session:
            session.execute(sa.delete(models.container_request))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ids = {found.id for found in pool.map(lambda _: self.request(), range(8))}
        self.assertEqual(1, len(ids))


class TestRecord(TestCase):
    def _record(self, **kwargs: object) -> objects.ContainerAction | None:
        return Request.record(self.context, self.container.uuid, 'stop', {'timeout': 3},
                              **kwargs)

    def test_all_at_once(self) -> None:
        with engine.statement_counter() as counter:
            action = self._record(expected_status=('Running', 'Creating'), status='Stopped',
                                  task_state='container_stopping', action='stop')
        self.assertEqual(3, counter.count, counter.statements)
        self.container.refresh()
        self.assertEqual(('Stopped', 'container_stopping'),
                         (self.container.status, self.container.task_state))
        request = self.request()
        self.assertEqual(('stop', {'timeout': 3}, self.context.request_id), (
            request.operation, request.operation_args, request.operation_id))
        self.assertIsNotNone(request.operation_time)
        found = Action.get_by_request_id(self.context, self.container.uuid,
                                         self.context.request_id)
        self.assertEqual((action.id, 'stop', 'user', 'project', None), (
            found.id, found.action, found.user_id, found.project_id, found.finish_time))

    def test_another_status(self) -> None:
        self.assertRaises(exception.Conflict, self._record, expected_status='Running',
                          task_state='container_stopping', action='stop')
        self.container.refresh()
        self.assertIsNone(self.container.task_state)
        self.assertIsNone(self.request().operation)
        self.assertEqual([], Action.get_by_container_uuid(self.context, self.container.uuid))

    def test_state_is_left_alone(self) -> None:
        self.container.task_state = 'sg_adding'
        self.container.save()
        self.assertIsNone(self._record())
        self.container.refresh()
        self.assertEqual(('Creating', 'sg_adding'),
                         (self.container.status, self.container.task_state))
        self._record(task_state=None)
        self.container.refresh()
        self.assertIsNone(self.container.task_state)

    def test_gone(self) -> None:
        self.container.destroy()
        for kwargs in ({}, {'action': 'stop'}, {'expected_status': 'Creating'},
                       {'task_state': None}):
            self.assertRaises(exception.ContainerNotFound, self._record, **kwargs)

    def test_container_older_than_requests(self) -> None:
        with engine.writer() as session:
            session.execute(sa.delete(models.container_request))
        self._record(action='stop')
        self.assertEqual('stop', self.request().operation)

    def test_one_of_many_is_accepted(self) -> None:
        def accept(_: int) -> bool:
            try:
                self._record(expected_status='Creating', status='Deleting')
            except exception.Conflict:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(accept, range(16))))

    def test_finish(self) -> None:
        self._record()
        mine = self.context.request_id
        self.assertFalse(Request.finish_operation(self.admin, self.container.uuid, 'req-other'))
        self.assertEqual('stop', self.request().operation)
        self.assertTrue(Request.finish_operation(self.admin, self.container.uuid, mine))
        request = self.request()
        self.assertEqual((None, {}, None, None), (
            request.operation, request.operation_args, request.operation_id,
            request.operation_time))
        self.assertFalse(Request.finish_operation(self.admin, self.container.uuid, mine))


class TestDue(TestCase):
    def _due(self) -> list[str]:
        return [request.container_uuid for request in Request.due(self.admin)]

    def test_by_the_clock_of_the_database(self) -> None:
        self.assertEqual([], self._due())
        self.set_time(models.container_request, 'retry_at', 5)
        self.assertEqual([self.container.uuid], self._due())
        self.set_time(models.container_request, 'retry_at', -60)
        self.assertEqual([], self._due())

    def test_only_creating(self) -> None:
        self.set_time(models.container_request, 'retry_at', 5)
        self.container.status = 'Running'
        self.container.save()
        self.assertEqual([], self._due())

    def test_limit_and_order(self) -> None:
        others = [self.make() for _ in range(3)]
        self.set_time(models.container_request, 'retry_at', 5)
        with engine.writer() as session:
            session.execute(sa.update(models.container_request).where(
                models.container_request.c.container_uuid == others[2].uuid).values(
                retry_at=datetime.datetime(2026, 1, 1)))
        self.assertEqual([others[2].uuid, self.container.uuid], [
            request.container_uuid for request in Request.due(self.admin, limit=2)])

    def test_postpone(self) -> None:
        first, second = self.request(), self.request()
        self.assertTrue(first.postpone(60))
        self.assertFalse(second.postpone(60))
        with engine.reader() as session:
            ahead = first.retry_at - engine.now(session)
        self.assertTrue(50 < ahead.total_seconds() <= 60, ahead)
        self.assertEqual(first.retry_at, self.request().retry_at)
        self.assertEqual(set(), first.obj_what_changed())
        self.assertTrue(first.postpone(-5))
        self.assertEqual([self.container.uuid], self._due())

    def test_one_reaper_takes_it(self) -> None:
        self.set_time(models.container_request, 'retry_at', 5)
        found = [Request.due(self.admin)[0] for _ in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(lambda request: request.postpone(60), found)))


class TestOpen(TestCase):
    def _open(self) -> list[str]:
        pairs = Request.list_open_by_host(self.admin, 'node')
        for container, request in pairs:
            self.assertEqual(container.uuid, request.container_uuid)
        return [container.uuid for container, _ in pairs]

    def test_what_is_open(self) -> None:
        wanted = [self.make(host='node', status=status) for status in (
            'Creating', 'Deleting', 'Rebuilding')]
        wanted.append(self.make(host='node', status='Running', task_state='sg_adding'))
        wanted.append(self.make(host='node', status='Running'))
        Request.record(self.context, wanted[-1].uuid, 'stop', {})
        capsule = objects.Capsule(host='node', status='Creating', project_id='p', containers=[
            objects.CapsuleContainer(host='node', status='Creating', project_id='p')])
        capsule.create(self.context)
        self.make(host='node', status='Running')
        self.make(host='else', status='Creating')
        with engine.statement_counter() as counter:
            pairs = Request.list_open_by_host(self.admin, 'node')
        self.assertEqual([container.uuid for container in [*wanted, capsule]], self._open())
        self.assertIsInstance(pairs[-1][0], objects.Capsule)
        # The capsule has no request yet: looked for, found missing, made.
        self.assertEqual(3, counter.count, counter.statements)

    def test_one_query(self) -> None:
        for _ in range(3):
            self.make(host='node')
        with engine.statement_counter() as counter:
            self.assertEqual(3, len(self._open()))
        self.assertEqual(1, counter.count)


class TestActions(TestCase):
    def test_finish(self) -> None:
        Action.start(self.context, self.container.uuid, 'create')
        last = Action.start(self.context, self.container.uuid, 'stop')
        found = Action.finish(self.context, self.container.uuid, self.context.request_id,
                              message='Error')
        self.assertEqual((last.id, 'Error'), (found.id, found.message))
        self.assertIsNotNone(found.finish_time)
        found = Action.finish(self.context, self.container.uuid, self.context.request_id,
                              action='create')
        self.assertEqual(('create', None), (found.action, found.message))

    def test_nothing_to_finish(self) -> None:
        self.assertRaises(exception.ContainerActionNotFound, Action.finish, self.context,
                          self.container.uuid, 'req-none')

    def test_container_is_gone(self) -> None:
        self.assertRaises(exception.ContainerNotFound, Action.start, self.context,
                          uuidutils.generate_uuid(), 'stop')

    def test_newest_first(self) -> None:
        for name in ('create', 'stop', 'start'):
            Action.start(self.context, self.container.uuid, name)
        self.assertEqual(['start', 'stop', 'create'], [
            action.action for action in
            Action.get_by_container_uuid(self.context, self.container.uuid)])
        self.assertEqual('start', Action.get_by_request_id(
            self.context, self.container.uuid, self.context.request_id).action)
        self.assertIsNone(Action.get_by_request_id(
            self.context, self.container.uuid, 'req-none'))

    def test_unsaved_action_of_a_create(self) -> None:
        action = Action.new(self.context, 'create')
        made = objects.Container(project_id='project')
        made.create(self.context, action=action)
        self.assertEqual(made.uuid, action.container_uuid)
        self.assertEqual([action.id], [
            found.id for found in Action.get_by_container_uuid(self.context, made.uuid)])

    def test_long_message(self) -> None:
        Action.start(self.context, self.container.uuid, 'stop')
        found = Action.finish(self.context, self.container.uuid, self.context.request_id,
                              message='x' * 300)
        self.assertEqual('x' * 255, found.message)


class TestEvents(TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.action = Action.start(self.context, self.container.uuid, 'stop')

    def test_by_action(self) -> None:
        for name in ('one', 'two'):
            event = Event.start(self.context, name, action_id=self.action.id)
        event.finish('Error', traceback='t' * 70000, details='No such container')
        found = Event.get_by_action(self.context, self.action.id)
        self.assertEqual(['two', 'one'], [event.event for event in found])
        self.assertEqual(('Error', 'No such container'), (found[0].result, found[0].details))
        self.assertEqual('t' * 60000, found[0].traceback)
        self.assertIsNotNone(found[0].finish_time)
        self.assertIsNone(found[1].finish_time)

    def test_by_request(self) -> None:
        event = Event.start(self.context, 'one', container_uuid=self.container.uuid)
        self.assertEqual(self.action.id, event.action_id)
        event = Event.start(self.admin, 'two', container_uuid=self.container.uuid,
                            request_id=self.context.request_id)
        self.assertEqual(self.action.id, event.action_id)

    def test_own_work_of_a_service(self) -> None:
        event = Event.start(self.admin, 'one', container_uuid=self.container.uuid)
        self.assertEqual(self.action.id, event.action_id)
        other = zun_context.RequestContext(project_id='project', overwrite=False)
        self.assertRaises(exception.ContainerActionNotFound, Event.start, other, 'one',
                          container_uuid=self.container.uuid)

    def test_gone(self) -> None:
        event = Event.start(self.context, 'one', action_id=self.action.id)
        self.container.destroy()
        self.assertRaises(exception.ContainerActionEventNotFound, event.finish, 'Success')
        self.assertEqual([], actions.list_events(self.action.id))
