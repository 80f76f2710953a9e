# SPDX-License-Identifier: Apache-2.0
"""Operations on an engine in memory that fails where a test says."""

import threading

import fixtures
from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import manager
from zun.compute import operations
from zun.compute import recovery
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class PowerTest(base.NodeTestCase):
    def test_each_ends_as_the_engine_says(self):
        container = self.created()
        for operation, status, args in [
                ('stop', states.STOPPED, {'timeout': 1}), ('start', states.RUNNING, {}),
                ('pause', states.PAUSED, {}), ('unpause', states.RUNNING, {}),
                ('kill', states.RUNNING, {'signal': 'SIGUSR1'}),
                ('reboot', states.RUNNING, {'timeout': 1}),
                ('kill', states.STOPPED, {'signal': None})]:
            with self.subTest(operation=operation):
                accepted = states.RESTARTING if operation == 'reboot' else None
                found = self.run_operation(container, operation, accepted, **args)
                self.assertEqual((status, None, None),
                                 (found.status, found.status_reason, found.task_state))
                self.assertEqual((operation, None, True), self.actions(container)[-1])
                self.assertEqual((f'compute__do_container_{operation}', 'Success'),
                                 self.events(container)[-1])
        self.assertEqual(137, found.exit_code)
        self.assert_closed(container)

    def test_wrong_state_is_an_error_and_no_call(self):
        container = self.created()
        self.run_operation(container, 'stop', timeout=None)
        self.engine.fail('pause', AssertionError('must not be called'))
        found = self.run_operation(container, 'pause')
        self.assertEqual(states.STOPPED, found.status)
        self.assertEqual(('pause', 'Error', True), self.actions(container)[-1])
        self.assert_closed(container)

    def test_row_that_is_wrong_about_the_state_is_corrected(self):
        container = self.created()
        self.run_operation(container, 'pause')
        other = self.row(container)
        other.status = states.RUNNING
        other.save(self.admin)
        found = self.run_operation(container, 'pause')
        self.assertEqual(states.PAUSED, found.status)
        self.assertEqual('Pause failed: Container is already paused', found.status_reason)
        self.assertEqual(('pause', 'Error', True), self.actions(container)[-1])

    def test_failed_start_is_error_and_can_be_tried_again(self):
        container = self.created(run=False)
        self.engine.fail('start', exception.Invalid(
            f'Container {"4" * 64}: sethostname: invalid argument'))
        found = self.run_operation(container, 'start')
        self.assertEqual((states.ERROR, 'Start failed: Container : sethostname: invalid argument'),
                         (found.status, found.status_reason))
        found = self.run_operation(container, 'start')
        self.assertEqual((states.RUNNING, None), (found.status, found.status_reason))

    def test_engine_away_changes_no_status(self):
        container = self.created()
        for method in ('stop', 'inspect'):
            self.engine.fail(method, DOWN)
        found = self.run_operation(container, 'stop', timeout=None)
        self.assertEqual(states.RUNNING, found.status)
        self.assertIn('does not answer', found.status_reason)
        self.assert_closed(container)

    def test_bug_in_a_driver_is_contained(self):
        container = self.created()
        self.engine.fail('stop', KeyError('secret'))
        found = self.run_operation(container, 'stop', timeout=None)
        self.assertEqual(states.RUNNING, found.status)
        self.assertNotIn('secret', found.status_reason)
        self.assert_closed(container)

    def test_one_after_the_other(self):
        container = self.created()
        stopping, go_on = threading.Event(), threading.Event()
        stop = self.engine.stop

        def slow(*args):
            stopping.set()
            go_on.wait(10)
            return stop(*args)

        self.engine.stop = slow
        self.addCleanup(go_on.set)
        first = self.accept(container, 'stop', timeout=5)
        operations.submit(self.node, first, container.uuid, 'stop', timeout=5)
        self.assertTrue(stopping.wait(10))
        second = self.accept(container, 'kill', signal=None)
        operations.submit(self.node, second, container.uuid, 'kill', signal=None)
        self.assertEqual(states.CONTAINER_STOPPING, self.row(container).task_state)
        go_on.set()
        found = self.settled(container)
        self.assertEqual(states.STOPPED, found.status)
        self.assertEqual([('create', None, True), ('stop', None, True), ('kill', 'Error', True)],
                         self.actions(container))
        self.assert_closed(container)

    def test_other_containers_do_not_wait(self):
        slow, quick = self.created(), self.created()
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        stop = self.engine.stop
        self.engine.stop = lambda c, t: (c.uuid == slow.uuid and go_on.wait(10), stop(c, t))[1]
        context = self.accept(slow, 'stop', timeout=5)
        operations.submit(self.node, context, slow.uuid, 'stop', timeout=5)
        self.assertEqual(states.STOPPED, self.run_operation(quick, 'stop', timeout=1).status)
        self.assertEqual(states.RUNNING, self.row(slow).status)
        go_on.set()
        self.assertEqual(states.STOPPED, self.settled(slow).status)


