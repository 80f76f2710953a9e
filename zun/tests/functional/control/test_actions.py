# SPDX-License-Identifier: Apache-2.0
"""Actions: what is recorded, what the node is told, what the caller waits for."""

import testscenarios

from zun import objects
from zun.common import exception
from zun.control import actions
from zun.control import containers
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios
_ADDRESS = {'addr': '10.0.0.2', 'version': 4, 'port': 'own', 'subnet_id': 's',
            'preserve_on_delete': False}


class _Actions(world.TestCase):
    def _make(self, status='Running', host=world.HOST, **values):
        made = containers.create(self.context, {'image': 'busybox', 'interactive': True})
        self.context = self.as_user('project')
        return self.placed(made, status, host, **values)


class PerformTest(_Actions):
    TABLE = (
        ('start', 'Stopped', {}, 'container_start', {}, 'Stopped'),
        ('stop', 'Running', {}, 'container_stop', {'timeout': None}, 'Running'),
        ('stop', 'Running', {'timeout': '5'}, 'container_stop', {'timeout': 5}, 'Running'),
        ('stop', 'Running', {'timeout': ''}, 'container_stop', {'timeout': None}, 'Running'),
        ('stop', 'Restarting', {}, 'container_stop', {'timeout': None}, 'Restarting'),
        ('reboot', 'Running', {'timeout': 0}, 'container_reboot', {'timeout': 0}, 'Restarting'),
        ('pause', 'Running', {}, 'container_pause', {}, 'Running'),
        ('unpause', 'Paused', {}, 'container_unpause', {}, 'Paused'),
        ('kill', 'Running', {}, 'container_kill', {'signal': None}, 'Running'),
        ('kill', 'Running', {'signal': 'SIGHUP'}, 'container_kill', {'signal': 'SIGHUP'},
         'Running'),
        ('rebuild', 'Running', {}, 'container_rebuild', {'run': True}, 'Rebuilding'),
        ('rebuild', 'Stopped', {}, 'container_rebuild', {'run': False}, 'Rebuilding'),
    )

    def test_table(self):
        for action, status, args, message, told, after in self.TABLE:
            container = self._make(status)
            actions.perform(self.context, container, action, **args)
            self.assertEqual([(message, (world.HOST, container.uuid), told)], self.nodes.sent)
            asked = self.request(container.uuid)
            self.assertEqual((action, told, self.context.request_id),
                             (asked.operation, asked.operation_args, asked.operation_id))
            row = objects.Container.get_by_uuid(self.admin, container.uuid)
            self.assertEqual((after, None), (row.status, row.task_state))
            self.assertEqual(['create', action], [a for a, _ in self.actions(container.uuid)])

    def test_wrong_state(self):
        container = self._make('Paused')
        for action in ('start', 'stop', 'reboot', 'rebuild', 'pause', 'kill'):
            error = self.assertRaises(exception.InvalidStateException, actions.perform,
                                      self.context, container, action)
            self.assertEqual(f'Cannot {action} container {container.uuid} in Paused state',
                             error.message)
        self.assertEqual([], self.nodes.sent)

    def test_never_placed(self):
        container = self._make('Error', None)
        for action in ('start', 'reboot', 'rebuild'):
            self.assertRaises(exception.InvalidStateException, actions.perform, self.context,
                              container, action)
        self.assertEqual(['create'], [a for a, _ in self.actions(container.uuid)])

    def test_status_changed_meanwhile(self):
        container = self._make()
        self.placed(container, 'Stopped')
        error = self.assertRaises(exception.InvalidStateException, actions.perform, self.context,
                                  container, 'pause')
        self.assertEqual(f'Cannot pause container {container.uuid} in Stopped state',
                         error.message)
        self.assertEqual(([], ['create']),
                         (self.nodes.sent, [a for a, _ in self.actions(container.uuid)]))

    def test_host_and_bus_down(self):
        self.host_down()
        container = self._make()
        self.nodes.answers['container_stop'] = exception.BusUnavailable(reason='x')
        actions.perform(self.context, container, 'stop')
        self.assertEqual('stop', self.request(container.uuid).operation)

    def test_rebuild_with_another_image(self):
        container = self._make()
        actions.perform(self.context, container, 'rebuild', image='redis', image_driver='glance')
        row = objects.Container.get_by_uuid(self.admin, container.uuid)
        self.assertEqual(('redis', 'glance'), (row.image, row.image_driver))


