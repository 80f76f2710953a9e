# SPDX-License-Identifier: Apache-2.0
"""Create on an engine in memory that fails where a test says."""

import threading

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import operations
from zun.compute import recovery
from zun.compute import resources
from zun.compute import sweep
from zun.container import driver as container_driver
from zun.db import claims
from zun.db import engine as db_engine
from zun.placement import ledger
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class CreateTest(base.NodeTestCase):
    def test_run(self):
        container = self.created()
        self.assertEqual((states.RUNNING, None, base.HOST),
                         (container.status, container.status_reason, container.host))
        self.assertTrue(container.addresses)
        self.assertTrue(container.container_id)
        self.assertTrue(self.asked(container).claimed)
        self.assertEqual([('create', None, True)], self.actions(container))
        self.assertEqual([('compute__do_container_create', 'Success')], self.events(container))
        self.assert_closed(container)

    def test_without_run(self):
        container = self.created(run=False)
        self.assertEqual(states.CREATED, container.status)
        self.assertFalse(self.engine.inspect(container).running)
        self.assert_closed(container)

    def test_sql_statements_of_the_node(self):
        self.created()  # the network of the project is made once
        container = self.placed()
        with db_engine.statement_counter(all_threads=True) as counter:
            operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
            real.wait_for('the node to be idle', lambda: not self.node.busy(container.uuid))
        self.assertEqual(states.RUNNING, self.row(container).status)
        self.assertLessEqual(counter.count, 14, '\n'.join(counter.statements))

    def test_a_message_of_an_older_generation_is_nothing(self):
        container = self.placed()
        operations.submit(self.node, self.context, container.uuid, 'create', generation=-1)
        self.assertEqual(states.CREATING, self.settled(container).status)
        self.assertEqual('create', self.asked(container).operation)

    def test_for_another_host_is_nothing(self):
        container = self.placed(host='node-2')
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertEqual(states.CREATING, self.settled(container).status)
        self.assertEqual([('create', None, False)], self.actions(container))

    def test_twice_delivered_is_once_done(self):
        container = self.placed()
        for _ in range(3):
            operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertEqual(states.RUNNING, self.settled(container).status)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertEqual(states.RUNNING, self.settled(container).status)
        self.assertEqual([('create', None, True)], self.actions(container))
        self.assertEqual([('compute__do_container_create', 'Success')], self.events(container))

    def test_image_that_does_not_exist(self):
        self.engine.missing.add('no/such')
        container = self.created(image='no/such')
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertIn('no/such', container.status_reason)
        self.assertEqual([('create', 'Error', True)], self.actions(container))
        self.assertEqual({}, self.held(container))
        self.assertEqual([], self.scheduler.asked)
        self.assert_closed(container)

    def test_parameter_that_the_engine_refuses(self):
        self.engine.fail('create', exception.Invalid('Range of CPUs is from 0.01 to 2.00'))
        container = self.created()
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertEqual('Create failed: Range of CPUs is from 0.01 to 2.00',
                         container.status_reason)
        self.assertEqual(({}, {}), (self.held(container), self.engine.list()))

    def test_start_that_fails_keeps_the_container(self):
        self.engine.fail('start', exception.Invalid('exec: "nope": not found'))
        container = self.created()
        self.assertEqual((states.ERROR, base.HOST), (container.status, container.host))
        self.assertEqual('Create failed: exec: "nope": not found', container.status_reason)
        self.assertTrue(container.container_id and container.addresses)
        self.assertIn(container.uuid, self.engine.list())
        self.assertTrue(self.held(container))
        self.assertEqual([('create', 'Error', True)], self.actions(container))
        self.assert_closed(container)

    def test_host_without_room(self):
        big = self.placed(memory=str(self.node.engine.host.memory))
        self.node.offer = base.compute_node.Offer(claims.Amounts(1, 64, 0), False)
        operations.submit(self.node, self.context, big.uuid, 'create', generation=0)
        container = self.settled(big)
        self.assertEqual((states.CREATING, None, None),
                         (container.status, container.host, container.task_state))
        self.assertIn('memory: 64 of 64 are free', container.status_reason)
        asked = self.asked(container)
        self.assertEqual((1, 1, [base.HOST], False),
                         (asked.generation, asked.attempts, asked.excluded_hosts, asked.claimed))
        self.assertEqual([(container.uuid, 1)], self.scheduler.asked)
        self.assertEqual([('create', None, False)], self.actions(container))
        self.assertEqual([('compute__do_container_create', 'Error')], self.events(container))

    def test_disk_of_one_that_asks_for_none(self):
        self.config(default_disk=7)
        containers = [self.created(disk=disk) for disk in (0, 3, None)]
        self.assertEqual([7, 3, 7], [each.disk for each in containers])
        self.assertEqual([7, 3, 7], [next(iter(self.held(each).values()))['DISK_GB']
                                     for each in containers])
        self.assertEqual(17, claims.usage(base.HOST).amounts.disk)

    def test_disk_where_the_engine_cannot_limit_it(self):
        self.config(default_disk=7)
        self.node.offer = base.dataclasses.replace(self.node.offer, disk_quota=False)
        container = self.created(disk=0)
        self.assertEqual((states.RUNNING, 0), (container.status, container.disk))
        self.assertNotIn('DISK_GB', next(iter(self.held(container).values())))

    def test_disk_for_which_there_is_no_room(self):
        self.config(default_disk=1000)
        container = self.created(disk=0)
        self.assertEqual((states.CREATING, None, 0),
                         (container.status, container.host, container.disk))
        self.assertIn('default_disk', container.status_reason)
        self.assertEqual([(container.uuid, 1)], self.scheduler.asked)

    def test_disk_is_that_of_the_next_host_after_a_failure(self):
        self.config(default_disk=7)
        self.engine.fail('create', DOWN)
        container = self.created(disk=0)
        self.assertEqual((None, 0), (container.host, container.disk))

    def test_full_disk_keeps_containers_away_for_a_while(self):
        self.engine.fail('create', exception.DiskFull(error_msg='no space left on device'))
        container = self.created()
        self.assertEqual((states.CREATING, None), (container.status, container.host))
        self.assertIn('disk of the container engine is full', container.status_reason)
        self.tracker.refresh()
        free = {'resources': {'VCPU': 1}, 'forbidden': [ledger.DISABLED_TRAIT]}
        self.assertEqual([], self.node.ledger.candidates(**free))
        second = self.created()
        self.assertEqual((None, {}), (second.host, self.engine.list()))
        self.assertIn('the disk of its engine is full', second.status_reason)
        self.useFixture(base.Quick(resources, '_FULL_FOR', 0.0))
        self.tracker.refresh()
        self.assertEqual(1, len(self.node.ledger.candidates(**free)))
        self.assertEqual(states.RUNNING, self.created().status)

    def test_engine_that_fails_is_left_to_another_host(self):
        self.engine.fail('create', DOWN)
        container = self.created()
        self.assertEqual((states.CREATING, None), (container.status, container.host))
        self.assertEqual([(container.uuid, 1)], self.scheduler.asked)
        self.assertEqual({}, self.engine.list())

    def test_last_attempt_ends_in_error(self):
        self.config(group='scheduler', max_attempts=1)
        self.engine.fail('create', DOWN)
        container = self.created()
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertIn('does not answer', container.status_reason)
        self.assertEqual([], self.scheduler.asked)
        self.assertEqual({}, self.held(container))

    def test_what_cannot_be_undone_keeps_the_host_and_is_tried_again(self):
        self.engine.fail('create', DOWN)
        self.engine.fail('delete', DOWN)
        container = self.created()
        self.assertEqual((states.ERROR, base.HOST, None),
                         (container.status, container.host, container.task_state))
        self.assertIn('Create failed', container.status_reason)
        self.assertEqual('create', self.asked(container).operation)
        rounds = sweep.Sweep(self.node)
        for _ in range(2):
            rounds.run()
            container = self.settled(container)
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertIn('Create failed', container.status_reason)
        self.assertEqual({}, self.held(container))
        self.assert_closed(container)

    def test_a_full_engine_is_not_overfilled(self):
        self.node.offer = base.compute_node.Offer(claims.Amounts(16, 160, 0), False)
        made = [self.placed() for _ in range(8)]
        for container in made:
            operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        found = [self.settled(container) for container in made]
        self.assertEqual(5, [c.status for c in found].count(states.RUNNING))
        self.assertEqual(3, len(self.scheduler.asked))

    def test_delete_does_not_wait_for_the_image(self):
        pulling, go_on = threading.Event(), threading.Event()
        pull = self.engine.pull_image

        def slow(*args):
            pulling.set()
            go_on.wait(10)
            return pull(*args)

        self.engine.pull_image = slow
        self.addCleanup(go_on.set)
        container = self.placed()
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertTrue(pulling.wait(10))
        self.assertEqual(states.IMAGE_PULLING, self.row(container).task_state)
        context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=True, stop=False)
        real.wait_for('the delete', lambda: self.row(container) is None)
        go_on.set()
        self.settled(container)
        self.assertEqual(({}, {}), (self.engine.list(), self.held(container)))

    def test_forced_delete_during_the_create_wins(self):
        making, go_on = threading.Event(), threading.Event()
        create = self.engine.create

        def slow(workload):
            making.set()
            go_on.wait(10)
            return create(workload)

        self.engine.create = slow
        self.addCleanup(go_on.set)
        container = self.placed()
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertTrue(making.wait(10))
        context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=True, stop=False)
        go_on.set()
        self.assertIsNone(self.settled(container))
        self.assertEqual(({}, {}), (self.engine.list(), self.held(container)))

    def test_given_to_another_host_meanwhile(self):
        create = self.engine.create

        def moved(workload):
            other = objects.Container.get_by_uuid(self.admin, workload.container.uuid)
            other.host, other.task_state = 'node-2', None
            other.save(self.admin)
            return create(workload)

        self.engine.create = moved
        container = self.created()
        self.assertEqual((states.CREATING, 'node-2'), (container.status, container.host))
        self.assertEqual({}, self.engine.list())
        self.assertTrue(self.held(container))  # that of the other host


