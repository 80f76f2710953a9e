# SPDX-License-Identifier: Apache-2.0
"""Life of containers on a real engine."""

import concurrent.futures
import datetime
import io
import os
import time

from docker import errors as docker_errors
from oslo_utils import timeutils
from oslo_utils import uuidutils

from zun.common import exception
from zun.common import states
from zun.container import driver
from zun.tests.functional import engine
from zun.tests.functional.container import base


class TestStates(base.DriverTestCase):
    """What the driver makes of each state that a real engine has."""

    def test_created(self):
        container = self.engine.container()
        self.driver.create(driver.Workload(container, self.engine.image_id, generation=3,
                                           operation='req-1'))
        seen = self.driver.inspect(container)
        self.assertEqual((states.CREATED, 'Created', False),
                         (seen.status, seen.status_detail, seen.running))
        self.assertEqual((container.uuid, 3, 'req-1', self.CONF.host),
                         (seen.uuid, seen.generation, seen.operation, seen.host))
        self.assertEqual(self.engine.inspect(container)['Id'], seen.engine_id)
        self.assertEqual(seen.engine_id[:12], seen.hostname)
        self.assertEqual(('runc', tuple(engine.FOREVER), ()),
                         (seen.runtime, seen.command, seen.entrypoint))
        self.assertEqual((None, None, None), (seen.started_at, seen.finished_at, seen.exit_code))

    def test_created_tells_nothing_new_of_a_row_that_is_created(self):
        self.assertIsNone(self.driver.inspect(self.create()).status)

    def test_running(self):
        container = self.create()
        before = timeutils.utcnow().replace(microsecond=0)
        seen = self.driver.start(container)
        self.assertEqual((states.RUNNING, True, None), (seen.status, seen.running, seen.exit_code))
        self.assertStartsWith(seen.status_detail, 'Up ')
        self.assertLessEqual(before, seen.started_at)
        self.assertLess(seen.started_at - before, datetime.timedelta(seconds=20))
        self.assertIsNone(seen.finished_at)

    def assertStartsWith(self, text, start):  # noqa: N802
        self.assertTrue(text.startswith(start), text)

    def test_exited(self):
        container = self.run_container(command=['sh', '-c', 'exit 3'])
        self.engine.wait_state(container, 'exited')
        seen = self.driver.inspect(container)
        self.assertEqual((states.STOPPED, False, 3), (seen.status, seen.running, seen.exit_code))
        self.assertStartsWith(seen.status_detail, 'Exited(3) ')
        self.assertIsNotNone(seen.finished_at)
        self.assertIsNone(seen.status_reason)

    def test_running_after_a_restart_has_no_exit_code(self):
        container = self.run_container()
        seen = self.driver.reboot(container, 5)
        self.assertEqual((states.RUNNING, None), (seen.status, seen.exit_code))
        self.assertIsNotNone(seen.finished_at)

    def test_paused(self):
        seen = self.driver.pause(self.run_container())
        self.assertEqual((states.PAUSED, True), (seen.status, seen.running))
        self.assertTrue(seen.status_detail.endswith(' (paused)'))

    def _killed_for_memory(self):
        """The engine now and then misses the kernel's word of it: then once more."""
        for _ in range(5):
            container = self.run_container(
                memory='8', command=['sh', '-c', 'x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done'])
            if self.engine.wait_state(container, 'exited', timeout=60)['State']['OOMKilled']:
                return container
        return self.skipTest('the engine does not tell of memory that ran out')

    def test_out_of_memory(self):
        seen = self.driver.inspect(self._killed_for_memory())
        self.assertEqual((states.STOPPED, 137, 'The container ran out of memory.'),
                         (seen.status, seen.exit_code, seen.status_reason))
        self.assertTrue(seen.status_detail.endswith('(out of memory)'))

    def test_restart_loop(self):
        container = self.run_container(command=['sh', '-c', 'exit 4'],
                                       restart_policy={'Name': 'always'})
        self.engine.wait_state(container, 'restarting')
        seen = self.driver.inspect(container)
        self.assertEqual((states.RESTARTING, 'Restarting'), (seen.status, seen.status_detail))

    def test_unhealthy(self):
        container = self.run_container(healthcheck={
            'test': 'exit 1', 'interval': 1, 'retries': 1, 'timeout': 1})
        seen = engine.wait_for('the check to fail', lambda: (
            lambda found: found if found.health == 'unhealthy' else None)(
                self.driver.inspect(container)))
        self.assertEqual(states.RUNNING, seen.status)
        self.assertTrue(seen.status_detail.endswith(' (unhealthy)'))

    def test_without_a_check_there_is_no_health(self):
        self.assertIsNone(self.driver.inspect(self.run_container()).health)

    def test_listing_agrees_with_inspect(self):
        created, running = self.create(), self.run_container()
        paused, stopped = self.run_container(), self.run_container(command=['true'])
        self.driver.pause(paused)
        self.engine.wait_state(stopped, 'exited')
        listed = self.driver.list()
        self.assertEqual(
            [None, states.RUNNING, states.PAUSED, states.STOPPED],
            [listed[container.uuid].status for container in (created, running, paused, stopped)])
        for container in (created, running, paused, stopped):
            seen, item = self.driver.inspect(container), listed[container.uuid]
            self.assertEqual(
                (seen.engine_id, seen.running, seen.generation, seen.operation, seen.host),
                (item.engine_id, item.running, item.generation, item.operation, item.host))

    def test_listing_has_only_exact_names(self):
        uuid = uuidutils.generate_uuid()
        names = f'my-zun-{uuid}', f'zun-{uuid}-old-1', f'zun-x{uuid}'
        for name in names:
            self.engine.api.create_container_from_config({'Image': engine.IMAGE}, name=name)
            self.addCleanup(self.engine.remove, name)
        self.assertNotIn(uuid, self.driver.list())

    def test_listing_has_containers_without_labels(self):
        container = self.engine.container()
        self.engine.api.create_container_from_config({'Image': engine.IMAGE},
                                                     name=f'zun-{container.uuid}')
        item = self.driver.list()[container.uuid]
        self.assertEqual((0, '', None), (item.generation, item.operation, item.host))

    def test_gone(self):
        container = self.engine.container(status=states.RUNNING)
        error = self.assertRaises(exception.EngineGone, self.driver.inspect, container)
        self.assertIn(container.uuid, error.message)
        for call in (self.driver.start, self.driver.pause, self.driver.unpause,
                     self.driver.stats):
            self.assertRaises(exception.EngineGone, call, container)
        for call in (self.driver.stop, self.driver.reboot, self.driver.kill, self.driver.top):
            self.assertRaises(exception.EngineGone, call, container, None)
        self.assertRaises(exception.EngineGone, self.driver.update, container, 0.5, 64)
        self.assertRaises(exception.EngineGone, self.driver.execute, container, 'true')
        self.assertRaises(exception.EngineGone, self.driver.get_archive, container, '/',
                          io.BytesIO())


