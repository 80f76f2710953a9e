# SPDX-License-Identifier: Apache-2.0
"""The agent is killed at each fail point and started again.

Then every container is what its last request asked for, and nothing is left that no row owns.
"""

import base64
import dataclasses

from oslo_utils import uuidutils

from zun import objects
from zun.common import states
from zun.db import journal
from zun.network import blocks
from zun.tests.fault import harness
from zun.tests.fault import points
from zun.tests.fault import shelf
from zun.tests.functional import docker_registry
from zun.tests.functional import engine as real
from zun.tests.functional.compute import capsule_base

_ACCEPTED = {'delete': states.DELETING, 'reboot': states.RESTARTING,
             'rebuild': states.REBUILDING}
#: What brings a container from Running to another status.
_TO = {states.STOPPED: ('stop', {'timeout': 5}), states.PAUSED: ('pause', {})}


class KillTestCase(harness.FaultTestCase):
    def chosen(self, killed):
        """All points of an operation; in the short form the one in its middle."""
        middle = len(killed.points) // 2
        return killed.points[middle:middle + 1] if harness.SHORT else killed.points

    def bring_to(self, container, status):
        """Have this process do what it takes, without an agent."""
        now = self.row(container).status
        if now == status:
            return
        if now == states.PAUSED:
            self.run_operation(container, 'unpause')
        elif now != states.RUNNING:
            self.run_operation(container, 'start')
        if status != states.RUNNING:
            operation, args = _TO[status]
            self.run_operation(container, operation, **args)
        self.assertEqual(status, self.row(container).status)

    def kill(self, container, killed, point):
        """The operation is accepted, and its agent dies at the point."""
        self.accept(container, killed.operation, _ACCEPTED.get(killed.operation), **killed.args)
        self.crash(point)

    def kill_and_recover(self, container, killed, point):
        self.bring_to(container, killed.before)
        self.kill(container, killed, point)
        self.recover()
        if killed.after is None:
            self.assert_gone(container)
        else:
            self.assert_owned(container, killed.after, killed.reason)
        self.note(killed.name, point, killed.after or 'gone')


class CreateTest(KillTestCase):
    def test_each_step(self):
        for killed in points.CREATES:
            for point in self.chosen(killed):
                container = self.placed(run=killed.after == states.RUNNING)
                path = self.with_file(container)
                self.crash(point)
                self.recover()
                self.assert_owned(container, killed.after)
                self.assertTrue(path.exists())
                self.note(killed.name, point, killed.after)
                container.destroy(self.admin)
                self.docker.remove(f'zun-{container.uuid}')

    def test_that_fails(self):
        container = self.placed(image='zun-test/absent', image_pull_policy='never')
        self.crash('create.undone')
        self.recover()
        row = self.row(container)
        self.assertEqual((states.ERROR, None), (row.status, row.host))
        self.assertIn('zun-test/absent', row.status_reason)
        self.assert_closed(container)
        self.assert_nothing_left(container)
        self.note(points.FAILING_CREATE.name, 'create.undone', 'Error, with its reason')

    @harness.long
    def test_twenty_at_once(self):
        made = [self.placed() for _ in range(20)]
        first = self.start()
        real.wait_for('some in the engine', lambda: len(self.names()) >= 5, 60)
        self.end(first)
        self.assertLess(sum(self.row(c).status == states.RUNNING for c in made), 20)
        self.recover()
        for container in made:
            self.assert_owned(container, states.RUNNING)
        self.assertEqual(20, len(self.names()))
        self.assertEqual(20, len(self.node.ledger.allocations_on(self.node.provider)))


class DeleteTest(KillTestCase):
    def test_each_step(self):
        for killed in points.DELETES[1:2] if harness.SHORT else points.DELETES:
            for point in self.chosen(killed):
                container = self.placed()
                path = self.with_file(container)
                self.recover()
                self.kill_and_recover(container, killed, point)
                self.assertFalse(path.exists())

    @harness.long
    def test_during_the_create(self):
        container = self.placed()
        self.crash('create.made')
        self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        self.crash('delete.removed')
        self.recover()
        self.assert_gone(container)


