# SPDX-License-Identifier: Apache-2.0
"""What every container driver does alike: run on the engine in memory, and on real ones."""

import io
import threading
import time

from oslo_utils import uuidutils

from zun.common import exception
from zun.common import states
from zun.container import driver


class DriverContract:
    """Tests of a TestCase that has a ``driver``.

    ``workload(operation, **fields)`` describes a container that runs until it is told to end.
    """

    def made(self, **fields):
        workload = self.workload('req-1', **fields)
        self.driver.create(workload)
        workload.container.status = states.CREATED
        return workload.container

    def started(self, **fields):
        container = self.made(**fields)
        container.status = self.driver.start(container).status
        return container

    def test_life(self):
        workload = self.workload('req-1')
        container = workload.container
        self.driver.create(workload)
        container.status = states.CREATING
        seen = self.driver.inspect(container)
        self.assertEqual((container.uuid, states.CREATED, False, 'req-1'),
                         (seen.uuid, seen.status, seen.running, seen.operation))
        container.status = states.CREATED
        for change, status, running in (
                (self.driver.start, states.RUNNING, True),
                (self.driver.pause, states.PAUSED, True),
                (self.driver.unpause, states.RUNNING, True),
                (lambda each: self.driver.reboot(each, 5), states.RUNNING, True),
                (lambda each: self.driver.stop(each, 5), states.STOPPED, False),
                (self.driver.start, states.RUNNING, True),
                (lambda each: self.driver.kill(each, None), states.STOPPED, False)):
            seen = change(container)
            self.assertEqual((status, running), (seen.status, seen.running))
            self.assertEqual((status, running), (lambda found: (found.status, found.running))(
                self.driver.inspect(container)))
            listed = self.driver.list()[container.uuid]
            self.assertEqual((status, running, seen.engine_id),
                             (listed.status, listed.running, listed.engine_id))
        self.assertEqual(137, seen.exit_code)
        self.driver.delete(container.uuid)
        self.assertNotIn(container.uuid, self.driver.list())
        self.assertRaises(exception.EngineGone, self.driver.inspect, container)
        self.driver.delete(container.uuid)

    def test_states_refuse(self):
        container = self.made()
        for call, *args in (
                (self.driver.pause,), (self.driver.unpause,), (self.driver.kill, None),
                (self.driver.execute, 'true'), (self.driver.top, None), (self.driver.stats,)):
            self.assertRaises(exception.Conflict, call, container, *args)
        self.driver.start(container)
        self.assertRaises(exception.Conflict, self.driver.unpause, container)
        self.driver.pause(container)
        for call, *args in ((self.driver.pause,), (self.driver.start,),
                            (self.driver.execute, 'true')):
            self.assertRaises(exception.Conflict, call, container, *args)

    def test_start_and_stop_twice_is_success(self):
        container = self.started()
        self.assertEqual(states.RUNNING, self.driver.start(container).status)
        for _ in range(2):
            self.assertEqual(states.STOPPED, self.driver.stop(container, 5).status)

    def test_harmless_signal(self):
        container = self.started()
        self.assertTrue(self.driver.kill(container, 'SIGWINCH').running)

    def test_adoption(self):
        workload = self.workload('req-1')
        other = driver.Workload(workload.container, workload.image, operation='req-2')
        first, again, anew = (self._engine_id(each) for each in (workload, workload, other))
        self.assertEqual(first, again)
        self.assertNotEqual(first, anew)

    def _engine_id(self, workload):
        self.driver.create(workload)
        return self.driver.inspect(workload.container).engine_id

    def test_set_aside(self):
        container = self.started()
        aside = f'zun-{container.uuid}-old-1'
        self.addCleanup(self.driver.discard, aside)
        first = self.driver.inspect(container).engine_id
        self.assertFalse(self.driver.set_aside(uuidutils.generate_uuid(), aside))
        self.assertFalse(self.driver.restore(container.uuid, aside))
        self.assertTrue(self.driver.set_aside(container.uuid, aside))
        self.assertNotIn(container.uuid, self.driver.list())
        self.driver.create(self.workload('req-2', uuid=container.uuid))
        self.assertNotEqual(first, self.driver.list()[container.uuid].engine_id)
        self.assertTrue(self.driver.restore(container.uuid, aside))
        found = self.driver.inspect(container)
        self.assertEqual((first, True), (found.engine_id, found.running))
        self.driver.discard(aside)
        self.assertEqual(first, self.driver.inspect(container).engine_id)

    def test_update(self):
        container = self.started()
        self.assertTrue(self.driver.update(container, 0.25, 96).running)
        self.assertEqual(96.0, self.driver.stats(container)['MEM LIMIT(MiB)'])

    def test_inside(self):
        container = self.started()
        self.assertEqual(0, self.driver.execute(container, 'true')[1])
        self.assertIn('PID', self.driver.top(container, None)['Titles'])
        self.driver.resize(container, 20, 80)
        into = io.BytesIO()
        self.driver.logs(container, True, True, False, None, None, into)
        self.assertEqual(b'', into.getvalue())
        self.assertRaises(exception.NotFound, self.driver.get_archive, container, '/no/such',
                          io.BytesIO())

    def test_events(self):
        begun = time.time()
        container = self.made()
        context, arrived, done = self.driver.events(begun), [], threading.Event()

        def follow():
            with context as events:
                for event in events:
                    if event.uuid == container.uuid:
                        arrived.append(event.kind)
                    if 'gone' in arrived:
                        done.set()
        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        self.driver.start(container)
        self.driver.delete(container.uuid)
        self.assertTrue(done.wait(10))
        context.__exit__(None, None, None)
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertEqual(['changed', 'gone'], [arrived[0], arrived[-1]])
        self.assertGreaterEqual(arrived.count('changed'), 2)
        self.assertEqual(1, arrived.count('gone'))

    def test_host(self):
        before = self.driver.host_info()
        self.started()
        after = self.driver.host_info()
        self.assertGreater(after.running_containers, 0)
        self.assertEqual((before.cpus, before.memory, before.disk),
                         (after.cpus, after.memory, after.disk))

    def test_image_that_is_not_there(self):
        self.assertIsNone(self.driver.find_image('zun-test/nothing:latest'))
        self.assertRaises(exception.ImageNotFound, self.driver.image_info,
                          'zun-test/nothing:latest')
        self.driver.remove_image('zun-test/nothing:latest')
