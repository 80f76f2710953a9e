# SPDX-License-Identifier: Apache-2.0
"""Rows follow an engine in memory that changes behind the agent's back."""

import time

import fixtures

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.compute import strangers
from zun.compute import sweep
from zun.compute import sync
from zun.container import driver as container_driver
from zun.db import engine as db_engine
from zun.placement import ledger
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class FollowerTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.1))
        self.follower = sync.Follower(self.node)
        self.follower.start()
        self.addCleanup(self.follower.stop)
        real.wait_for('the follower', lambda: self.engine._listeners)

    def wait_status(self, container, *statuses):
        real.wait_for(f'{statuses}', lambda: self.row(container).status in statuses, 5)
        return self.settled(container)

    def test_exit_shows_at_once(self):
        container = self.created()
        self.engine.exit(container.uuid, 3)
        found = self.wait_status(container, states.STOPPED)
        self.assertEqual((3, 'Exited(3) 0 seconds ago '),
                         (found.exit_code, found.status_detail))
        self.assertTrue(found.finished_at)

    def test_what_happens_while_the_engine_is_away(self):
        container, other = self.created(), self.created()
        self.engine.fail('events', DOWN, DOWN)
        self.engine.restart_engine()
        self.engine.exit(container.uuid, 1)
        self.wait_status(container, states.STOPPED)
        self.assertEqual(states.RUNNING, self.row(other).status)
        self.engine.exit(other.uuid, 2)
        self.wait_status(other, states.STOPPED)

    def test_auto_remove(self):
        container = self.created(auto_remove=True)
        self.engine.exit(container.uuid)
        real.wait_for('the delete', lambda: self.row(container) is None, 5)
        self.assertEqual(({}, {}), (self.engine.list(), self.held(container)))

    def test_vanished(self):
        container = self.created()
        self.engine.vanish(container.uuid)
        found = self.wait_status(container, states.ERROR)
        self.assertEqual(heal.MISSING, found.status_reason)

    def test_vanished_is_made_again_with_auto_heal(self):
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        container = self.created(auto_heal=True)
        self.engine.vanish(container.uuid)
        self.wait_status(container, states.ERROR)
        found = self.wait_status(container, states.RUNNING)
        self.assertEqual(container.addresses, found.addresses)
        self.assertEqual(('rebuild', None, True), self.actions(container)[-1])
        self.assert_closed(container)

    def test_unhealthy_is_restarted_with_auto_heal(self):
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        ill, left = self.created(auto_heal=True), self.created()
        for container in (ill, left):
            self.engine.set_health(container.uuid, 'unhealthy')
        real.wait_for('the reboot', lambda: self.actions(ill)[-1] == ('reboot', None, True), 5)
        real.wait_for('the look', lambda: self.row(left).health == 'unhealthy', 5)
        self.assertEqual([('create', None, True)], self.actions(left))

    def test_stops_at_once(self):
        began = time.monotonic()
        self.follower.stop()
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual([], self.engine._listeners)


