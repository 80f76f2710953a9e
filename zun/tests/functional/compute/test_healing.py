# SPDX-License-Identifier: Apache-2.0
"""auto_heal and health on a real engine."""

from oslo_messaging.notify import _impl_test

from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.compute import sync
from zun.rpc import notifications
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

_DOWN = exception.EngineUnavailable(error_msg='connection refused')
#: Well until somebody makes it ill, and well again after a restart.
_CHECK = {'test': 'test ! -e /dev/shm/ill', 'interval': 1, 'retries': 1, 'timeout': 1}


class HealthTest(base.NodeTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.1))
        follower = sync.Follower(self.node)
        follower.start()
        self.addCleanup(follower.stop)

    def tearDown(self):
        self.node.timer.stop()  # nothing is repaired any more
        self.node.lifecycle.shutdown(5)
        super().tearDown()

    def make_ill(self, container):
        made = self.docker.api.exec_create(f'zun-{container.uuid}', ['touch', '/dev/shm/ill'])
        self.docker.api.exec_start(made['Id'])

    def test_unhealthy_is_shown(self):
        container = self.created(healthcheck=_CHECK)
        real.wait_for('health', lambda: self.row(container).health == 'healthy')
        self.make_ill(container)
        found = real.wait_for('illness', lambda: (lambda row: row if row.health == 'unhealthy'
                                                  else None)(self.row(container)))
        self.assertRegex(found.status_detail, r'^Up \d+ .* \(unhealthy\)$')
        self.assertEqual(states.RUNNING, found.status)
        self.assertEqual(['create'], [a[0] for a in self.actions(container)])

    def test_unhealthy_is_restarted_with_auto_heal(self):
        container = self.created(healthcheck=_CHECK, auto_heal=True)
        self.make_ill(container)
        real.wait_for('the reboot', lambda: ('reboot', None, True) in self.actions(container))
        found = real.wait_for('health', lambda: (lambda row: row if row.health == 'healthy'
                                                 else None)(self.row(container)))
        self.assertEqual(states.RUNNING, found.status)
        self.assertNotIn('unhealthy', found.status_detail)
        self.assert_closed(container)

    def test_vanished_is_made_again_with_auto_heal(self):
        container = self.created(auto_heal=True)
        self.docker.remove(f'zun-{container.uuid}')
        real.wait_for('the rebuild', lambda: ('rebuild', None, True) in self.actions(container))
        found = self.settled(container)
        self.assertEqual((states.RUNNING, container.addresses), (found.status, found.addresses))
        self.assertTrue(self.docker.inspect(container)['State']['Running'])

    def test_out_of_memory(self):
        container = self.created(
            memory='8', command=['sh', '-c', 'x=xxxxxxxx; while :; do x=$x$x; done'])
        real.wait_for('its end', lambda: self.row(container).status == states.STOPPED, 60)
        found = self.settled(container)
        if not self.docker.inspect(container)['State']['OOMKilled']:
            self.skipTest('the kernel killed it without telling the engine why')
        self.assertEqual((137, 'The container ran out of memory.'),
                         (found.exit_code, found.status_reason))
        self.assertTrue(found.status_detail.endswith('(out of memory)'))


class RepeatTest(base.NodeTestCase):
    """On an engine in memory, as a real one does not fail when it should."""

    def test_rebuild_that_fails_is_repeated(self):
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        container = self.created(auto_heal=True)
        self.engine.fail('create', _DOWN)
        self.engine.vanish(container.uuid)
        self.observe(container)
        real.wait_for('a failure', lambda: ('rebuild', 'Error', True) in self.actions(container))
        self.assertEqual(states.ERROR, self.settled(container).status)
        sync.reconcile(self.node)
        real.wait_for('the rebuild', lambda: ('rebuild', None, True) in self.actions(container))
        self.assertEqual(states.RUNNING, self.settled(container).status)
        self.assertEqual(2, len(self.node.repairs[container.uuid]))

    def test_others_are_told(self):
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.0))
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        self.config(group='oslo_messaging_notifications', driver=['test'])
        notifications._notifier.cache_clear()
        self.addCleanup(notifications._notifier.cache_clear)
        _impl_test.reset()
        container = self.created(auto_heal=True)
        self.engine.set_health(container.uuid, 'unhealthy')
        self.observe(container)
        real.wait_for('the reboot', lambda: ('reboot', None, True) in self.actions(container))
        self.settled(container)
        self.engine.vanish(container.uuid)
        self.observe(container)
        real.wait_for('the rebuild', lambda: ('rebuild', None, True) in self.actions(container))
        common = {'uuid': container.uuid, 'project_id': 'project', 'user_id': 'user'}
        self.assertEqual(
            [(f'zun-compute:{base.HOST}', 'container.heal',
              {**common, 'operation': 'reboot', 'reason': heal.ILL}),
             (f'zun-compute:{base.HOST}', 'container.heal',
              {**common, 'operation': 'rebuild', 'reason': heal.MISSING})],
            [(message['publisher_id'], message['event_type'], message['payload'])
             for _, message, *_ in _impl_test.NOTIFICATIONS])

    def test_what_did_not_run_does_not_run_afterwards(self):
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        container = self.created(auto_heal=True)
        self.run_operation(container, 'stop', timeout=1)
        self.engine.fail('create', _DOWN)
        self.engine.vanish(container.uuid)
        self.observe(container)
        real.wait_for('a failure', lambda: ('rebuild', 'Error', True) in self.actions(container))
        self.settled(container)
        sync.reconcile(self.node)
        real.wait_for('the rebuild', lambda: ('rebuild', None, True) in self.actions(container))
        self.assertEqual(states.CREATED, self.settled(container).status)

    def test_without_auto_heal_it_stays_an_error(self):
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.0))
        container = self.created()
        self.engine.vanish(container.uuid)
        self.observe(container)
        sync.reconcile(self.node)
        self.assertEqual((states.ERROR, heal.MISSING),
                         (lambda row: (row.status, row.status_reason))(self.settled(container)))
        self.assertEqual(['create'], [a[0] for a in self.actions(container)])