class TestFailedStart(base.DriverTestCase):
    def _start(self, **fields):
        container = self.create(**fields)
        seen = self.driver.start(container)
        self.assertEqual((states.ERROR, False), (seen.status, seen.running))
        again = self.driver.inspect(container)
        self.assertEqual((states.ERROR, seen.exit_code), (again.status, again.exit_code))
        return seen

    def test_no_such_command(self):
        seen = self._start(command=['/no/such/command'])
        self.assertIn('/no/such/command', seen.status_reason)
        self.assertEqual((127, 'Exited(127) (error)'), (seen.exit_code, seen.status_detail))

    def test_command_may_not_be_run(self):
        seen = self._start(command=['/etc'])
        self.assertEqual(126, seen.exit_code)

    def test_hostname_that_the_kernel_refuses(self):
        seen = self._start(hostname='x' * 65)
        self.assertIn('sethostname', seen.status_reason)

    def test_mount_source_that_went_away(self):
        source = self.create_tempfiles([('file', 'x')])[0]
        container = self.create(mounts=[driver.Mount(source, '/etc/x')])
        os.unlink(source)
        error = self.assertRaises(exception.Invalid, self.driver.start, container)
        self.assertIn(source, error.message)

    def test_stopped_one_that_cannot_start_again(self):
        """Its last run makes it Stopped in the engine's eyes; the failed start is what counts."""
        container = self.create(command=['/bin/program'])
        self.driver.put_archive(container, '/bin', engine.tar({'program': b'#!/bin/sh\n'}))
        container.status = self.driver.start(container).status
        self.engine.wait_state(container, 'exited')
        self.driver.put_archive(container, '/bin', engine.tar({'program': b''}, mode=0o644))
        seen = self.driver.start(container)
        self.assertEqual((states.ERROR, 126), (seen.status, seen.exit_code))
        self.assertIn('permission denied', seen.status_reason)


