# SPDX-License-Identifier: Apache-2.0
"""Capsules: members, amounts, volumes, and that nothing is left of what was refused."""

import testscenarios

from zun import objects
from zun.common import exception
from zun.control import capsules
from zun.control import quotas
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios


def _template(*containers, init=(), volumes=(), **metadata):
    spec = {'containers': list(containers) or [{'image': 'nginx'}]}
    if init:
        spec['initContainers'] = list(init)
    if volumes:
        spec['volumes'] = list(volumes)
    return {'kind': 'capsule', 'metadata': metadata, 'spec': spec}


def _member(*mounts, image='nginx', **requests):
    return {'image': image, 'resources': {'requests': requests},
            'volumeMounts': [{'name': name, 'mountPath': path} for name, path in mounts]}


class CapsuleTest(world.TestCase):
    def _create(self, template):
        return capsules.create(self.context, template)

    def _nothing_left(self):
        self.assertEqual([], objects.Capsule.list(self.admin))
        self.assertEqual([], objects.CapsuleContainer.list(self.admin))
        self.assertEqual([], objects.VolumeMapping.list(self.admin))
        self.assertEqual([], self.scheduler.asked)

    def test_create(self):
        made = self._create({
            **_template({'image': 'nginx', 'command': ['nginx'], 'args': ['-g'],
                         'env': {'A': 'b'}, 'workDir': '/srv', 'stdin': True, 'tty': False,
                         'ports': [{'containerPort': 80}],
                         'resources': {'requests': {'cpu': '1', 'memory': 512}}},
                        {'image': 'redis', 'imagePullPolicy': 'Never'},
                        init=[{'image': 'busybox'}], name='cap', labels={'a': 'b'},
                        annotations={'n': 1}),
            'availabilityZone': 'z'})
        capsule = objects.Capsule.get_by_uuid(self.context, made.uuid)
        self.assertEqual(
            ('cap', 'Creating', 1.0, '512', {'a': 'b'}, {'n': 1}, 'kubernetes/pause',
             {'Name': 'always', 'MaximumRetryCount': '0'}),
            (capsule.name, capsule.status, capsule.cpu, capsule.memory, capsule.labels,
             capsule.annotations, capsule.image, capsule.restart_policy))
        first, second = capsule.containers
        self.assertEqual(
            ('nginx', ['nginx', '-g'], {'A': 'b'}, '/srv', True, False, {'80/tcp': {}}, 1.0,
             '512', 'always', 'Creating', None),
            (first.image, first.command, first.environment, first.workdir, first.interactive,
             first.tty, first.exposed_ports, first.cpu, first.memory, first.image_pull_policy,
             first.status, first.image_driver))
        self.assertEqual((None, None, 'always', capsule.restart_policy),
                         (second.cpu, second.memory, second.image_pull_policy,
                          second.restart_policy))
        self.assertRegex(first.name, '^capsule-cap-[a-z]+-[0-9]+$')
        self.assertEqual({'Name': 'on-failure', 'MaximumRetryCount': '10'},
                         capsule.init_containers[0].restart_policy)
        self.assertTrue(capsule.init_containers[0].id < first.id < second.id)
        asked = self.request(made.uuid)
        self.assertEqual(('z', False, ['private']),
                         (asked.availability_zone, asked.run,
                          [net['network'] for net in asked.requested_networks]))
        self.assertEqual([(made.uuid, 0)], self.scheduler.asked)
        self.assertEqual([('create', None)], self.actions(made.uuid))

    def test_text_and_no_name(self):
        made = self._create('{"kind": "Capsule", "metadata": {}, "spec": '
                            '{"containers": [{"image": "nginx"}], "restartPolicy": "Never"}}')
        self.assertIsNone(made.name)
        self.assertEqual({'Name': 'no', 'MaximumRetryCount': '0'}, made.restart_policy)
        self.assertTrue(made.containers[0].name.startswith(f'capsule-{made.uuid}-'))

    def test_pull_policy_of_an_administrator(self):
        self.neutron.store['networks']['private']['shared'] = True
        made = capsules.create(self.administrator, _template(
            {'image': 'nginx', 'imagePullPolicy': 'Never'}))
        self.assertEqual('never', made.containers[0].image_pull_policy)

    def test_volumes(self):
        data = self.volumes.add('data')
        made = self._create(_template(
            _member(('vol', '/a'), ('nope', '/n')), _member(('vol', '/b'), ('new', '/n')),
            init=[_member(('vol', '/c'))],
            volumes=[{'name': 'vol', 'cinder': {'volumeID': data}},
                     {'name': 'new', 'cinder': {'size': 2, 'autoRemove': True}}]))
        init, first, second = (*made.init_containers, *made.containers)
        found = {}
        for mapping in objects.VolumeMapping.list(self.context):
            found.setdefault(mapping.volume_id, []).append(mapping)
        shared, own = (found[key] for key in sorted(found))
        self.assertEqual({(init.uuid, '/c'), (first.uuid, '/a'), (second.uuid, '/b')},
                         {(m.container_uuid, m.container_path) for m in shared})
        self.assertEqual({(data, False)},
                         {(m.cinder_volume_id, m.auto_remove) for m in shared})
        self.assertEqual([(second.uuid, '/n', True)],
                         [(m.container_uuid, m.container_path, m.auto_remove) for m in own])
        self.assertEqual({init.uuid, first.uuid, second.uuid},
                         set(self.request(made.uuid).requested_volumes))

    def test_refused(self):
        busy = self.volumes.add('busy', attachments=[{}])
        mounted = _member(('vol', '/a'))
        missing = '99999999-0000-4000-8000-000000000000'
        table = (
            ('not json', exception.FailedParseStringToJson),
            ({'kind': 'pod'}, exception.InvalidCapsuleTemplate),
            (_template({}), exception.InvalidCapsuleTemplate),
            (_template(volumes=[{'name': 'vol', 'cinder': {'size': 1}}]), exception.Invalid),
            (_template(mounted, volumes=[{'name': 'vol', 'cinder': {}}]),
             exception.InvalidCapsuleTemplate),
            (_template(mounted, volumes=[{'name': 'vol', 'cinder': {'volumeID': missing}}]),
             exception.VolumeNotFound),
            (_template(mounted, volumes=[{'name': 'vol', 'cinder': {'volumeID': busy}}]),
             exception.VolumeInUse),
            (_template(_member(cpu=99)), exception.OverQuota),
            (_template(labels={'zun.x': 'y'}), exception.InvalidValue),
        )
        for template, expected in table:
            self.assertRaises(expected, self._create, template)
        self.neutron.store['networks'].clear()
        self.assertRaises(exception.Conflict, self._create, _template(
            mounted, volumes=[{'name': 'vol', 'cinder': {'size': 1}}]))
        self.assertEqual({busy}, set(self.volumes.rows))
        self._nothing_left()

    def test_made_volumes_are_removed(self):
        self.config(group='compute', unique_container_name_scope='project')
        self._create(_template(name='cap'))
        self.assertRaises(exception.ContainerAlreadyExists, self._create, _template(
            _member(('vol', '/a')), name='cap',
            volumes=[{'name': 'vol', 'cinder': {'size': 1}}]))
        self.assertEqual({}, self.volumes.rows)

    def test_quota(self):
        quotas.update(self.administrator, 'project', {'containers': 1})
        self._create(_template())
        self.assertRaises(exception.OverQuota, self._create, _template())
        self.config(group='quota', count_capsules=False)
        self._create(_template())
        self.assertEqual(0, quotas.usages(self.context, 'project')['containers']['in_use'])


