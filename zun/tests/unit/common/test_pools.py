# SPDX-License-Identifier: Apache-2.0

import logging
import sys
import threading
import time
import weakref

import fixtures

from zun.common import exception
from zun.common import pools
from zun.tests import base

LONG = 30


class _Gate:
    """Work that begins when it is called and ends when the test says."""

    def __init__(self):
        self.begun = threading.Event()
        self.end = threading.Event()

    def __call__(self, *_args):
        self.begun.set()
        self.end.wait(LONG)


class PoolTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.gates = []
        self.addCleanup(lambda: [gate.end.set() for gate in self.gates])

    def gate(self):
        self.gates.append(_Gate())
        return self.gates[-1]

    def pool(self, kind=pools.KeyedPool, size=4, backlog=1000):
        pool = kind('test-pool', size, backlog)
        self.addCleanup(pool.shutdown, 0)
        return pool

    def wait(self, event):
        self.assertTrue(event.wait(LONG))


class KeyedPoolTest(PoolTestCase):
    def test_one_key_runs_in_order(self):
        pool, seen = self.pool(), []
        for number in range(500):
            pool.submit('a', seen.append, number)
        self.assertTrue(pool.wait_idle(LONG))
        self.assertEqual(list(range(500)), seen)
        self.assertEqual(0, pool.depth)

    def test_one_key_runs_one_at_a_time(self):
        pool, inside, overlaps = self.pool(size=8, backlog=5000), {}, []

        def work(key):
            inside[key] = inside.get(key, 0) + 1
            if inside[key] > 1:
                overlaps.append(key)
            time.sleep(0)
            inside[key] -= 1

        def submit():
            for key in 'abcab' * 40:
                pool.submit(key, work, key)

        submitters = [threading.Thread(target=submit) for _ in range(4)]
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        sys.setswitchinterval(1e-5)
        for thread in submitters:
            thread.start()
        for thread in submitters:
            thread.join(LONG)
        self.assertTrue(pool.wait_idle(LONG))
        self.assertEqual([], overlaps)
        self.assertEqual(0, pool.depth)

    def test_keys_run_beside_each_other(self):
        pool, gates = self.pool(size=3), [self.gate() for _ in range(3)]
        for number, gate in enumerate(gates):
            pool.submit(str(number), gate)
        for gate in gates:
            self.wait(gate.begun)

    def test_no_more_threads_than_size(self):
        pool, gates = self.pool(size=2), [self.gate() for _ in range(3)]
        for number, gate in enumerate(gates):
            pool.submit(str(number), gate)
        self.wait(gates[0].begun)
        self.wait(gates[1].begun)
        self.assertFalse(gates[2].begun.is_set())
        gates[0].end.set()
        self.wait(gates[2].begun)

    def test_threads_are_used_again(self):
        pool, seen = self.pool(size=8), set()
        for number in range(20):
            pool.submit(str(number), lambda: seen.add(threading.current_thread().name))
            self.assertTrue(pool.wait_idle(LONG))
        # A worker may still be on its way back to waiting when the next work arrives.
        self.assertLess(len(seen), 8)
        self.assertTrue(all(name.startswith('test-pool-') for name in seen), seen)

    def test_keys_take_turns(self):
        pool, gate, seen = self.pool(size=1), self.gate(), []
        pool.submit('a', gate)
        self.wait(gate.begun)
        for number in range(3):
            pool.submit('a', seen.append, f'a{number}')
            pool.submit('b', seen.append, f'b{number}')
        gate.end.set()
        self.assertTrue(pool.wait_idle(LONG))
        self.assertEqual(['b0', 'a0', 'b1', 'a1', 'b2', 'a2'], seen)

    def test_error_is_logged_and_the_key_goes_on(self):
        pool, done = self.pool(size=1), threading.Event()

        def fail():
            raise ValueError('broken work')

        pool.submit('a', fail)
        pool.submit('a', sys.exit, 3)
        pool.submit('a', done.set)
        self.wait(done)
        self.assertTrue(pool.wait_idle(LONG))
        self.assertEqual(0, pool.depth)
        self.assertIn('broken work', self.log.output)
        self.assertIn('SystemExit: 3', self.log.output)

    def test_full(self):
        pool, gate = self.pool(size=1, backlog=2), self.gate()
        pool.submit('a', gate)
        pool.submit('a', gate)
        pool.submit('b', gate)
        self.assertEqual(3, pool.depth)
        error = self.assertRaises(exception.PoolFull, pool.submit, 'c', gate)
        self.assertIn('test-pool', error.message)
        self.assertFalse(pool.busy('c'))
        gate.end.set()
        self.assertTrue(pool.wait_idle(LONG))
        pool.submit('c', gate)

    def test_one_key_leaves_room_for_others(self):
        pool, gate = pools.KeyedPool('test-pool', 1, 100, per_key=2), self.gate()
        self.addCleanup(pool.shutdown, 0)
        for _ in range(3):
            pool.submit('a', gate)
            self.wait(gate.begun)
        self.assertRaises(exception.PoolFull, pool.submit, 'a', gate)
        pool.submit('b', gate)
        gate.end.set()
        self.assertTrue(pool.wait_idle(LONG))
        pool.submit('a', gate)

    def test_thread_that_cannot_start_leaves_no_trace(self):
        pool = self.pool()
        with fixtures.MonkeyPatch('threading.Thread.start', self._no_thread):
            self.assertRaises(RuntimeError, pool.submit, 'a', int)
        self.assertEqual(0, pool.depth)
        self.assertFalse(pool.busy('a'))
        pool.submit('a', int)
        self.assertTrue(pool.wait_idle(LONG))

    @staticmethod
    def _no_thread(_thread):
        raise RuntimeError("can't start new thread")

    def test_busy(self):
        pool, gate = self.pool(), self.gate()
        self.assertFalse(pool.busy('a'))
        pool.submit('a', gate)
        self.assertTrue(pool.busy('a'))
        self.assertFalse(pool.busy('b'))
        gate.end.set()
        self.assertTrue(pool.wait_idle(LONG))
        self.assertFalse(pool.busy('a'))

    def test_work_that_submits_work_of_its_key(self):
        pool, done = self.pool(size=1), threading.Event()
        pool.submit('a', pool.submit, 'a', done.set)
        self.wait(done)

    def test_idle_worker_keeps_nothing_alive(self):
        pool, subject = self.pool(size=1), _Gate()
        subject.end.set()
        reference = weakref.ref(subject)
        pool.submit('a', subject)
        self.assertTrue(pool.wait_idle(LONG))
        del subject
        # The same worker takes this up only after it has let go of the earlier work.
        pool.submit('a', int)
        self.assertTrue(pool.wait_idle(LONG))
        self.assertIsNone(reference())

    def test_shutdown_drops_what_has_not_begun(self):
        pool, gate, seen = self.pool(size=1), self.gate(), []
        pool.submit('a', gate)
        self.wait(gate.begun)
        pool.submit('a', seen.append, 1)
        pool.submit('b', seen.append, 2)
        closing = threading.Thread(target=pool.shutdown, args=(LONG,))
        closing.start()
        deadline = time.monotonic() + LONG
        while pool.depth > 1 and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertRaises(exception.PoolFull, pool.submit, 'c', int)
        self.assertFalse(pool.busy('b'))
        gate.end.set()
        closing.join(LONG)
        self.assertFalse(closing.is_alive())
        self.assertEqual([], seen)
        self.assertEqual(0, pool.depth)

    def test_shutdown_of_an_idle_pool_ends_its_threads(self):
        pool = self.pool()
        pool.submit('a', int)
        self.assertTrue(pool.wait_idle(LONG))
        self.assertTrue(pool.shutdown(LONG))
        self.assertTrue(pool.shutdown(0))
        for thread in threading.enumerate():
            if thread.name.startswith('test-pool-'):
                thread.join(LONG)
                self.assertFalse(thread.is_alive())

    def test_shutdown_gives_up_after_the_grace(self):
        pool, gate = self.pool(), self.gate()
        pool.submit('a', gate)
        self.wait(gate.begun)
        start = time.monotonic()
        self.assertFalse(pool.shutdown(0.05))
        self.assertLess(time.monotonic() - start, 5)

    def test_wait_idle_gives_up(self):
        pool, gate = self.pool(), self.gate()
        pool.submit('a', gate)
        self.assertFalse(pool.wait_idle(0.01))


