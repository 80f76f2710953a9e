# SPDX-License-Identifier: Apache-2.0
"""What runs after the engine was restarted or killed: restart policies, and what the agent adds."""

import signal

import docker
import fixtures

from zun.common import states
from zun.compute import heal
from zun.compute import sync
from zun.tests.functional import engine as real
from zun.tests.functional import private_engine
from zun.tests.functional.compute import base
from zun.tests.functional.compute import capsule_base


class RestartTest(capsule_base.CapsuleTestCase):
    driver = 'docker'

    def setUp(self):
        self.private = self.useFixture(private_engine.PrivateEngine())
        self.useFixture(fixtures.MonkeyPatch('zun.tests.functional.engine.URL', self.private.url))
        super().setUp()
        self.docker.remove = lambda name: None  # all of it goes with the engine
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        self.useFixture(base.Quick(sync, '_LONGEST_PAUSE', 0.5))
        follower = sync.Follower(self.node)
        follower.start()
        self.addCleanup(follower.stop)

    def _remove_networks(self):
        """They go with the engine."""

    def placed(self, *args, **columns):
        policy = columns.pop('policy', 'no')
        return super().placed(*args, networks=[], restart_policy={
            'Name': policy, 'MaximumRetryCount': '0'}, **columns)

    def restart_engine(self, number=signal.SIGTERM):
        self.private.stop(number)
        self.private.start()
        self.docker.api = self.private.client()

    def wait_action(self, container, *action):
        real.wait_for(f'{action}', lambda: (*action, None, True) in self.actions(container))
        return self.settled(container)

    def runs(self, container):
        try:
            return self.docker.inspect(container)['State']['Running']
        except docker.errors.APIError:
            return None

    def wait_status(self, container, status):
        real.wait_for(status, lambda: self.row(container).status == status)
        return self.settled(container)

    def test_always_that_its_user_stopped(self):
        container, other = (self.created(policy='always') for _ in range(2))
        self.run_operation(container, 'stop', timeout=5)
        started = self.docker.inspect(container)['State']['StartedAt']
        self.restart_engine()
        real.wait_for('the other one', lambda: self.runs(other))
        state = self.docker.inspect(container)['State']
        self.assertEqual((False, started), (state['Running'], state['StartedAt']))

    def test_always_of_an_engine_that_starts_what_its_user_stopped(self):
        """The policy of containers from before."""
        container = self.created(policy='always')
        self.docker.api.update_container(container.container_id,
                                         restart_policy={'Name': 'always'})
        self.run_operation(container, 'stop', timeout=5)
        self.restart_engine()
        real.wait_for('the second stop', lambda: [a[0] for a in self.actions(container)].count(
            'stop') == 2 and self.actions(container)[-1][2])
        self.assertEqual(states.STOPPED, self.settled(container).status)
        self.assertFalse(self.runs(container))
        self.assert_closed(container)

    def test_always_that_ran_runs(self):
        container = self.created(policy='always')
        self.restart_engine()
        real.wait_for('the container', lambda: self.runs(container))
        self.wait_status(container, states.RUNNING)
        self.assertEqual(['create'], [a[0] for a in self.actions(container)])

    def test_what_ran_before_a_crash(self):
        always, container, stopped = (
            self.created(policy=policy)
            for policy in ('always', 'unless-stopped', 'unless-stopped'))
        self.run_operation(stopped, 'stop', timeout=5)
        self.restart_engine(signal.SIGKILL)
        for each in (always, container):
            real.wait_for('the container', lambda each=each: self.runs(each))
            self.wait_status(each, states.RUNNING)
        self.assertFalse(self.runs(stopped))
        self.assertEqual(states.STOPPED, self.row(stopped).status)

    def test_without_a_policy_after_a_crash(self):
        container = self.created()
        self.restart_engine(signal.SIGKILL)
        self.wait_status(container, states.STOPPED)
        self.assertEqual(['create'], [a[0] for a in self.actions(container)])

    def test_resume_container_state(self):
        self.config(group='compute', resume_container_state=True)
        container = self.created()
        self.restart_engine(signal.SIGKILL)
        self.wait_action(container, 'start')
        self.assertEqual((states.RUNNING, True),
                         (self.row(container).status, self.runs(container)))

    def test_capsule(self):
        one = self.member(policy='always')
        capsule = self.created_capsule(one, policy='always')
        self.restart_engine()
        self.wait_action(capsule, 'rebuild')
        self.wait_status(capsule, states.RUNNING)
        self.assertTrue(self.runs(one))
        self.assert_closed(capsule)