class NetworksTest(_Actions):
    def setUp(self):
        super().setUp()
        self.neutron.add('networks', 'second', project_id='project')
        self.neutron.add('ports', 'p1', project_id='project', network_id='second')
        self.neutron.add('ports', 'own', name='mine', project_id='project',
                         network_id='private', device_id='x', status='ACTIVE')

    def _attached(self, **kwargs):
        return self._make(addresses={'private': [_ADDRESS]}, **kwargs)

    def test_attach(self):
        container = self._attached()
        actions.perform(self.context, container, 'network_attach', network='second',
                        fixed_ip='10.0.0.9')
        wanted = self.nodes.sent[0][2]['requested_network']
        self.assertEqual(('network_attach', 'second', '', '10.0.0.9', False),
                         (self.nodes.sent[0][0], wanted['network'], wanted['port'],
                          wanted['fixed_ip'], wanted['preserve_on_delete']))
        self.assertEqual({'requested_network': wanted},
                         self.request(container.uuid).operation_args)

    def test_attach_a_port(self):
        container = self._attached()
        actions.perform(self.context, container, 'network_attach', port='p1')
        self.assertEqual('p1', self.nodes.sent[0][2]['requested_network']['port'])
        self.assertEqual(container.uuid, self.neutron.store['ports']['p1']['device_id'])

    def test_a_claim_is_undone(self):
        container = self._attached()
        self.placed(container, 'Deleting')
        self.assertRaises(exception.InvalidStateException, actions.perform, self.context,
                          container, 'network_attach', port='p1')
        self.assertEqual('', self.neutron.store['ports']['p1']['device_id'])

    def test_attach_refused(self):
        self.neutron.add('ports', 'p3', project_id='project', network_id='private')
        container = self._attached()
        table = (({'network': 'private'}, exception.Invalid,
                  f"Network 'private' is already connected to container '{container.uuid}'."),
                 ({'port': 'p3'}, exception.Invalid,
                  f"Cannot attach port 'p3' to container '{container.uuid}' because another port "
                  'on the same network is already attached to this container.'),
                 ({'network': 'nope'}, exception.NetworkNotFound,
                  'Neutron network nope could not be found.'))
        for args, expected, message in table:
            error = self.assertRaises(expected, actions.perform, self.context, container,
                                      'network_attach', **args)
            self.assertEqual(message, error.message)
        self.assertRaises(exception.InvalidStateException, actions.perform, self.context,
                          self._attached(status='Error'), 'network_attach', network='second')

    def test_detach(self):
        for args in ({'network': 'private'}, {'port': 'own'}, {'port': 'mine'}):
            container = self._attached()
            actions.perform(self.context, container, 'network_detach', **args)
            self.assertEqual([('network_detach', (world.HOST, container.uuid),
                               {'network': 'private'})], self.nodes.sent)

    def test_detach_refused(self):
        container = self._attached()
        table = (({'network': 'second'}, exception.Invalid,
                  f"Network 'second' is not attached to container '{container.uuid}'."),
                 ({'port': 'p1'}, exception.Invalid,
                  f"Port 'p1' is not attached to container '{container.uuid}'."),
                 ({'port': 'nope'}, exception.PortNotFound,
                  'Neutron port nope could not be found.'),
                 ({'network': 'nope'}, exception.NetworkNotFound,
                  'Neutron network nope could not be found.'))
        for args, expected, message in table:
            error = self.assertRaises(expected, actions.perform, self.context, container,
                                      'network_detach', **args)
            self.assertEqual(message, error.message)

    def test_no_addresses_yet(self):
        container = self._make(addresses=None)
        self.assertRaises(exception.Invalid, actions.perform, self.context, container,
                          'network_detach', network='private')

    def test_security_groups(self):
        for ident, project in (('g1', 'project'), ('g2', 'project'), ('g3', 'other')):
            self.neutron.add('security-groups', ident, project_id=project, anyone=True)
        container = self._make(security_groups=['g1'])
        actions.perform(self.context, container, 'add_security_group', name='g2')
        self.assertEqual([('add_security_group', (world.HOST, container.uuid),
                           {'security_group': 'g2'})], self.nodes.sent)
        for action, name, message in (
                ('add_security_group', 'g1', 'Security group g1 has been added to container.'),
                ('remove_security_group', 'g2',
                 'Security group g2 was not added to container.'),
                ('add_security_group', 'g3', 'Security group g3 not found.')):
            error = self.assertRaises(exception.InvalidValue, actions.perform, self.context,
                                      container, action, name=name)
            self.assertEqual(message, error.message)