class DeleteTest(base.NodeTestCase):
    def delete(self, container, force=False, stop=False):
        return self.run_operation(container, 'delete', states.DELETING, force=force, stop=stop)

    def test_frees_everything(self):
        container = self.created(run=False)
        self.assertIsNone(self.delete(container))
        self.assertEqual(({}, {}), (self.engine.list(), self.held(container)))
        self.assertEqual({}, base.network_driver_addresses(container.uuid))

    def test_stops_first(self):
        stopped = []
        stop = self.engine.stop
        self.engine.stop = lambda c, t: (stopped.append(t), stop(c, t))[1]
        container = self.created()
        self.assertIsNone(self.delete(container, stop=True))
        self.assertEqual([10], stopped)

    def test_without_engine_container(self):
        container = self.created()
        self.engine.vanish(container.uuid)
        self.assertIsNone(self.delete(container, stop=True))
        self.assertEqual({}, self.held(container))

    def test_in_any_state(self):
        for status in (states.ERROR, states.PAUSED, states.RUNNING, states.DEAD, states.UNKNOWN):
            with self.subTest(status=status):
                container = self.created()
                row = self.row(container)
                row.status, row.task_state = status, states.SG_ADDING
                row.save(self.admin)
                self.assertIsNone(self.delete(container, force=True))

    def test_failure_stays_deleting_and_is_tried_again(self):
        container = self.created()
        self.engine.fail('delete', exception.Conflict('device or resource busy'))
        ledger, failures = self.node.ledger, [exception.LedgerUnavailable(reason='x')]
        release = ledger.release
        ledger.release = lambda uuid: release(uuid) if not failures else _raise(failures.pop())
        found = self.delete(container)
        self.assertEqual((states.DELETING, 'Delete failed: device or resource busy', None),
                         (found.status, found.status_reason, found.task_state))
        self.assertEqual(('delete', None, False), self.actions(container)[-1])
        real.wait_for('two more tries', lambda: self.row(container) is None)
        self.assertEqual(({}, {}), (self.engine.list(), self.held(container)))


