# SPDX-License-Identifier: Apache-2.0
import threading

from zun.common import context
from zun.common import exception
from zun.common import pools
from zun.scheduler import dispatch
from zun.tests import base

UUID = '11111111-1111-4111-8111-111111111111'


class Recorder:
    """Stands for zun-scheduler, or for the manager of this process."""

    def __init__(self, error=None):
        self.calls = []
        self.called = threading.Event()
        self.reaped = threading.Event()
        self.error = error

    def schedule_container(self, ctx, uuid, generation):
        self.calls.append((uuid, generation))
        self.called.set()
        if self.error:
            raise self.error

    def reap(self):
        self.reaped.set()


class DispatcherTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.pool = pools.Pool('test', 1, 10)
        self.addCleanup(self.pool.shutdown, 1)
        self.made = []

    def _dispatcher(self, mode, remote=None):
        self.local = Recorder()

        def factory():
            self.made.append(1)
            return self.local
        dispatcher = dispatch.Dispatcher(mode, remote or Recorder(), factory, self.pool)
        self.addCleanup(dispatcher.stop)
        return dispatcher

    def test_service_casts_and_makes_no_manager(self):
        remote = Recorder()
        dispatcher = self._dispatcher('service', remote)
        dispatcher.start()
        dispatcher.schedule_container(context.get_admin_context(), UUID, 3)
        self.assertEqual(([(UUID, 3)], []), (remote.calls, self.made))

    def test_local_runs_in_the_pool_with_one_manager(self):
        remote = Recorder()
        dispatcher = self._dispatcher('local', remote)
        for generation in range(3):
            dispatcher.schedule_container(context.get_admin_context(), UUID, generation)
        self.assertTrue(self.pool.wait_idle(5))
        self.assertEqual([(UUID, 0), (UUID, 1), (UUID, 2)], self.local.calls)
        self.assertEqual(([], [1]), (remote.calls, self.made))

    def test_local_reaps(self):
        dispatcher = self._dispatcher('local')
        dispatcher.start()
        self.assertTrue(self.local.reaped.wait(5))

    def test_reaping_can_be_switched_off(self):
        self.config(group='scheduler', reap_interval=0)
        dispatcher = self._dispatcher('local')
        dispatcher.start()
        self.assertFalse(self.local.reaped.wait(0.1))

    def test_a_bus_that_is_down_leaves_the_container_to_the_reaper(self):
        remote = Recorder(exception.BusUnavailable(reason='x'))
        self._dispatcher('service', remote).schedule_container(
            context.get_admin_context(), UUID, 0)
        self.assertEqual([(UUID, 0)], remote.calls)

    def test_a_full_pool_leaves_the_container_to_the_reaper(self):
        dispatcher = self._dispatcher('local')
        self.pool.shutdown(1)
        dispatcher.schedule_container(context.get_admin_context(), UUID, 0)
        self.assertEqual([], self.local.calls)
