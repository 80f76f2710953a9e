# SPDX-License-Identifier: Apache-2.0
"""Changes on an engine in memory that does not answer: taken back, or tried until they are done."""

import fixtures

from zun.common import exception
from zun.common import states
from zun.compute import operations
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class FailedChangeTestCase(base.NodeTestCase):
    """One container that runs; what is tried again is tried soon."""

    def setUp(self):
        super().setUp()
        retry = self.node.retry
        self.node.retry = lambda _seconds, uuid: retry(0.05, uuid)
        self.container = self.created()

    def lose(self, method, *errors):
        """The engine does it once more, and its answer is lost; the next calls raise these."""
        does = getattr(self.engine, method)

        def loses(*args):
            setattr(self.engine, method, does)
            does(*args)
            self.engine.fail(method, *errors)
            raise DOWN
        setattr(self.engine, method, loses)

    def ended(self):
        """The row once nothing is open any more."""
        def look():
            row = self.row(self.container)
            open_ = row.task_state or self.asked(self.container).operation
            return None if open_ or self.node.busy(self.container.uuid) else row
        row = real.wait_for('the end', look)
        self.assert_closed(self.container)
        self.assertEqual({}, self.node.attempts)
        self.assertEqual(states.RUNNING, row.status)
        return row

    def change(self, operation, status=None, **args):
        self.run_operation(self.container, operation, status, **args)
        return self.ended()


class NetworkTest(FailedChangeTestCase):
    def setUp(self):
        super().setUp()
        self.uuid = self.node.network.create_network(self.context, {'name': 'second'})['uuid']
        self.wanted = self.node.network.resolve(self.context, [{'network': self.uuid}])[0]

    def attach(self):
        return self.change('network_attach', requested_network=self.wanted)

    def detach(self):
        return self.change('network_detach', network=self.uuid)

    def assert_network(self, there):
        row = self.row(self.container)
        self.assertEqual(there, self.uuid in row.addresses)
        self.assertEqual(1 + there, len(self.engine._boxes[self.container.uuid].networks))
        addresses = [a['addr'] for nets in row.addresses.values() for a in nets]
        self.assertEqual(sorted(addresses), sorted(
            base.network_driver_addresses(self.container.uuid).values()))

    def test_attach(self):
        self.lose('connect')
        self.assertIn('Network attach failed', self.attach().status_reason)
        self.assert_network(False)

    def test_attach_that_cannot_be_taken_back(self):
        self.engine.fail('connect', DOWN)
        self.engine.fail('disconnect', DOWN)
        self.assertIsNone(self.attach().status_reason)
        self.assert_network(True)
        self.assertEqual(('network_attach', None, True), self.actions(self.container)[-1])

    def test_attach_that_is_given_up(self):
        self.engine.fail('connect', *[DOWN] * 6)
        self.engine.fail('disconnect', *[DOWN] * 6)
        self.assertIn('Network attach failed', self.attach().status_reason)
        self.assertEqual(('network_attach', 'Error', True), self.actions(self.container)[-1])

    def test_detach(self):
        self.attach()
        self.lose('disconnect')
        self.assertIn('Network detach failed', self.detach().status_reason)
        self.assert_network(True)

    def test_detach_that_cannot_be_taken_back(self):
        self.attach()
        self.engine.fail('disconnect', DOWN)
        self.engine.fail('connect', DOWN)
        self.assertIsNone(self.detach().status_reason)
        self.assert_network(False)

    def test_security_groups(self):
        asked, errors = [], [DOWN]

        def set_groups(_driver, _context, _container, groups):
            asked.append(groups)
            if errors:
                raise errors.pop()
        self.useFixture(fixtures.MonkeyPatch(
            'zun.network.embedded.EmbeddedDriver.set_security_groups', set_groups))
        row = self.change('add_security_group', security_group='group')
        self.assertIn('Add security group failed', row.status_reason)
        self.assertEqual(([['group'], []], []), (asked, row.security_groups or []))


class LimitsTest(FailedChangeTestCase):
    def assert_memory(self, memory):
        self.assertEqual(str(memory), self.row(self.container).memory)
        self.assertEqual(memory, self.engine._boxes[self.container.uuid].memory)
        self.assertEqual(memory, self.held(self.container)[self.node.provider]['MEMORY_MB'])

    def test_update_that_cannot_be_taken_back(self):
        self.lose('update', DOWN, DOWN)
        self.assertRaises(exception.EngineUnavailable, operations.change, self.node,
                          self.context, self.container.uuid, {'memory': '48'})
        self.ended()
        self.assert_memory(32)

    def test_resize_that_cannot_be_taken_back(self):
        self.engine.fail('update', DOWN, DOWN)
        self.assertIsNone(self.change('resize_container', patch={'memory': '48'}).status_reason)
        self.assert_memory(48)


class RebuildTest(FailedChangeTestCase):
    def rebuild(self):
        row = self.change('rebuild', states.REBUILDING, run=True)
        self.assertEqual([self.container.uuid], list(self.engine._boxes))
        self.assertEqual(row.container_id, self.engine.inspect(row).engine_id)
        return row

    def test_old_one_that_cannot_be_removed(self):
        """The new one runs: it stays."""
        discard, calls = self.engine.discard, []

        def fails(name):
            calls.append(name)
            if len(calls) in (2, 3):
                raise DOWN
            discard(name)
        self.engine.discard = fails
        row = self.rebuild()
        self.assertNotEqual(self.container.container_id, row.container_id)
        self.assertIsNone(row.status_reason)
        self.assertEqual(4, len(calls))

    def test_old_one_that_cannot_be_stopped(self):
        """It is not taken for one that does not run."""
        self.engine.fail('stop', exception.Conflict('something else is under way'))
        row = self.rebuild()
        self.assertEqual((self.container.container_id,
                          'Rebuild failed: something else is under way'),
                         (row.container_id, row.status_reason))

    def test_retry_that_fails_at_first(self):
        self.engine.fail('create', DOWN)
        self.engine.fail('restore', DOWN, DOWN, DOWN)
        row = self.rebuild()
        self.assertNotEqual(self.container.container_id, row.container_id)
        self.assertIsNone(row.status_reason)