class RebuildTest(base.NodeTestCase):
    def rebuild(self, container, run=True, **columns):
        row = self.row(container)
        for name, value in columns.items():
            setattr(row, name, value)
        row.save(self.admin)
        return self.run_operation(container, 'rebuild', states.REBUILDING, run=run)

    def test_new_container_same_addresses(self):
        container = self.created()
        found = self.rebuild(container, image='zun-test/other:2')
        self.assertEqual((states.RUNNING, None, container.addresses),
                         (found.status, found.status_reason, found.addresses))
        self.assertNotEqual(container.container_id, found.container_id)
        self.assertEqual([container.uuid], list(self.engine._boxes))
        self.assertEqual(('rebuild', None, True), self.actions(container)[-1])
        self.assert_closed(container)

    def test_of_one_that_does_not_run(self):
        container = self.created(run=False)
        found = self.rebuild(container, run=False)
        self.assertEqual(states.CREATED, found.status)
        self.assertFalse(self.engine.inspect(found).running)

    def test_image_that_is_missing_leaves_the_old_one_running(self):
        container = self.created()
        self.engine.missing.add('no/such')
        before = self.engine.inspect(container)
        found = self.rebuild(container, image='no/such')
        self.assertEqual(states.RUNNING, found.status)
        self.assertIn('no/such', found.status_reason)
        self.assertEqual(before, self.engine.inspect(container))
        self.assertEqual(('rebuild', 'Error', True), self.actions(container)[-1])

    def test_failure_brings_the_old_one_back(self):
        for method in ('create', 'start'):
            with self.subTest(method=method):
                container = self.created()
                self.engine.fail(method, exception.Invalid('no'))
                found = self.rebuild(container)
                self.assertEqual((states.RUNNING, 'Rebuild failed: no'),
                                 (found.status, found.status_reason))
                self.assertEqual(container.container_id, self.engine.inspect(found).engine_id)
                self.assertNotIn(f'zun-{container.uuid}-old', self.engine._boxes)
                self.assert_closed(container)

    def test_engine_lost_in_between_is_tried_again(self):
        container = self.created()
        self.engine.fail('create', DOWN)
        self.engine.fail('restore', DOWN)
        self.patch_retry()
        found = self.rebuild(container)
        self.assertEqual(states.REBUILDING, found.status)
        real.wait_for('the second try', lambda: self.row(container).status == states.RUNNING)
        self.settled(container)
        self.assertEqual([container.uuid], list(self.engine._boxes))
        self.assert_closed(container)

    def patch_retry(self):
        retry = self.node.retry
        self.node.retry = lambda _seconds, uuid: retry(0.05, uuid)

    def test_of_one_that_vanished(self):
        container = self.created()
        self.engine.vanish(container.uuid)
        found = self.rebuild(container)
        self.assertEqual((states.RUNNING, container.addresses), (found.status, found.addresses))

    def test_interrupted_at_each_step(self):
        for step in ('pulled', 'aside', 'made', 'started', 'discarded'):
            with self.subTest(step=step):
                container = self.created()
                context = self.accept(container, 'rebuild', states.REBUILDING, run=True)
                row = self.row(container)
                row.task_state = states.CONTAINER_REBUILDING
                row.save(self.admin)
                self.half_rebuilt(row, context, step)
                self.restart()
                recovery.resume_all(self.node)
                found = self.settled(container)
                self.assertEqual((states.RUNNING, container.addresses),
                                 (found.status, found.addresses))
                self.assertEqual(1, len(self.engine._boxes))
                self.assertTrue(self.engine.inspect(found).running)
                self.assert_closed(container)
                self.engine.vanish(container.uuid)

    def half_rebuilt(self, row, context, step):
        steps = ('pulled', 'aside', 'made', 'started', 'discarded')
        done = steps[:steps.index(step) + 1]
        if 'aside' in done:
            self.engine.stop(row, None)
            self.engine.set_aside(row.uuid, f'zun-{row.uuid}-old')
        if 'made' in done:
            self.engine.create(base.container_driver.Workload(
                row, 'image', operation=context.request_id))
        if 'started' in done:
            self.engine.start(row)
        if 'discarded' in done:
            self.engine.discard(f'zun-{row.uuid}-old')