class DeleteTest(world.TestCase):
    def _make(self, **values):
        made = capsules.create(self.context, _template(
            _member(('vol', '/a')), volumes=[
                {'name': 'vol', 'cinder': {'size': 1, 'autoRemove': True}}]))
        self.context = self.as_user('project')
        return self.placed(made, **values)

    def test_without_host(self):
        capsule = self._make(status='Error', host=None)
        capsules.delete(self.context, capsule)
        self.assertEqual([], objects.Capsule.list(self.admin))
        self.assertEqual([], objects.CapsuleContainer.list(self.admin))
        self.assertEqual({}, self.volumes.rows)

    def test_with_host(self):
        capsule = self._make(status='Running')
        capsules.delete(self.context, capsule)
        row = objects.Capsule.get_by_uuid(self.admin, capsule.uuid)
        self.assertEqual(('Deleting', 'container_deleting'), (row.status, row.task_state))
        self.assertEqual([('container_delete', (world.HOST, capsule.uuid),
                           {'force': False, 'stop': False})], self.nodes.sent)
        self.assertEqual(['create', 'delete'], [a for a, _ in self.actions(capsule.uuid)])
        capsules.delete(self.context, row)

    def test_host_down(self):
        capsule = self._make(status='Running')
        self.host_down()
        self.assertRaises(exception.ContainerHostNotUp, capsules.delete, self.context, capsule)
