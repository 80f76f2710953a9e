# SPDX-License-Identifier: Apache-2.0
"""New limits for a container that exists."""

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import operations
from zun.db import claims
from zun.tests.functional.compute import base


class UpdateTest(base.NodeTestCase):
    def change(self, container, **patch):
        operations.change(self.node, self.context, container.uuid, patch)
        return self.row(container)

    def limits(self, container):
        box = self.engine._boxes[container.uuid]
        return box.cpu, box.memory

    def test_ledger_engine_and_row(self):
        container = self.created()
        found = self.change(container, cpu=2.0, memory='64', name='new')
        self.assertEqual((2.0, '64', 'new'), (found.cpu, found.memory, found.name))
        self.assertEqual((2.0, 64), self.limits(container))
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 64}, self.held(container)[self.node.provider])
        self.assertEqual(('update', None, True), self.actions(container)[-1])
        self.assert_closed(container)

    def test_a_name_alone_is_no_action(self):
        container = self.created()
        self.assertEqual('new', self.change(container, name='new').name)
        self.assertEqual(['create'], [action[0] for action in self.actions(container)])

    def test_interrupted(self):
        container = self.created()
        context = self.request()
        row = self.row(container)
        row.task_state = states.CONTAINER_UPDATING
        row.save(self.admin)
        objects.ContainerAction.start(context, container.uuid, 'update')
        self.restart()
        self.node.resume(container.uuid)
        self.settled(container)
        self.assertEqual(('update', 'Error', True), self.actions(container)[-1])
        self.assert_closed(container)

    def test_no_room_in_the_ledger(self):
        container = self.created()
        self.assertRaises(exception.ResourcesUnavailable, self.change, container,
                          memory=str(1 << 20))
        self.assert_unchanged(container)

    def test_no_room_on_the_node(self):
        container = self.created()
        self.node.offer = base.compute_node.Offer(claims.Amounts(1, 40, 0), False)
        self.assertRaises(exception.ResourcesUnavailable, self.change, container, memory='41')
        self.assert_unchanged(container)

    def test_engine_refuses(self):
        container = self.created()
        self.engine.fail('update', exception.Conflict('The memory limit is below use.'))
        error = self.assertRaises(exception.Conflict, self.change, container, memory='16')
        self.assertEqual('The memory limit is below use.', error.message)
        self.assert_unchanged(container)
        self.assertEqual(('update', 'Error', True), self.actions(container)[-1])
        self.assert_closed(container)

    def assert_unchanged(self, container):
        found = self.row(container)
        self.assertEqual((0.1, '32'), (found.cpu, found.memory))
        self.assertEqual((0.1, 32), self.limits(container))
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 32}, self.held(container)[self.node.provider])

    def test_while_something_else_is_under_way(self):
        container = self.created()
        row = self.row(container)
        row.task_state = states.NETWORK_ATTACHING
        row.save(self.admin)
        self.assertRaises(exception.InvalidStateException, self.change, container, memory='16')
        self.assert_unchanged(container)

    def test_comes_after_what_was_accepted_before(self):
        container = self.created()
        context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=True, stop=False)
        self.assertRaises((exception.ContainerNotFound, exception.InvalidStateException),
                          self.change, container, memory='16')

    def test_resize_container(self):
        container = self.created()
        found = self.run_operation(container, 'resize_container', patch={'memory': '48'})
        self.assertEqual(('48', None), (found.memory, found.status_reason))
        self.assertEqual(('resize_container', None, True), self.actions(container)[-1])
        self.assertEqual((0.1, 48), self.limits(container))
        self.engine.fail('update', exception.Conflict('too low'))
        found = self.run_operation(container, 'resize_container', patch={'memory': '8'})
        self.assertEqual(('48', states.RUNNING, 'Resize container failed: too low'),
                         (found.memory, found.status, found.status_reason))
        self.assertEqual(('resize_container', 'Error', True), self.actions(container)[-1])
        self.assert_closed(container)
