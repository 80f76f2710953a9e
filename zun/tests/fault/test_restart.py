# SPDX-License-Identifier: Apache-2.0
"""The engine itself is stopped and started, with and without live-restore."""

import signal
import types

from zun.common import states
from zun.tests.fault import dockerd
from zun.tests.fault import harness
from zun.tests.fault import test_engine
from zun.tests.functional import engine as real

_ALWAYS = {'Name': 'always'}


class RestartTestCase(test_engine.EngineTestCase):
    """The agent in this process, on an engine of its own."""

    live_restore = False
    timeout = 10

    def setUp(self):
        self.own = self.useFixture(dockerd.Dockerd(self.live_restore))
        super().setUp()
        self.docker = types.SimpleNamespace(
            api=self.own.api, remove=lambda name: None,
            inspect=lambda row: self.own.api.inspect_container(f'zun-{row.uuid}'))

    def serve(self, url):
        super().serve(self.own.url)

    def _remove_networks(self):
        """They go with the engine."""

    def away(self, *containers, sign=signal.SIGTERM):
        """The engine goes; the host is not reported up, and nothing changes meanwhile.

        Without live-restore the engine itself ends the containers, and tells.
        """
        before = {container.uuid: self.row(container).status for container in containers}
        self.own.stop(sign)
        real.wait_for('the heart to stop', self.node_is_silent, 20)
        for container in containers:
            seen = {before[container.uuid]} | (set() if self.live_restore else {states.STOPPED})
            self.assertIn(self.row(container).status, seen)
            self.assertIsNone(self.row(container).task_state)

    def node_is_silent(self):
        before = self.beats()
        try:
            real.wait_for('another heartbeat', lambda: self.beats() > before, 2.5)
        except AssertionError:
            return True
        return False

    def come_back(self):
        before = self.beats()
        self.own.start()
        real.wait_for('the heartbeat', lambda: self.beats() > before, 40)

    def pid(self, container):
        return self.docker.inspect(container)['State']['Pid']


class LiveRestoreTest(RestartTestCase):
    live_restore = True

    @harness.long
    def test_containers_run_on(self):
        container, doomed = self.running(), self.running()
        pid = self.pid(container)
        self.away(container, doomed)
        self.send(doomed, 'delete', states.DELETING, force=False, stop=False)
        self.send(container, 'stop', timeout=1)
        real.wait_for('the stop to fail', lambda: self.row(container).status_reason, 30)
        self.assert_action(container, 'stop', 'Error')
        self.assertEqual(states.RUNNING, self.row(container).status)
        self.come_back()
        self.wait_for(doomed, None, 60)
        self.assert_gone(doomed)
        self.assertEqual(pid, self.pid(container))
        self.assert_owned(container, states.RUNNING, self.row(container).status_reason)
        self.note('delete', 'engine restarted, live-restore', 'gone')
        self.note('stop', 'engine restarted, live-restore', 'Running, with its reason')
        self.send(container, 'stop', timeout=1)
        self.wait_for(container, states.STOPPED)

    @harness.long
    def test_killed(self):
        container = self.running()
        pid = self.pid(container)
        self.away(container, sign=signal.SIGKILL)
        self.come_back()
        self.wait_for(container, states.RUNNING)
        self.assertEqual(pid, self.pid(container))
        self.assert_owned(container, states.RUNNING)


class PlainRestartTest(RestartTestCase):
    @harness.long
    def test_containers_end_or_start_again(self):
        plain, always = self.running(), self.running(restart_policy=_ALWAYS)
        doomed, waiting = self.running(), self.placed()
        self.away(plain, always, doomed)
        self.send(doomed, 'delete', states.DELETING, force=False, stop=False)
        self.client.container_create(self.context, test_engine.base.HOST, waiting.uuid, 0)
        real.wait_for('the create to be handed back', lambda: self.scheduler.asked, 60)
        self.come_back()
        row = self.wait_for(plain, states.STOPPED, 30)
        self.assertIn(row.exit_code, (0, 137))
        self.wait_for(always, states.RUNNING, 30)
        self.assert_owned(always, states.RUNNING)
        self.wait_for(doomed, None, 60)
        self.assert_gone(doomed)
        real.wait_for('nothing of the create', lambda: not self.behind(waiting))
        self.note('none', 'engine restarted', 'Stopped; Running with restart policy always')
        self.note('delete', 'engine restarted', 'gone')
        self.note('create', 'engine restarted', 'handed back to the scheduler')