class ObserveTest(base.NodeTestCase):
    def test_nothing_changed_is_nothing_written(self):
        container = self.created()
        with db_engine.statement_counter(all_threads=True) as counter:
            sync.observe(self.node, container.uuid)
            real.wait_for('the look', lambda: not self.node.busy(container.uuid))
        self.assertEqual(1, counter.count, counter.statements)

    def test_looks_are_gathered(self):
        container = self.created()
        looks = []
        inspect = self.engine.inspect
        self.engine.inspect = lambda c: (looks.append(1), inspect(c))[1]
        self.node.lifecycle.submit(container.uuid, time.sleep, 0.1)
        for _ in range(50):
            sync.observe(self.node, container.uuid)
        self.settled(container)
        self.assertEqual([1], looks)

    def test_operations_are_left_alone(self):
        for status, task_state in [(states.CREATING, None), (states.DELETING, None),
                                   (states.REBUILDING, None), (states.DELETED, None),
                                   (states.RUNNING, states.CONTAINER_STOPPING)]:
            with self.subTest(status=status, task_state=task_state):
                container = self.created()
                row = self.row(container)
                row.status, row.task_state = status, task_state
                row.save(self.admin)
                self.engine.exit(container.uuid)
                self.assertEqual((status, task_state), (
                    self.observe(container).status, self.row(container).task_state))

    def test_engine_away_changes_nothing(self):
        container = self.created(auto_heal=True)
        self.engine.fail('inspect', DOWN)
        self.assertEqual(states.RUNNING, self.observe(container).status)

    def test_missing_once_is_not_gone(self):
        container = self.created()
        self.engine.fail('inspect', exception.EngineGone(container='x'))
        self.assertEqual(states.RUNNING, self.observe(container).status)
        self.assertIn(container.uuid, self.node.missing)
        self.assertEqual(states.RUNNING, self.observe(container).status)
        self.assertEqual({}, self.node.missing)

    def test_auto_remove_of_what_could_not_be_started(self):
        """As after a crash of the agent between the two."""
        container = self.created(auto_remove=True)
        row = self.row(container)
        self.engine.exit(container.uuid, 127)
        row.status, row.exit_code = states.ERROR, 127
        row.save(self.admin)
        sync.reconcile(self.node, after_gap=True)
        real.wait_for('the delete', lambda: self.row(container) is None, 5)

    def test_vanished_auto_remove_is_deleted(self):
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        container = self.created(auto_remove=True)
        self.engine.vanish(container.uuid)
        self.observe(container)
        real.wait_for('the delete', lambda: self.row(container) is None, 5)
        self.assertEqual({}, self.held(container))

    def test_too_many_repairs_are_given_up(self):
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        container = self.created(auto_heal=True)
        self.node.repairs[container.uuid] = [time.monotonic()] * 5
        self.engine.vanish(container.uuid)
        self.assertEqual(states.ERROR, self.observe(container).status)
        self.assertFalse(self.node.timer.waits(f'heal {container.uuid}'))

    def test_what_should_run_is_started_after_a_gap(self):
        for policy, resume, starts in [('unless-stopped', False, True), ('always', False, True),
                                       ('no', False, False), ('on-failure', False, False),
                                       ('no', True, True)]:
            with self.subTest(policy=policy, resume=resume):
                self.config(group='compute', resume_container_state=resume)
                container = self.created(restart_policy={'Name': policy})
                self.engine.exit(container.uuid, 137)
                self.observe(container, after_gap=True)
                real.wait_for('the start', lambda c=container, s=starts: (
                    self.settled(c).status == states.RUNNING) is s)
                self.assertEqual(starts, self.actions(container)[-1][0] == 'start')

    def test_what_the_user_stopped_stays_so(self):
        container = self.created(restart_policy={'Name': 'always'})
        self.run_operation(container, 'stop', timeout=1)
        self.observe(container, after_gap=True)
        self.assertEqual('stop', self.actions(container)[-1][0])


class ReconcileTest(base.NodeTestCase):
    def test_one_listing_one_query(self):
        made = [self.created() for _ in range(5)]
        self.placed(host='node-2')
        self.engine.exit(made[2].uuid)
        with db_engine.statement_counter() as counter:
            sync.reconcile(self.node)
        self.assertEqual(1, counter.count, counter.statements)
        found = [self.settled(container).status for container in made]
        self.assertEqual([states.RUNNING] * 2 + [states.STOPPED] + [states.RUNNING] * 2, found)

    def test_engine_away_is_no_empty_listing(self):
        container = self.created(auto_heal=True)
        self.engine.fail('list', DOWN)
        self.assertRaises(exception.EngineUnavailable, sync.reconcile, self.node)
        self.assertEqual(states.RUNNING, self.settled(container).status)

    def test_table_of_differences(self):
        def seen(status, running=False):
            return container_driver.Observed('u', 'e', status, running=running)

        for status, listed, differs in [
                (states.RUNNING, seen(states.RUNNING, True), False),
                (states.RUNNING, seen(states.STOPPED), True),
                (states.RUNNING, None, True), (states.ERROR, None, False),
                (states.ERROR, seen(states.STOPPED), False),
                (states.ERROR, seen(states.RUNNING, True), True),
                (states.CREATED, seen(None), False)]:
            with self.subTest(status=status, listed=listed):
                self.assertIs(differs, sync.differs(objects.Container(status=status), listed))