class OperationTestCase(KillTestCase):
    """One container that runs."""

    def setUp(self):
        super().setUp()
        self.container = self.placed()
        self.recover()
        self.assert_owned(self.container, states.RUNNING)

    def check(self, *table):
        for killed in table:
            for point in self.chosen(killed):
                self.kill_and_recover(self.container, killed, point)


class PowerTest(OperationTestCase):
    def test_each_step(self):
        self.check(*(points.POWER[:4] if harness.SHORT else points.POWER))


class RebuildTest(OperationTestCase):
    def test_each_step(self):
        addresses = self.row(self.container).addresses
        for killed in points.REBUILDS:
            for point in self.chosen(killed):
                before = self.row(self.container).container_id
                self.kill_and_recover(self.container, killed, point)
                self.assertNotEqual(before, self.row(self.container).container_id)
                self.assertEqual(addresses, self.row(self.container).addresses)

    @harness.long
    def test_that_fails(self):
        killed, before = points.FAILING_REBUILD, self.row(self.container)
        before.runtime = 'nothing-of-this-name'
        before.save(self.admin)
        self.kill(self.container, killed, 'rebuild.undone')
        self.recover()
        row = self.row(self.container)
        self.assertEqual((states.RUNNING, before.container_id), (row.status, row.container_id))
        self.assertIn('nothing-of-this-name', row.status_reason)
        self.assert_owned(self.container, states.RUNNING, row.status_reason)
        self.note(killed.name, 'rebuild.undone', 'Running, with its reason')


class LimitsTest(OperationTestCase):
    def test_each_step(self):
        for killed in points.LIMITS:
            for point in self.chosen(killed):
                self.reset()
                if killed.operation is None:
                    self.crash(point, [('container_update', {
                        'container_uuid': self.container.uuid, 'patch': killed.args})])
                else:
                    self.kill(self.container, killed, point)
                self.recover()
                self.assert_owned(self.container, states.RUNNING)
                row = self.row(self.container)
                done = (row.memory, row.name) != ('32', 'test')
                self.assertTrue(done or killed.operation is None and point != 'limits.saved')
                self.note(killed.name, point, 'Running, changed' if done else 'Running, as before')

    def reset(self):
        if self.row(self.container).memory != '32' or self.row(self.container).name != 'test':
            self.assertEqual(0, self.work(calls=[('container_update', {
                'container_uuid': self.container.uuid,
                'patch': {'cpu': 0.1, 'memory': '32', 'name': 'test'}})]), self.log())
        self.assert_owned(self.container, states.RUNNING)

    @harness.long
    def test_before_another_operation(self):
        """The resize is not known any more: the limits are those of the row."""
        self.accept(self.container, 'resize_container', patch={'memory': '48'})
        self.crash('limits.applied')
        self.accept(self.container, 'stop', timeout=5)
        self.recover()
        self.assert_owned(self.container, states.STOPPED)
        self.assertEqual('32', self.row(self.container).memory)


class ArchiveTest(OperationTestCase):
    def test_each_step(self):
        data = base64.b64encode(real.tar({'sauce': b'hot'})).decode()
        call = ('container_put_archive', {'container_uuid': self.container.uuid, 'path': '/tmp',
                                          'data': data})
        for point in self.chosen(points.ARCHIVE):
            self.crash(point, [call])
            self.recover()
            self.assert_owned(self.container, states.RUNNING)
            self.note(points.ARCHIVE.name, point, 'Running')
        self.assertEqual(0, self.work(calls=[call]), self.log())
        chunks, _ = self.docker.api.get_archive(f'zun-{self.container.uuid}', '/tmp/sauce')
        self.assertEqual({'sauce': b'hot'}, real.untar(b''.join(chunks)))


class CommitTest(OperationTestCase):
    def test_each_step(self):
        store = shelf.Shelf(self.CONF.state_path)
        for point in self.chosen(points.COMMIT):
            image = uuidutils.generate_uuid()
            store.add(image)
            self.accept(self.container, 'commit', image_uuid=image)
            self.crash(point)
            self.recover()
            self.assert_owned(self.container, states.RUNNING)
            self.assertEqual('active', store.show(image)['status'])
            self.assertGreater(store.show(image)['size'], 0)
            self.assertEqual([], self.docker.api.images(name=f'zun-commit/{image}'))
            self.assertEqual(('commit', None, True), self.actions(self.container)[-1])
            self.note(points.COMMIT.name, point, 'Running, image sent')


