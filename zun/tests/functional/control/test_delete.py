# SPDX-License-Identifier: Apache-2.0
"""Delete and update of containers."""

import testscenarios

from zun import objects
from zun.common import exception
from zun.control import containers
from zun.control import quotas
from zun.placement import ledger
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios


class _Containers(world.TestCase):
    def _make(self, status='Running', host=world.HOST, **values):
        made = containers.create(self.context, {'image': 'busybox', **values})
        self.context = self.as_user('project')
        return self.placed(made, status, host)

    def _allocate(self, container):
        consumer = ledger.Consumer(container.uuid, 'project', 'user')
        candidate = self.ledger.candidates({ledger.VCPU: 1})[0]
        self.assertTrue(self.ledger.claim(consumer, candidate))

    def _gone(self, container):
        self.assertRaises(exception.ContainerNotFound, objects.Container.get_by_uuid,
                          self.admin, container.uuid)


class DeleteTest(_Containers):
    def test_recorded_and_told(self):
        container = self._make('Stopped')
        containers.delete(self.context, container)
        row = objects.Container.get_by_uuid(self.admin, container.uuid)
        asked = self.request(container.uuid)
        self.assertEqual(('Deleting', 'delete', {'force': False, 'stop': False},
                          self.context.request_id),
                         (row.status, asked.operation, asked.operation_args,
                          asked.operation_id))
        self.assertEqual([('container_delete', (world.HOST, container.uuid),
                           {'force': False, 'stop': False})], self.nodes.sent)
        self.assertEqual(['create', 'delete'], [a for a, _ in self.actions(container.uuid)])
        again = self.assertRaises(exception.InvalidStateException, containers.delete,
                                  self.context, row)
        self.assertEqual(f'Cannot delete container {container.uuid} in Deleting state',
                         again.message)

    def test_running(self):
        container = self._make()
        self.assertRaises(exception.InvalidStateException, containers.delete, self.context,
                          container)
        containers.delete(self.context, container, stop=True)
        self.assertEqual([('container_delete', (world.HOST, container.uuid),
                           {'force': False, 'stop': True})], self.nodes.sent)
        self.assertEqual(['create', 'stop', 'delete'],
                         [a for a, _ in self.actions(container.uuid)])
        last = objects.ContainerAction.get_by_request_id(
            self.admin, container.uuid, self.context.request_id)
        self.assertEqual('delete', last.action)

    def test_stop_of_a_stopped_one(self):
        container = self._make('Stopped')
        containers.delete(self.context, container, stop=True)
        self.assertEqual({'force': False, 'stop': False}, self.nodes.sent[0][2])
        self.assertEqual(['create', 'delete'], [a for a, _ in self.actions(container.uuid)])

    def test_forced(self):
        container = self._make('Unknown')
        containers.delete(self.administrator, container, force=True)
        self.assertEqual({'force': True, 'stop': False}, self.nodes.sent[0][2])
        paused = self._make('Paused')
        containers.delete(self.administrator, paused, force=True)
        self.assertEqual(paused.uuid, self.nodes.sent[-1][1][1])

    def test_status_changed_meanwhile(self):
        container = self._make()
        self.placed(container, 'Paused')
        error = self.assertRaises(exception.InvalidStateException, containers.delete,
                                  self.context, container, stop=True)
        self.assertEqual(
            f'Cannot delete_after_stop container {container.uuid} in Paused state',
            error.message)
        self.assertEqual([], self.nodes.sent)
        self.assertEqual([('create', None), ('stop', 'Error')], self.actions(container.uuid))

    def test_bus_down(self):
        container = self._make('Stopped')
        self.nodes.answers['container_delete'] = exception.BusUnavailable(reason='x')
        containers.delete(self.context, container)
        self.assertEqual('delete', self.request(container.uuid).operation)

    def test_without_host(self):
        self.neutron.add('ports', 'p1', project_id='project', network_id='private')
        container = self._make('Error', None, nets=[{'port': 'p1'}],
                               mounts=[{'size': 1, 'destination': '/d'}])
        self._allocate(container)
        containers.delete(self.context, container)
        self._gone(container)
        self.assertEqual([], self.nodes.sent)
        self.assertEqual('', self.neutron.store['ports']['p1']['device_id'])
        self.assertEqual({}, self.volumes.rows)
        self.assertEqual({}, self.ledger.held(container.uuid))
        self.assertEqual(0, quotas.usages(self.context, 'project')['containers']['in_use'])

    def test_without_host_while_neutron_is_down(self):
        container = self._make('Error', None)
        self.neutron.faults['GET', '/ports'] = 503
        self.assertRaises(exception.ZunException, containers.delete, self.context, container)
        containers.delete(self.context, container)
        self._gone(container)

    def test_host_down(self):
        container = self._make('Stopped')
        self.host_down()
        error = self.assertRaises(exception.ContainerHostNotUp, containers.delete, self.context,
                                  container)
        self.assertEqual(503, error.code)
        self.assertNotIn(world.HOST, error.message)
        self.assertEqual('Stopped', objects.Container.get_by_uuid(
            self.admin, container.uuid).status)
        self.assertRaises(exception.ContainerHostNotUp, containers.delete, self.context,
                          self._make(), stop=True)

    def test_host_down_forced(self):
        self.neutron.add('ports', 'p1', project_id='project', network_id='private')
        container = self._make(nets=[{'port': 'p1'}])
        self.neutron.add('ports', 'own', project_id='project', network_id='private',
                         device_id=container.uuid, tags=['zun'])
        self._allocate(container)
        self.host_down()
        containers.delete(self.administrator, container, force=True)
        self._gone(container)
        self.assertEqual({'p1': ''}, {ident: port['device_id'] for ident, port
                                      in self.neutron.store['ports'].items()})
        self.assertEqual({}, self.ledger.held(container.uuid))
        self.assertEqual([], self.nodes.sent)

    def test_host_down_forced_while_neutron_is_down(self):
        container = self._make()
        self.host_down()
        self.neutron.faults['GET', '/ports'] = 503
        containers.delete(self.administrator, container, force=True)
        self._gone(container)

    def test_ports_attached_later_are_given_back(self):
        self.neutron.add('ports', 'p2', project_id='project', network_id='private')
        container = self._make()
        self.neutron.store['ports']['p2'].update(device_id=container.uuid)
        container.addresses = {'private': [{'addr': '10.0.0.2', 'version': 4, 'port': 'p2',
                                            'subnet_id': 's', 'preserve_on_delete': True}]}
        container.save()
        self.host_down()
        containers.delete(self.administrator, container, force=True)
        self.assertEqual('', self.neutron.store['ports']['p2']['device_id'])