class StrangersTest(base.NodeTestCase):
    def foreign(self, host, row_host, generation=0):
        """A running engine container, and the host of its row; none without row_host."""
        container = self.created()
        if row_host is None:
            container.destroy(self.admin)
        else:
            row = self.row(container)
            row.host = row_host
            row.save(self.admin)
        box = self.engine._boxes[container.uuid]
        box.seen = base.dataclasses.replace(box.seen, host=host, generation=generation)
        return container

    def running(self, container):
        found = self.engine.list().get(container.uuid)
        return found and found.running

    def test_moved_away_is_stopped_and_its_row_left(self):
        container = self.foreign(base.HOST, 'node-2')
        sync.reconcile(self.node)
        self.assertIs(False, self.running(container))
        self.assertEqual((states.RUNNING, 'node-2'),
                         (self.row(container).status, self.row(container).host))

    def test_of_another_agent_on_the_same_engine_is_left_alone(self):
        self.config(group='compute', orphan_policy='remove')
        for row_host in ('node-2', None):
            container = self.foreign('node-2', row_host)
            sync.reconcile(self.node)
            self.assertIs(True, self.running(container))

    def test_old_generation_is_stopped_at_the_start(self):
        container = self.foreign(base.HOST, base.HOST, generation=0)
        current = self.foreign(base.HOST, base.HOST, generation=1)
        for one in (container, current):
            asked = self.asked(one)
            asked.generation = 1
            asked.save()
        strangers.stale(self.node, self.engine.list())
        self.assertEqual((False, True), (self.running(container), self.running(current)))

    def test_orphans_are_removed_when_they_are_old(self):
        self.config(group='compute', orphan_policy='remove')
        container = self.foreign(base.HOST, None)
        for _ in range(2):
            sync.reconcile(self.node)
            self.assertIs(True, self.running(container))
        self.node.orphans[container.uuid] -= self.CONF.compute.orphan_age
        sync.reconcile(self.node)
        self.assertIsNone(self.running(container))

    def test_orphans_are_named_by_default(self):
        container = self.foreign(base.HOST, None)
        sync.reconcile(self.node)
        self.node.orphans[container.uuid] -= self.CONF.compute.orphan_age
        sync.reconcile(self.node)
        self.assertIs(True, self.running(container))


class SweepTest(base.NodeTestCase):
    def test_lost_messages_are_found_at_the_second_round(self):
        made, stopped = self.placed(), self.created()
        self.accept(stopped, 'stop', timeout=1)
        rounds = sweep.Sweep(self.node)
        rounds.run()
        self.assertEqual((states.CREATING, states.RUNNING),
                         (self.settled(made).status, self.settled(stopped).status))
        rounds.run()
        self.assertEqual((states.RUNNING, states.STOPPED),
                         (self.settled(made).status, self.settled(stopped).status))
        self.assert_closed(made)
        self.assert_closed(stopped)

    def test_what_is_under_way_is_left_alone(self):
        container = self.created()
        self.accept(container, 'stop', timeout=1)
        self.node.lifecycle.submit(container.uuid, time.sleep, 0.3)
        rounds = sweep.Sweep(self.node)
        rounds.run()
        rounds.run()
        self.assertEqual(states.RUNNING, self.settled(container).status)