class TestPower(base.DriverTestCase):
    """The answers of a real engine to each call in each state."""

    def _stopped(self):
        container = self.run_container(command=['true'])
        self.engine.wait_state(container, 'exited')
        container.status = states.STOPPED
        return container

    def _restarting(self):
        container = self.run_container(command=['false'], restart_policy={'Name': 'always'})
        self.engine.wait_state(container, 'restarting')
        return container

    def test_stop(self):
        seen = self.driver.stop(self.run_container(), 10)
        self.assertEqual((states.STOPPED, 0), (seen.status, seen.exit_code))

    def test_stop_kills_after_its_grace(self):
        container, begun = self.run_container(command=engine.STUBBORN), time.monotonic()
        seen = self.driver.stop(container, 1)
        self.assertEqual((states.STOPPED, 137), (seen.status, seen.exit_code))
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_stop_at_once(self):
        seen = self.driver.stop(self.run_container(command=engine.STUBBORN), 0)
        self.assertEqual(137, seen.exit_code)

    def test_stop_without_a_grace_takes_the_images(self):
        seen = self.driver.stop(self.run_container(), None)
        self.assertEqual((states.STOPPED, 0), (seen.status, seen.exit_code))

    def test_stop_of_stopped(self):
        self.assertEqual(states.STOPPED, self.driver.stop(self._stopped(), 10).status)

    def test_stop_of_paused(self):
        container = self.run_container()
        self.driver.pause(container)
        self.assertEqual(states.STOPPED, self.driver.stop(container, 1).status)

    def test_stop_of_restarting(self):
        self.assertEqual(states.STOPPED, self.driver.stop(self._restarting(), 5).status)

    def test_start_of_running(self):
        self.assertEqual(states.RUNNING, self.driver.start(self.run_container()).status)

    def test_start_of_paused(self):
        container = self.run_container()
        self.driver.pause(container)
        self.assertRaises(exception.Conflict, self.driver.start, container)

    def test_start_that_ends_at_once_is_not_running_for_long(self):
        container = self.run_container(command=['sh', '-c', 'exit 7'])
        self.engine.wait_state(container, 'exited')
        self.assertEqual(7, self.driver.inspect(container).exit_code)

    def test_kill(self):
        seen = self.driver.kill(self.run_container(), None)
        self.assertEqual((states.STOPPED, 137), (seen.status, seen.exit_code))

    def test_kill_with_a_signal_that_does_not_end_it(self):
        container = self.run_container(
            command=['sh', '-c', "trap 'echo got' USR1; while :; do sleep 0.05; done"])
        self.assertEqual(states.RUNNING, self.driver.kill(container, 'SIGUSR1').status)
        engine.wait_for('the trap', lambda: 'got' in self._logs(container))

    def _logs(self, container):
        return engine.printed(self.driver, container)

    def test_signals_by_any_name(self):
        for signal in ('9', 'KILL', 'SIGKILL'):
            self.assertEqual(137, self.driver.kill(self.run_container(), signal).exit_code)
        self.assertEqual(states.RUNNING, self.driver.kill(
            self.run_container(command=engine.STUBBORN), 'term').status)

    def test_no_such_signal(self):
        container = self.run_container()
        for signal in ('0', 'SIGUSR9', '-1', '65'):
            self.assertRaises(exception.Invalid, self.driver.kill, container, signal)

    def test_kill_of_stopped(self):
        error = self.assertRaises(exception.Conflict, self.driver.kill, self._stopped(), None)
        self.assertTrue(error.message.endswith('Container is not running'), error.message)

    def test_harmless_signal_resumes_a_paused_one(self):
        container = self.run_container(command=engine.STUBBORN)
        self.driver.pause(container)
        self.driver.kill(container, 'TERM')
        engine.wait_for('it to go on', lambda: (
            self.driver.inspect(container).status == states.RUNNING))

    def test_pause_and_unpause_are_refused_in_other_states(self):
        stopped, running = self._stopped(), self.run_container()
        self.assertRaises(exception.Conflict, self.driver.pause, stopped)
        self.assertRaises(exception.Conflict, self.driver.unpause, stopped)
        self.assertRaises(exception.Conflict, self.driver.unpause, running)
        self.driver.pause(running)
        error = self.assertRaises(exception.Conflict, self.driver.pause, running)
        self.assertEqual('Container is already paused', error.message)
        self.assertEqual(states.RUNNING, self.driver.unpause(running).status)

    def test_reboot(self):
        container = self.run_container()
        before = self.engine.inspect(container)
        self.assertEqual(states.RUNNING, self.driver.reboot(container, 5).status)
        after = self.engine.inspect(container)
        self.assertEqual(before['Id'], after['Id'])
        self.assertNotEqual(before['State']['StartedAt'], after['State']['StartedAt'])

    def test_reboot_of_paused_stopped_created(self):
        paused = self.run_container()
        self.driver.pause(paused)
        for container in (paused, self._stopped(), self.create()):
            self.assertIn(self.driver.reboot(container, 1).status,
                          (states.RUNNING, states.STOPPED))
            self.assertIsNotNone(self.driver.inspect(container).started_at)

    def test_reboot_of_what_cannot_start(self):
        seen = self.driver.reboot(self.create(command=['/no/such']), 1)
        self.assertEqual((states.ERROR, 127), (seen.status, seen.exit_code))