class CapsuleTest(KillTestCase, capsule_base.CapsuleTestCase):
    def test_each_step(self):
        for point in self.chosen(points.CAPSULE):
            capsule = self.placed_with_parts()
            self.crash(point)
            self.recover()
            self.assert_runs(capsule)
            self.note(points.CAPSULE.name, point, 'Running')
            self.accept(capsule, 'delete', states.DELETING, force=False, stop=False)
            self.recover()
            self.assert_removed(capsule)

    @harness.long
    def test_rebuild(self):
        killed, capsule = points.CAPSULE_REBUILD, self.placed_with_parts()
        self.recover()
        for point in killed.points:
            self.docker.remove(f'zun-{self.row(capsule).containers[0].uuid}')
            self.kill(capsule, killed, point)
            self.recover()
            self.assert_runs(capsule)
            self.note(killed.name, point, 'Running')

    @harness.long
    def test_delete(self):
        killed = points.CAPSULE_DELETE
        for point in killed.points:
            capsule = self.placed_with_parts()
            self.recover()
            self.kill(capsule, killed, point)
            self.recover()
            self.assert_removed(capsule)
            self.note(killed.name, point, 'gone')

    def placed_with_parts(self):
        parts = [self.init('true'), self.member()]
        capsule = self.placed_capsule(*parts)
        self.made.update(part.uuid for part in (capsule, *parts))
        return capsule

    def assert_runs(self, capsule):
        row = self.row(capsule)
        self.assertEqual((states.RUNNING, None), (row.status, row.task_state), self.log())
        self.assertEqual([(states.STOPPED, None), (states.RUNNING, None)],
                         [(m.status, m.task_state)
                          for m in (*row.init_containers, *row.containers)])
        self.assertEqual(sorted(part.uuid for part in (
            row, *row.init_containers, *row.containers)), self.names())
        self.assertEqual([self.node.provider], list(self.held(capsule)))

    def assert_removed(self, capsule):
        self.assertIsNone(self.row(capsule), self.log())
        self.assertEqual([], self.names())
        self.assert_nothing_left(capsule)


class PullTest(KillTestCase):
    def test_each_step(self):
        registry = self.useFixture(docker_registry.Registry())
        for number, point in enumerate(self.chosen(points.PULL)):
            registry.push(f'pulled-{number}', text=str(number))
            name = registry.name(f'pulled-{number}')
            image = objects.Image(
                self.context, uuid=uuidutils.generate_uuid(), repo=name, tag='latest',
                host=harness.HOST, project_id='project', user_id='user')
            image.pull(self.context)
            self.crash(point, [('image_pull', {'image_uuid': image.uuid})])
            self.recover()
            row = objects.Image.get_by_uuid(self.admin, image.uuid)
            self.assertEqual(self.docker.api.inspect_image(f'{name}:latest')['Id'], row.image_id)
            self.assertGreater(int(row.size), 0)
            self.note(points.PULL.name, point, 'there, with id and size')