class ResourcesTest(base.NodeTestCase):
    def node_row(self):
        return objects.ComputeNode.get_by_name(self.admin, base.HOST)

    def test_row_and_report(self):
        self.created(cpu=0.5, memory='100')
        self.created(run=False, cpu=1.5, memory='28')
        self.placed(host='node-2', cpu=4.0)
        self.tracker.refresh()
        row = self.node_row()
        self.assertEqual((2.0, 128, 4, 8192, 8192 - 128, 80),
                         (row.cpu_used, row.mem_used, row.cpus, row.mem_total, row.mem_free,
                          row.disk_total))
        self.assertEqual((2, 1, 1), (row.total_containers, row.running_containers,
                                     row.stopped_containers))
        self.assertEqual(row.rp_uuid, self.node.provider)
        found = self.node.ledger.candidates({'VCPU': 1, 'MEMORY_MB': 1, 'DISK_GB': 1})
        self.assertEqual({'VCPU': 64, 'MEMORY_MB': 11520, 'DISK_GB': 80}, found[0].capacity)

    def test_the_uuid_stays(self):
        before = self.node_row().uuid
        self.restart()
        base.resources.Tracker(self.node).refresh()
        self.assertEqual(before, self.node_row().uuid)

    def test_a_quiet_round_writes_nothing(self):
        with db_engine.statement_counter() as counter:
            self.tracker.refresh()
        self.assertEqual([], [s for s in counter.statements if not s.startswith('SELECT')])

    def test_a_disabled_host_is_no_candidate(self):
        service = objects.ZunService(self.admin, host=base.HOST, binary='zun-compute',
                                     disabled=True)
        service.create(self.admin)
        self.tracker.refresh()
        self.assertEqual([], self.node.ledger.candidates(
            {'VCPU': 1}, forbidden=['CUSTOM_ZUN_COMPUTE_STATUS_DISABLED']))

    def test_a_deleted_row_is_made_anew(self):
        self.node_row().destroy(self.admin)
        self.engine.host = base.dataclasses.replace(self.engine.host, cpus=8)
        self.assertRaises(exception.ComputeNodeNotFound, self.tracker.refresh)
        self.tracker.refresh()
        self.assertEqual(8, self.node_row().cpus)

    def test_a_ledger_that_forgot_the_host(self):
        """As one whose database was restored: the provider comes back, with its uuid."""
        provider = self.node.provider
        self.node.ledger.forget(provider)
        self.assertRaises(exception.ResourceProviderNotFound, self.tracker.refresh)
        self.tracker.refresh()
        self.assertEqual({provider: base.HOST}, self.node.ledger.providers())
        self.assertEqual(1, len(self.node.ledger.candidates({'VCPU': 1})))

    def test_a_row_that_was_lost_with_its_provider_in_use(self):
        """The host goes on with the provider of its former life."""
        provider = self.node.provider
        container = self.created()
        self.assertTrue(self.node.ledger.claim(
            ledger.Consumer(container.uuid, 'p', 'u'),
            ledger.Candidate(provider, {provider: {'VCPU': 1, 'MEMORY_MB': 512}}, {}, {})))
        self.node_row().destroy(self.admin)
        self.node.provider = None
        base.resources.Tracker(self.node).refresh()
        row = self.node_row()
        self.assertEqual((provider, provider), (self.node.provider, row.rp_uuid))
        self.assertNotEqual(provider, row.uuid)
        self.assertEqual({provider: base.HOST}, self.node.ledger.providers())

    def test_a_trouble_is_told_once(self):
        log = self.useFixture(fixtures.FakeLogger('zun.compute.resources', level=20))
        told = 'The resources of this host cannot be reported'
        self.engine.fail('host_info', DOWN, DOWN, exception.EngineUnavailable(error_msg='hangs'))
        for _round in range(3):
            self.tracker.run()
        self.assertEqual(2, log.output.count(told))
        for _round in range(2):
            self.tracker.run()
        self.assertEqual(1, log.output.count('reported again'))

    def test_without_disk_quota_no_disk(self):
        self.engine.host = base.dataclasses.replace(self.engine.host,
                                                    disk_quota_supported=False)
        self.tracker.refresh()
        self.assertEqual([], self.node.ledger.candidates({'VCPU': 1, 'DISK_GB': 1}))
        container = self.placed(networks=[])
        row = self.row(container)
        row.disk = 5
        row.save(self.admin)
        base.operations.submit(self.node, self.context, row.uuid, 'create', generation=0)
        found = self.settled(row)
        self.assertIn('cannot limit the size of a disk', found.status_reason)