class PoolTest(PoolTestCase):
    def test_runs_beside_each_other(self):
        pool, gates = self.pool(pools.Pool, size=3), [self.gate() for _ in range(3)]
        for gate in gates:
            pool.run(gate)
        for gate in gates:
            self.wait(gate.begun)

    def test_full(self):
        pool, gate = self.pool(pools.Pool, size=1, backlog=1), self.gate()
        pool.run(gate)
        pool.run(gate)
        self.assertRaises(exception.PoolFull, pool.run, gate)


class PeriodicTest(PoolTestCase):
    def periodic(self, function, interval=lambda: 0.01):
        periodic = pools.Periodic('test-periodic', interval, function)
        self.addCleanup(periodic.stop, LONG)
        return periodic

    def test_runs_again_and_again_despite_errors(self):
        enough = threading.Event()
        calls = []

        def work():
            calls.append(threading.current_thread().name)
            if len(calls) == 3:
                enough.set()
            raise ValueError('bad turn')

        self.periodic(work).start()
        self.wait(enough)
        self.assertEqual({'test-periodic'}, set(calls))
        self.assertIn('bad turn', self.log.output)

    def test_wake_during_a_run_runs_once_more(self):
        gate, again = self.gate(), threading.Event()

        def work():
            if gate.begun.is_set():
                again.set()
            gate()

        periodic = self.periodic(work, interval=lambda: 10 * LONG)
        periodic.start()
        self.wait(gate.begun)
        periodic.wake()
        gate.end.set()
        self.wait(again)

    def test_stop_ends_the_pause(self):
        ran = threading.Event()
        periodic = self.periodic(ran.set, interval=lambda: 10 * LONG)
        periodic.start()
        self.wait(ran)
        periodic.stop(LONG)
        self.assertNotIn('test-periodic', [thread.name for thread in threading.enumerate()])

    def test_stop_from_within(self):
        stopped = threading.Event()

        def work():
            periodic.stop()
            stopped.set()

        periodic = self.periodic(work)
        periodic.start()
        self.wait(stopped)

    def test_stop_without_start(self):
        self.periodic(int).stop()

    def test_no_interval_is_no_busy_loop(self):
        calls, enough = [], threading.Event()

        def work():
            calls.append(time.monotonic())
            if len(calls) == 4:
                enough.set()

        self.periodic(work, interval=lambda: 0).start()
        self.wait(enough)
        self.assertGreaterEqual(calls[3] - calls[0], 0.03)


class BackoffTest(base.TestCase):
    def test_doubles_up_to_the_most(self):
        for attempt, full in ((0, 1), (1, 2), (2, 4), (5, 30), (10 ** 6, 30)):
            for _ in range(20):
                pause = pools.backoff(attempt, 1.0, 30.0)
                self.assertTrue(full / 2 <= pause <= full, (attempt, pause))