class TestCreateOnce(base.DriverTestCase):
    def test_same_operation_adopts(self):
        container = self.create(operation='req-a')
        before = self.engine.inspect(container)['Id']
        self.create(container, operation='req-a')
        self.assertEqual(before, self.engine.inspect(container)['Id'])

    def test_same_operation_adopts_what_already_runs(self):
        container = self.run_container(operation='req-a')
        self.driver.create(driver.Workload(container, self.engine.image_id, operation='req-a'))
        self.assertTrue(self.driver.inspect(container).running)

    def test_other_operation_replaces(self):
        container = self.run_container(operation='req-a')
        before = self.engine.inspect(container)['Id']
        self.create(container, operation='req-b')
        after = self.engine.inspect(container)
        self.assertNotEqual(before, after['Id'])
        self.assertEqual('req-b', after['Config']['Labels']['zun.op'])

    def test_leftover_of_nobody_is_replaced(self):
        container = self.engine.container()
        self.engine.api.create_container_from_config({'Image': engine.IMAGE},
                                                     name=f'zun-{container.uuid}')
        self.create(container)
        self.assertEqual('req-1', self.engine.inspect(container)['Config']['Labels']['zun.op'])

    def test_race_of_two_tries(self):
        container = self.engine.container()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: self.driver.create(driver.Workload(
                container, self.engine.image_id, operation='req-a')), range(4)))
        self.assertEqual('req-a', self.driver.inspect(container).operation)

    def test_missing_image(self):
        container = self.engine.container(image='lab/nothing')
        error = self.assertRaises(exception.ImageNotFound, self.create, container,
                                  image='sha256:' + '0' * 64)
        self.assertIn('lab/nothing', error.message)


