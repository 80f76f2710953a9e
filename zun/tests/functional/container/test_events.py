# SPDX-License-Identifier: Apache-2.0
"""The event stream of a real engine."""

import contextlib
import queue
import threading
import time

from zun.tests.functional import engine
from zun.tests.functional.container import base


class TestEvents(base.DriverTestCase):
    def setUp(self):
        super().setUp()
        self.arrived = queue.Queue()
        self.context = self.driver.events(time.time())
        ready = threading.Event()

        def follow():
            with self.context as events:
                ready.set()
                for event in events:
                    self.arrived.put((event, time.time()))
            self.arrived.put(None)
        self.reader = threading.Thread(target=follow, daemon=True)
        self.reader.start()
        self.addCleanup(self._leave)
        self.assertTrue(ready.wait(10))

    def _leave(self):
        self.context.__exit__(None, None, None)
        self.reader.join(10)
        self.assertFalse(self.reader.is_alive())

    def _next_of(self, container, timeout=10):
        """The next event of a container, and how late it came. Others may use the engine too."""
        end = time.monotonic() + timeout
        while True:
            event, at = self.arrived.get(timeout=max(end - time.monotonic(), 0))
            if event.uuid == container.uuid:
                return event, at - event.time

    def _next(self, container, kind):
        """Delay of the next event of a container and kind."""
        while True:
            event, late = self._next_of(container)
            if event.kind == kind:
                return late

    def _drain(self, container):
        with contextlib.suppress(queue.Empty):
            while True:
                self._next_of(container, timeout=0.3)

    def test_each_change_is_told_within_a_second(self):
        container = self.create()
        self.assertLess(self._next(container, 'changed'), 1)
        for change in (self.driver.start, self.driver.pause, self.driver.unpause,
                       lambda each: self.driver.update(each, 0.25, 64),
                       lambda each: self.driver.kill(each, None)):
            change(container)
            self.assertLess(self._next(container, 'changed'), 1)
        self.driver.delete(container.uuid)
        self.assertLess(self._next(container, 'gone'), 1)

    def test_end_by_itself(self):
        container = self.create(command=['sh', '-c', 'exit 3'])
        self._drain(container)
        self.driver.start(container)
        self._next(container, 'changed')
        self._next(container, 'changed')
        self.assertEqual(3, self.driver.inspect(container).exit_code)

    def test_health(self):
        container = self.run_container(
            healthcheck={'test': 'exit 1', 'interval': 1, 'retries': 1, 'timeout': 1})
        engine.wait_for('an event of its health', lambda: (
            self._next(container, 'changed') is not None
            and self.driver.inspect(container).health == 'unhealthy'))

    def test_commands_inside_are_no_events(self):
        container = self.run_container()
        self._drain(container)
        self.driver.execute(container, 'true')
        self.driver.kill(container, 'HUP')
        self.driver.pause(container)
        self._next(container, 'changed')
        self.assertRaises(queue.Empty, self._next_of, container, 0.3)

    def test_what_was_set_aside_is_not_its_successor(self):
        container = self.create()
        aside = f'zun-{container.uuid}-old'
        self.addCleanup(self.engine.remove, aside)
        self.driver.set_aside(container.uuid, aside)
        self.create(container, operation='req-2')
        self._drain(container)
        self.driver.discard(aside)
        self.driver.start(container)
        self.assertEqual('changed', self._next_of(container)[0].kind)

    def test_foreign_containers_are_left_out(self):
        foreign, container = self.engine.container(), self.engine.container()
        name = f'my-zun-{foreign.uuid}'
        self.addCleanup(self.engine.remove, name)
        self.engine.api.create_container_from_config(
            {'Image': engine.IMAGE, 'Labels': {'zun.uuid': foreign.uuid}}, name=name)
        self.create(container)
        seen = set()
        while container.uuid not in seen:
            seen.add(self.arrived.get(timeout=10)[0].uuid)
        self.assertNotIn(foreign.uuid, seen)

    def test_since_gives_what_was_missed(self):
        begun = time.time()
        container = self.create()
        self.driver.delete(container.uuid)
        with self.driver.events(begun) as events:
            kinds = []
            for event in events:
                if event.uuid == container.uuid:
                    kinds.append(event.kind)
                if 'gone' in kinds:
                    break
        self.assertEqual(['changed', 'gone'], kinds)

    def test_leaving_from_another_thread_ends_it(self):
        begun = time.monotonic()
        self.context.__exit__(None, None, None)
        self.assertIsNone(self.arrived.get(timeout=5))
        self.assertLess(time.monotonic() - begun, 2)
        self.reader.join(5)
        self.assertFalse(self.reader.is_alive())
