# SPDX-License-Identifier: Apache-2.0
"""The node on a real engine."""

import time

from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.compute import operations
from zun.compute import sync
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base


class DockerTest(base.NodeTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(heal, '_SECOND_LOOK', 0.3))
        self.follower = sync.Follower(self.node)
        self.follower.start()
        self.addCleanup(self.follower.stop)

    def wait_status(self, container, *statuses, timeout=20.0):
        real.wait_for(f'{statuses}', lambda: self.row(container).status in statuses, timeout)
        return self.row(container)

    def name(self, container):
        return f'zun-{container.uuid}'

    def test_life(self):
        container = self.created(run=False)
        self.assertEqual((states.CREATED, None), (container.status, container.status_reason))
        found = self.run_operation(container, 'start')
        self.assertEqual(states.RUNNING, found.status)
        self.assertTrue(found.started_at)
        self.assertTrue(found.status_detail.startswith('Up '))
        addresses = [a['addr'] for nets in found.addresses.values() for a in nets]
        networks = self.docker.inspect(container)['NetworkSettings']['Networks']
        self.assertEqual(addresses, [n['IPAddress'] for n in networks.values()])
        found = self.run_operation(container, 'pause')
        self.assertEqual(states.PAUSED, found.status)
        found = self.run_operation(container, 'unpause')
        self.assertEqual(states.RUNNING, found.status)
        found = self.run_operation(container, 'stop', timeout=5)
        self.assertEqual((states.STOPPED, 0), (found.status, found.exit_code))
        self.assertTrue(found.status_detail.startswith('Exited(0) '))
        self.assertIsNone(self.run_operation(
            container, 'delete', states.DELETING, force=False, stop=False))
        self.assertIsNone(self.docker.inspect(container))

    def test_environment_byte_for_byte(self):
        values = {'plain': 'x', 'accents': 'zwölf Ñ', 'emoji': '🥔🏴\u200d☠️', 'empty': '',
                  'equals': '=a=b==', 'lines': ' first\nsecond\t\r\n', 'quotes': '"\'$HOME`\\'}
        container = self.created(environment=values, networks=[])
        output, code = self.engine.execute(container, r"sh -c 'tr \\0 \\1 < /proc/1/environ'")
        self.assertEqual(0, code)
        seen = dict(pair.split('=', 1) for pair in output.split('\1') if pair)
        self.assertEqual(values, {name: seen.get(name) for name in values})

    def test_killed_outside_shows_within_a_second(self):
        container = self.created()
        self.docker.api.kill(self.name(container))
        found = self.wait_status(container, states.STOPPED, timeout=1)
        self.assertEqual(137, found.exit_code)

    def test_removed_outside(self):
        container = self.created()
        self.docker.remove(self.name(container))
        found = self.wait_status(container, states.ERROR, timeout=5)
        self.assertEqual(heal.MISSING, found.status_reason)
        self.assertIsNone(self.run_operation(
            container, 'delete', states.DELETING, force=False, stop=False))

    def test_ends_by_itself(self):
        container = self.created(command=['sh', '-c', 'exit 7'])
        found = self.wait_status(container, states.STOPPED)
        self.assertEqual(7, found.exit_code)
        self.assertTrue(found.status_detail.startswith('Exited(7) '))

    def test_auto_remove(self):
        container = self.placed(command=['true'], auto_remove=True)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        real.wait_for('the delete', lambda: self.row(container) is None)
        self.assertIsNone(self.docker.inspect(container))
        self.assertEqual({}, self.held(container))

    def test_auto_remove_of_what_cannot_be_started(self):
        container = self.placed(command=['/no/such/program'], auto_remove=True)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        real.wait_for('the delete', lambda: self.row(container) is None)
        self.assertIsNone(self.docker.inspect(container))
        self.assertEqual({}, self.held(container))
        container = self.created(run=False, command=['/no/such/program'], auto_remove=True)
        self.run_operation(container, 'start')
        real.wait_for('the delete', lambda: self.row(container) is None)

    def test_auto_remove_leaves_what_was_never_made(self):
        container = self.created(image='zun-test/absent:1', image_pull_policy='never',
                                 auto_remove=True)
        self.assertEqual(states.ERROR, container.status)
        self.assertIn('zun-test/absent:1', container.status_reason)
        self.assert_closed(container)

    def test_command_that_does_not_exist(self):
        container = self.created(command=['/no/such/program'])
        self.assertEqual((states.ERROR, base.HOST), (container.status, container.host))
        self.assertIn('/no/such/program', container.status_reason)
        self.assertEqual([('create', 'Error', True)], self.actions(container))
        self.observe(container)
        self.assertEqual(states.ERROR, self.row(container).status)

    def test_image_that_does_not_exist(self):
        container = self.created(image='zun-test/absent:1', image_pull_policy='never')
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertIn('zun-test/absent:1', container.status_reason)
        self.assertEqual({}, self.held(container))

    def test_restart_by_the_engine_is_followed(self):
        container = self.created(restart_policy={'Name': 'always', 'MaximumRetryCount': '0'})
        self.docker.api.exec_start(self.docker.api.exec_create(
            self.name(container), ['kill', '-TERM', '1'])['Id'])
        real.wait_for('the restart',
                      lambda: self.docker.inspect(container)['RestartCount'] == 1)
        self.wait_status(container, states.RUNNING)

    def test_stop_of_one_that_ends_again_and_again(self):
        container = self.created(command=['false'], restart_policy={
            'Name': 'always', 'MaximumRetryCount': '0'})
        self.wait_status(container, states.RESTARTING)
        found = self.run_operation(container, 'stop', timeout=5)
        self.assertEqual((states.STOPPED, None), (found.status, found.status_reason))
        self.assertFalse(self.docker.inspect(container)['State']['Restarting'])
        self.assertEqual(('stop', None, True), self.actions(container)[-1])

    def test_forced_delete_of_a_paused_one(self):
        container = self.created()
        self.assertEqual(states.PAUSED, self.run_operation(container, 'pause').status)
        self.assertIsNone(self.run_operation(
            container, 'delete', states.DELETING, force=True, stop=False))
        self.assertIsNone(self.docker.inspect(container))

    def test_rebuild(self):
        container = self.created()
        found = self.run_operation(container, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual((states.RUNNING, container.addresses), (found.status, found.addresses))
        self.assertNotEqual(container.container_id, found.container_id)
        row = self.row(container)
        row.command = ['/no/such/program']
        row.save(self.admin)
        failed = self.run_operation(container, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual(states.RUNNING, failed.status)
        self.assertIn('/no/such/program', failed.status_reason)
        self.assertEqual(found.container_id, self.docker.inspect(container)['Id'])

    def test_update(self):
        container = self.created()
        operations.change(self.node, self.context, container.uuid, {'cpu': 0.5, 'memory': '48'})
        limits = self.docker.inspect(container)['HostConfig']
        self.assertEqual((48 << 20, 512), (limits['Memory'], limits['CpuShares']))
        error = self.assertRaises(exception.ZunException, operations.change, self.node,
                                  self.context, container.uuid, {'memory': '1'})
        self.assertLess(error.code, 500)
        self.assertEqual('48', self.row(container).memory)

    def test_many_at_once(self):
        made = [self.placed() for _ in range(12)]
        began = time.monotonic()
        for container in made:
            operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        for container in made:
            self.assertEqual(states.RUNNING, self.settled(container).status)
        for container in made:
            context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
            operations.submit(self.node, context, container.uuid, 'delete', force=True,
                              stop=False)
        for container in made:
            self.assertIsNone(self.settled(container))
        self.assertLess(time.monotonic() - began, 120)
        self.assertEqual({}, self.node.ledger.allocations_on(self.node.provider))