class WaitingTest(_Actions):
    CALLS = (
        ('logs', actions.logs, {}), ('execute', actions.execute, {'command': 'ls'}),
        ('execute_resize', actions.execute_resize, {'exec_id': 'e', 'height': 1, 'width': 1}),
        ('attach', actions.attach, {}), ('resize', actions.resize, {'height': 1, 'width': 1}),
        ('top', actions.top, {}), ('stats', actions.stats, {}),
        ('get_archive', actions.get_archive, {'path': '/x'}),
        ('put_archive', actions.put_archive, {'path': '/x', 'data': ''}),
        ('commit', actions.commit, {'repository': 'r'}),
    )

    def test_refused(self):
        container, nowhere = self._make('Deleting'), self._make('Running', None)
        for name, call, args in self.CALLS:
            error = self.assertRaises(exception.InvalidStateException, call, self.context,
                                      container, **args)
            self.assertEqual(f'Cannot {name} container {container.uuid} in Deleting state',
                             error.message)
            self.assertRaises(exception.InvalidStateException, call, self.context, nowhere,
                              **args)
        running = self._make()
        self.host_down()
        for _name, call, args in self.CALLS:
            self.assertRaises(exception.ContainerHostNotUp, call, self.context, running, **args)
        self.assertEqual([], self.nodes.sent)
        self.assertEqual({}, self.images.rows)

    def test_logs(self):
        container = self._make()
        self.nodes.answers['container_logs'] = 'text'
        table = (({}, (True, True, False, None, None)),
                 ({'tail': '10', 'since': '5'}, (True, True, False, 10, '5')),
                 ({'tail': 'all', 'since': ''}, (True, True, False, None, None)),
                 ({'stdout': False, 'timestamps': True, 'tail': 3},
                  (False, True, True, 3, None)))
        for args, told in table:
            self.nodes.sent.clear()
            self.assertEqual('text', actions.logs(self.context, container, **args))
            self.assertEqual([('container_logs', (world.HOST, container.uuid, *told), {})],
                             self.nodes.sent)
        self.nodes.sent.clear()
        for name, values in (('tail', ('some', '-1', '1.5', '\u0661', '9' * 19, '1' * 5000)),
                             ('since', ('9' * 19, '\u0661', '2026-02-30 00:00:00,0'))):
            for value in values:
                error = self.assertRaises(exception.InvalidValue, actions.logs, self.context,
                                          container, **{name: value})
                self.assertIn(name, error.message)
        self.assertEqual('', actions.logs(self.context, container, stdout=False, stderr=False))
        self.assertEqual([], self.nodes.sent)

    def test_execute(self):
        container = self._make()
        self.config(group='websocket_proxy', base_url='wss://console.example:6784/')
        self.nodes.answers['container_exec'] = {
            'output': 'x', 'exit_code': 0, 'exec_id': None, 'token': None}
        self.assertEqual({'output': 'x', 'exit_code': 0, 'exec_id': None, 'proxy_url': None},
                         actions.execute(self.context, container, 'ls'))
        self.nodes.answers['container_exec'] = {
            'output': None, 'exit_code': None, 'exec_id': 'e', 'token': 't'}
        answer = actions.execute(self.context, container, 'sh', run=False, interactive=True)
        self.assertEqual(
            f'wss://console.example:6784/?token=t&uuid={container.uuid}&exec_id=e',
            answer['proxy_url'])
        self.assertEqual((world.HOST, container.uuid, 'sh', False, True), self.nodes.sent[-1][1])

    def test_attach(self):
        self.config(group='websocket_proxy', base_url='ws://h:1/')
        self.nodes.answers['container_attach'] = 't'
        container = self._make()
        self.assertEqual(f'ws://h:1/?token=t&uuid={container.uuid}',
                         actions.attach(self.context, container))
        self.assertRaises(exception.NoInteractiveFlag, actions.attach, self.context,
                          self._make(interactive=False))

    def test_numbers(self):
        container = self._make()
        actions.resize(self.context, container, '40', '120')
        actions.execute_resize(self.context, container, 'e', '1', '2')
        self.assertEqual([(world.HOST, container.uuid, 40, 120),
                          (world.HOST, container.uuid, 'e', 1, 2)],
                         [args for _method, args, _kwargs in self.nodes.sent])

    def test_errors_of_the_node_pass(self):
        self.nodes.answers['container_top'] = exception.Conflict('not running')
        self.assertRaises(exception.Conflict, actions.top, self.context, self._make())

    def test_commit(self):
        container = self._make()
        image = actions.commit(self.context, container, 'snap', 'v1')
        self.assertEqual({image: ('snap', ('v1',), {
            'zun_container_uuid': container.uuid, 'zun_host': world.HOST})}, self.images.rows)
        asked = objects.ContainerRequest.get(self.admin, container.uuid)
        self.assertEqual(('commit', {'repository': 'snap', 'tag': 'v1', 'image_uuid': image},
                          self.context.request_id),
                         (asked.operation, asked.operation_args, asked.operation_id))
        self.assertEqual([('container_commit',
                           (world.HOST, container.uuid, 'snap', 'v1', image), {})],
                         self.nodes.sent)
        self.assertEqual([('create', None), ('commit', None)], self.actions(container.uuid))

    def test_commit_fails(self):
        container = self._make()
        self.nodes.answers['container_commit'] = exception.NodeTimeout()
        self.assertRaises(exception.NodeTimeout, actions.commit, self.context, container, 'snap')
        self.assertEqual({}, self.images.rows)
        self.assertEqual([('create', None), ('commit', 'Error')], self.actions(container.uuid))
        self.assertIsNone(objects.ContainerRequest.get(self.admin, container.uuid).operation)

    def test_commit_to_what_is_no_name(self):
        container = self._make()
        for repository, tag in (('Snap', None), ('snap', 'no tag'), ('reg.example/snap', None),
                                ('127.0.0.1:5000/snap', None), ('snap:v1', None), ('', 'v1'),
                                ('snap', 'v1@sha256:' + 'a' * 64), ('a' * 256, None)):
            with self.subTest(repository=repository, tag=tag):
                self.assertRaises(exception.InvalidValue, actions.commit, self.context,
                                  container, repository, tag)
        self.assertEqual({}, self.images.rows)
        self.assertEqual([], self.nodes.sent)