class NetworksTest(base.NodeTestCase):
    def second_network(self):
        return self.node.network.create_network(self.context, {'name': 'second'})

    def test_attach_and_detach(self):
        container = self.created()
        network = self.second_network()['uuid']
        wanted = self.node.network.resolve(self.context, [{'network': network}])[0]
        found = self.run_operation(container, 'network_attach', requested_network=wanted)
        self.assertEqual({*container.addresses, network}, set(found.addresses))
        rebuilt = self.run_operation(container, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual(found.addresses, rebuilt.addresses)
        found = self.run_operation(container, 'network_detach', network=network)
        self.assertEqual(container.addresses, found.addresses)
        self.assert_closed(container)

    def test_failed_attach_changes_nothing(self):
        container = self.created()
        wanted = self.node.network.resolve(
            self.context, [{'network': self.second_network()['uuid']}])[0]
        self.engine.fail('connect', exception.Conflict('no'))
        found = self.run_operation(container, 'network_attach', requested_network=wanted)
        self.assertEqual((container.addresses, 'Network attach failed: no', states.RUNNING),
                         (found.addresses, found.status_reason, found.status))
        self.assertEqual(('network_attach', 'Error', True), self.actions(container)[-1])

    def test_interrupted_before_another_operation(self):
        """Groups and interfaces become those of the row again."""
        container, groups = self.created(), []
        lost = self.node.network.resolve(self.context, [])[0]['network']
        self.useFixture(fixtures.MonkeyPatch(
            'zun.network.embedded.EmbeddedDriver.set_security_groups',
            lambda _driver, _context, _container, wanted: groups.append(wanted)))
        for task_state in (states.SG_ADDING, states.NETWORK_DETACHING):
            row = self.row(container)
            row.task_state, row.security_groups = task_state, ['group']
            row.save(self.admin)
            self.accept(container, 'stop', timeout=1)
            if task_state == states.NETWORK_DETACHING:
                self.node.network.release(self.admin, container.uuid, lost)
            self.node.resume(container.uuid)
            row = self.settled(container)
            self.assertEqual((states.STOPPED, None), (row.status, row.task_state))
            self.run_operation(container, 'start')
        self.assertEqual([['group'], ['group']], groups)
        self.assertEqual({}, row.addresses)
        self.assert_closed(container)

    def test_interrupted_while_the_engine_is_away(self):
        container = self.created()
        row = self.row(container)
        row.task_state = states.NETWORK_ATTACHING
        row.save(self.admin)
        self.accept(container, 'stop', timeout=1)
        self.engine.fail('connect', exception.EngineUnavailable(error_msg='away'))
        self.node.resume(container.uuid)
        self.assertEqual(states.NETWORK_ATTACHING, self.settled(container).task_state)
        real.wait_for('another look', lambda: self.row(container).task_state is None)
        self.assertEqual(states.STOPPED, self.settled(container).status)

    def test_security_groups_where_there_are_none(self):
        container = self.created()
        found = self.run_operation(container, 'add_security_group', security_group='x')
        self.assertFalse(found.security_groups)
        self.assertIn('does not support', found.status_reason)


class CallsTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.manager = manager.Manager(self.node)
        self.container = self.created()

    def call(self, method, *args):
        return getattr(self.manager, method)(self.context, self.container.uuid, *args)

    def test_answers(self):
        self.engine.write(self.container.uuid, 'one\ntwo\n')
        self.assertEqual('two\n', self.call('container_logs', True, True, False, 1, None))
        self.assertEqual(
            {'output': 'ls\n', 'exit_code': 0, 'exec_id': None, 'token': None},
            self.call('container_exec', 'ls', True, False))
        self.assertEqual(['PID', 'CMD'], self.call('container_top', None)['Titles'])
        self.assertIn('CPU %', self.call('container_stats'))
        self.call('container_put_archive', '/tmp', 'YWJj')
        self.assertEqual('YWJj', self.call('container_get_archive', '/tmp')['data'])
        self.call('container_resize', 20, 80)

    def test_host_without_certificates_offers_no_consoles(self):
        self.assertRaises(exception.OperationNotSupported, self.call, 'container_exec', 'sh',
                          False, True)

    def test_attach_needs_an_interactive_container(self):
        self.assertRaises(exception.NoInteractiveFlag, self.call, 'container_attach')

    def test_errors(self):
        self.assertRaises(exception.Base64Exception, self.call, 'container_put_archive', '/', '#')
        self.assertRaises(exception.NotFound, self.call, 'container_get_archive', '/nope')
        row = self.row(self.container)
        row.host = 'node-2'
        row.save(self.admin)
        self.assertRaises(exception.ContainerNotFound, self.call, 'container_stats')

    def test_only_so_many_at_a_time(self):
        taken = []
        while self.node.streams.acquire(blocking=False):
            taken.append(1)
        self.assertEqual(self.CONF.compute.stream_workers, len(taken))
        self.assertRaises(exception.PoolFull, self.call, 'container_stats')
        self.node.streams.release()
        self.call('container_stats')

    def test_a_full_queue_leaves_the_work_in_the_database(self):
        self.node.lifecycle.shutdown(5)
        context = self.accept(self.container, 'stop', timeout=1)
        self.manager.container_stop(context, self.container.uuid, 1)
        self.assertEqual('stop', self.asked(self.container).operation)

    def test_images(self):
        image = objects.Image(self.context, uuid=uuidutils.generate_uuid(), repo='a/b', tag='1',
                              host=base.HOST, project_id='project', user_id='user')
        image.pull(self.context)
        self.manager.image_pull(self.context, image.uuid)
        real.wait_for('the pull', lambda: not self.node.pulls.busy(image.uuid))
        found = objects.Image.get_by_uuid(self.admin, image.uuid)
        self.assertEqual((self.engine.find_image('a/b:1'), str(1 << 20)),
                         (found.image_id, found.size))
        self.assertEqual(1, len(self.manager.image_search(self.context, 'a/b', 'docker', True)))
        self.manager.image_delete(self.context, image.uuid)
        real.wait_for('the delete', lambda: not self.node.pulls.busy(image.uuid))
        self.assertRaises(exception.ImageNotFound, objects.Image.get_by_uuid, self.admin,
                          image.uuid)

    def test_networks(self):
        ident = self.node.network.create_network(self.context, {'name': 'one'})['uuid']
        self.assertEqual(ident, self.manager.network_create(self.context, ident)['uuid'])
        self.manager.network_delete(self.context, ident)
        self.assertRaises(exception.NetworkNotFound, self.manager.network_delete, self.context,
                          ident)


def _raise(error):
    raise error