class TestDelete(base.DriverTestCase):
    def test_running_paused_created(self):
        running, paused, created = self.run_container(), self.run_container(), self.create()
        self.driver.pause(paused)
        for container in (running, paused, created):
            self.driver.delete(container.uuid)
            self.assertIsNone(self.engine.inspect(container))

    def test_of_nothing(self):
        self.driver.delete(uuidutils.generate_uuid())

    def test_many_at_once(self):
        """Each caller comes back when it is gone, though the engine lets one of them do it."""
        container = self.run_container()

        def remove(_):
            self.driver.delete(container.uuid)
            return self.engine.inspect(container)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual([None] * 8, list(pool.map(remove, range(8))))

    def test_anonymous_volume_goes_too(self):
        container = self.create(image=self.engine.image(engine.RICH_IMAGE), command=[])
        volume = self.engine.inspect(container)['Mounts'][0]['Name']
        self.assertEqual(volume, self.engine.api.inspect_volume(volume)['Name'])
        self.driver.delete(container.uuid)
        self.assertRaises(docker_errors.NotFound, self.engine.api.inspect_volume, volume)

    def test_removed_while_it_starts(self):
        container = self.create()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            start = pool.submit(self.driver.start, container)
            self.driver.delete(container.uuid)
            error = start.exception()
        self.assertTrue(error is None or isinstance(error, exception.Conflict), error)
        self.assertIsNone(self.engine.inspect(container))


class TestSetAside(base.DriverTestCase):
    def setUp(self):
        super().setUp()
        self.container = self.run_container(operation='req-a')
        self.first = self.engine.inspect(self.container)['Id']
        self.aside = f'zun-{self.container.uuid}-old-req-b'
        self.addCleanup(self.engine.remove, self.aside)

    def test_successor_takes_the_name(self):
        self.assertTrue(self.driver.set_aside(self.container.uuid, self.aside))
        self.assertNotIn(self.container.uuid, self.driver.list())
        self.create(self.container, operation='req-b')
        self.assertEqual('req-b', self.driver.list()[self.container.uuid].operation)
        self.driver.discard(self.aside)
        self.assertRaises(docker_errors.NotFound, self.engine.api.inspect_container, self.first)

    def test_restore_removes_the_successor(self):
        self.driver.set_aside(self.container.uuid, self.aside)
        self.create(self.container, operation='req-b')
        self.assertTrue(self.driver.restore(self.container.uuid, self.aside))
        found = self.engine.inspect(self.container)
        self.assertEqual((self.first, True), (found['Id'], found['State']['Running']))

    def test_restore_without_successor(self):
        self.driver.set_aside(self.container.uuid, self.aside)
        self.assertTrue(self.driver.restore(self.container.uuid, self.aside))
        self.assertEqual(self.first, self.engine.inspect(self.container)['Id'])

    def test_restore_of_nothing_keeps_what_is_there(self):
        self.assertFalse(self.driver.restore(self.container.uuid, self.aside))
        self.assertEqual(self.first, self.engine.inspect(self.container)['Id'])

    def test_set_aside_of_nothing(self):
        self.assertFalse(self.driver.set_aside(uuidutils.generate_uuid(), self.aside))

    def test_name_that_is_taken(self):
        other = self.create()
        self.assertRaises(exception.Conflict, self.driver.set_aside, other.uuid,
                          f'zun-{self.container.uuid}')

    def test_discard_of_nothing(self):
        self.driver.discard(self.aside)