class NetworkTest(OperationTestCase):
    def test_each_step(self):
        uuid = self.node.network.create_network(self.admin, {'name': 'second'})['uuid']
        wanted = self.node.network.resolve(self.context, [{'network': uuid}])[0]
        attach, detach = points.NETWORKS
        for killed, args, undo, back in (
                (attach, {'requested_network': wanted}, 'network_detach', {'network': uuid}),
                (detach, {'network': uuid}, 'network_attach', {'requested_network': wanted})):
            for point in self.chosen(killed):
                self.accept(self.container, killed.operation, **args)
                self.crash(point)
                self.recover()
                self.assert_owned(self.container, states.RUNNING)
                there = uuid in self.row(self.container).addresses
                self.assertEqual(killed is attach, there)
                self.note(killed.name, point, 'Running')
                self.run_operation(self.container, undo, **back)
            self.run_operation(self.container, killed.operation, **args)

    @harness.long
    def test_before_another_operation(self):
        """Engine, books and row agree: an attach is taken back, a detach that has not given the
        address back too.
        """
        second, third = (self.node.network.resolve(self.context, [{
            'network': self.node.network.create_network(self.admin, {'name': name})['uuid']}])[0]
            for name in ('second', 'third'))
        attach, detach = points.NETWORKS
        for killed, args, there in (
                (attach, {'requested_network': second}, ()),
                (detach, {'network': second['network']}, ('begun', 'done'))):
            for point in killed.points[:-1]:
                for operation, more in (('stop', {'timeout': 5}),
                                        ('network_attach', {'requested_network': third})):
                    self.bring_to(self.container, states.RUNNING)
                    self.bring_networks(second if killed is detach else None)
                    self.kill(self.container, dataclasses.replace(killed, args=args), point)
                    self.accept(self.container, operation, **more)
                    self.recover()
                    expected = {second['network']} if point.endswith(there) else set()
                    if operation == 'stop':
                        self.assert_owned(self.container, states.STOPPED)
                    else:
                        self.assert_owned(self.container, states.RUNNING)
                        expected.add(third['network'])
                    self.assert_connected(expected)
                    self.note(f'{killed.name}, then {operation}', point, 'as the row says')

    def bring_networks(self, wanted):
        """The default network and this one."""
        default = self.node.network.resolve(self.context, [])[0]['network']
        for uuid in set(self.row(self.container).addresses) - {default}:
            self.run_operation(self.container, 'network_detach', network=uuid)
        if wanted:
            self.run_operation(self.container, 'network_attach', requested_network=wanted)

    def assert_connected(self, networks):
        """To the default network and these, by the row and by the engine."""
        default = self.node.network.resolve(self.context, [])[0]['network']
        row = self.row(self.container)
        self.assertEqual({default, *networks}, set(row.addresses))
        found = self.docker.inspect(self.container)['NetworkSettings']['Networks']
        self.assertEqual({blocks.engine_name(blocks.realisation_id(uuid, harness.HOST))
                          for uuid in row.addresses}, set(found))

    @harness.long
    def test_security_groups(self):
        for killed in points.GROUPS:
            for point in self.chosen(killed):
                self.kill(self.container, killed, point)
                self.recover()
                row = self.row(self.container)
                self.assertEqual(killed is points.GROUPS[0],
                                 'group' in (row.security_groups or []))
                self.assert_owned(self.container, states.RUNNING)
                self.note(killed.name, point, 'Running')


class QueueTest(OperationTestCase):
    def test_operations_that_waited(self):
        """The last one is done; those before it are not, and their actions say so."""
        self.accept(self.container, 'stop', timeout=5)
        self.accept(self.container, 'start')
        self.accept(self.container, 'kill', signal='SIGKILL')
        self.recover()
        self.assert_owned(self.container, states.STOPPED)
        self.assertEqual([('stop', 'Error', True), ('start', 'Error', True), ('kill', None, True)],
                         self.actions(self.container)[-3:])
        lost = objects.ContainerAction.get_by_container_uuid(self.admin, self.container.uuid)[1]
        events = objects.ContainerActionEvent.get_by_action(self.admin, lost.id)
        self.assertEqual([journal.SUPERSEDED], [event.details for event in events])

    @harness.long
    def test_under_way_and_waiting(self):
        self.accept(self.container, 'stop', timeout=5)
        self.crash('stop.done')
        self.accept(self.container, 'start')
        self.recover()
        self.assert_owned(self.container, states.RUNNING)
        self.assertEqual([('stop', 'Error', True), ('start', None, True)],
                         self.actions(self.container)[-2:])


class RecoveryTest(KillTestCase):
    """The agent is killed while it recovers."""

    def test_of_a_create(self):
        container = self.placed()
        for point in ('create.made', 'recovery.decided', 'create.planned', 'create.started'):
            self.crash(point)
        self.recover()
        self.assert_owned(container, states.RUNNING)
        self.note(points.RECOVERY.name, 'recovery.decided', 'Running')

    @harness.long
    def test_of_a_stop(self):
        container = self.placed()
        self.recover()
        self.accept(container, 'stop', timeout=5)
        for point in ('stop.done', 'recovery.closed'):
            self.crash(point)
        self.recover()
        self.assert_owned(container, states.STOPPED)
        self.note(points.RECOVERY.name, 'recovery.closed', 'Stopped')