class InterruptedCreateTest(base.NodeTestCase):
    """The process dies between two steps; what it had done lies in rows and engine."""

    def interrupted(self, task_state, made=False, running=False, **columns):
        container = self.placed(**columns)
        container.task_state = task_state
        container.save(self.admin)
        objects.ContainerActionEvent.start(
            self.context, 'compute__do_container_create', container_uuid=container.uuid)
        if made or running:
            requested = self.asked(container).requested_networks
            attachments = self.node.network.plan(self.context, container, requested)
            self.engine.create(container_driver.Workload(
                container, 'image', attachments, (), 0, self.context.request_id))
        if running:
            self.engine.start(container)
        return container

    def test_redone_from_wherever_it_was(self):
        for task_state, made, running in [
                (None, False, False), (states.IMAGE_PULLING, False, False),
                (states.CONTAINER_CREATING, False, False),
                (states.CONTAINER_CREATING, True, False),
                (states.CONTAINER_CREATING, True, True)]:
            with self.subTest(task_state=task_state, made=made, running=running):
                container = self.interrupted(task_state, made, running)
                before = self.engine.list().get(container.uuid)
                self.restart()
                recovery.resume_all(self.node)
                found = self.settled(container)
                self.assertEqual(states.RUNNING, found.status)
                self.assertTrue(found.addresses)
                after = self.engine.list()[container.uuid]
                if before:
                    self.assertEqual(before.engine_id, after.engine_id)
                self.assert_closed(container)

    def test_engine_away_at_the_start(self):
        container = self.interrupted(states.CONTAINER_CREATING, made=True)
        self.engine.fail('inspect', DOWN, DOWN)
        self.restart()
        recovery.resume_all(self.node)
        real.wait_for('the create', lambda: self.row(container).status == states.RUNNING)
        self.settled(container)
        self.assert_closed(container)

    def test_old_row_without_a_request(self):
        container = self.interrupted(states.CONTAINER_CREATING, made=True)
        asked = self.asked(container)
        asked.operation = asked.operation_id = None
        asked.save()
        self.restart()
        recovery.resume_all(self.node)
        self.assertEqual(states.CREATED, self.settled(container).status)