class UpdateTest(_Containers):
    def test_name_and_healing(self):
        container = containers.update(self.context, self._make(),
                                      {'name': 'other', 'auto_heal': True})
        row = objects.Container.get_by_uuid(self.admin, container.uuid)
        self.assertEqual(('other', True), (row.name, row.auto_heal))
        self.assertEqual([], self.nodes.sent)
        self.assertIsNotNone(containers.update(self.context, row, {}))

    def test_resources(self):
        container = self._make()

        def node():
            row = objects.Container.get_by_uuid(self.admin, container.uuid)
            row.cpu, row.memory = 0.5, '64'
            row.save()
        self.nodes.answers['container_update'] = node
        changed = containers.update(self.context, container, {'cpu': '.5', 'memory': 64})
        self.assertEqual((0.5, '64'), (changed.cpu, changed.memory))
        self.assertEqual([('container_update', (world.HOST, container.uuid,
                                                {'cpu': 0.5, 'memory': '64'}), {})],
                         self.nodes.sent)

    def test_refused(self):
        for status in ('Creating', 'Error'):
            self.assertRaises(exception.InvalidStateException, containers.update, self.context,
                              self._make(status), {'name': 'x1'})
        self.assertRaises(exception.InvalidStateException, containers.update, self.context,
                          self._make('Created', None), {'cpu': 1})
        container = self._make()
        quotas.update(self.administrator, 'project', {'cpu': 5})
        self.assertRaises(exception.OverQuota, containers.update, self.administrator, container,
                          {'cpu': 3})
        quotas.update(self.administrator, 'project', {'cpu': 1})
        self.assertIsNotNone(containers.update(self.context, container, {'cpu': 0.5}))
        self.host_down()
        self.assertRaises(exception.ContainerHostNotUp, containers.update, self.context,
                          container, {'cpu': 0.5})
        self.assertEqual('x1', containers.update(self.context, container, {'name': 'x1'}).name)

    def test_no_room_on_the_host(self):
        self.nodes.answers['container_update'] = exception.ResourcesUnavailable(reason='x')
        error = self.assertRaises(exception.ResourcesUnavailable, containers.update,
                                  self.context, self._make(), {'cpu': 2})
        self.assertEqual(409, error.code)

    def test_resize(self):
        container = self._make()
        answer = containers.resize(self.context, container, {'memory': 1024, 'name': 'x1'})
        self.assertEqual('512', answer.memory)
        self.assertEqual([('resize_container', (world.HOST, container.uuid),
                           {'patch': {'memory': '1024', 'name': 'x1'}})], self.nodes.sent)
        self.assertEqual(['create', 'resize_container'],
                         [a for a, _ in self.actions(container.uuid)])
        self.assertEqual(('resize_container', {'patch': {'memory': '1024', 'name': 'x1'}}),
                         (self.request(container.uuid).operation,
                          self.request(container.uuid).operation_args))
        self.assertRaises(exception.OverQuota, containers.resize, self.context, container,
                          {'memory': 60000})
        self.assertRaises(exception.InvalidStateException, containers.resize, self.context,
                          self._make('Created', None), {'cpu': 1})

    def test_rename(self):
        container = self._make('Error', name='old')
        self.assertRaises(exception.Conflict, containers.rename, self.context, container, 'old')
        self.assertEqual('new', containers.rename(self.context, container, 'new').name)
        self.config(group='compute', unique_container_name_scope='project')
        self._make(name='taken')
        self.assertRaises(exception.ContainerAlreadyExists, containers.rename, self.context,
                          container, 'Taken')
