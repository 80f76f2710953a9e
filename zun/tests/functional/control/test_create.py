# SPDX-License-Identifier: Apache-2.0
"""Create: what is stored, what is refused, and that nothing is left of what was refused."""

import base64
import threading

import testscenarios

from zun import objects
from zun.common import exception
from zun.control import clients
from zun.control import containers
from zun.control import quotas
from zun.db import engine
from zun.network import embedded
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios
_FILE = {'type': 'bind', 'source': base64.b64encode(b'hello').decode(),
         'destination': '/etc/motd'}


class CreateTest(world.TestCase):
    def _create(self, **values):
        return containers.create(self.context, {'image': 'busybox', **values})

    def _nothing_left(self):
        self.assertEqual([], objects.Container.list(self.admin))
        self.assertEqual([], objects.VolumeMapping.list(self.admin))
        self.assertEqual([''], sorted({
            port['device_id'] for port in self.neutron.store['ports'].values()} | {''}))
        self.assertEqual([], self.scheduler.asked)

    def test_least(self):
        made = self._create()
        row = objects.Container.get_by_uuid(self.context, made.uuid)
        self.assertEqual(
            ('Creating', 'busybox', 1.0, '512', 0, 'shared', 'docker', None, None, False, {}),
            (row.status, row.image, row.cpu, row.memory, row.disk, row.cpu_policy,
             row.image_driver, row.image_pull_policy, row.host, row.auto_remove,
             row.restart_policy))
        self.assertRegex(row.name, '^[a-z]+-[0-9]+-container$')
        self.assertEqual(('project', 'user'), (row.project_id, row.user_id))
        self.assertEqual([(made.uuid, 0)], self.scheduler.asked)
        self.assertEqual([('create', None)], self.actions(made.uuid))

    def test_request(self):
        self.config(group='scheduler', reap_after=90)
        made = self._create(run=True, hints={'label:a': 'b'}, availability_zone='z')
        asked = self.request(made.uuid)
        self.assertEqual((True, {'label:a': 'b'}, 'z', None, 0, 'create', False),
                         (asked.run, asked.hints, asked.availability_zone, asked.requested_host,
                          asked.generation, asked.operation, asked.claimed))
        self.assertEqual(self.context.request_id, asked.operation_id)
        self.assertEqual(['private'], [net['network'] for net in asked.requested_networks])
        self.assertEqual({}, asked.requested_volumes)
        with engine.reader() as session:
            left = (asked.retry_at - engine.now(session)).total_seconds()
        self.assertTrue(80 < left <= 90, left)

    def test_most(self):
        self.neutron.add('security-groups', 'g1', name='web', project_id='project')
        self.neutron.add('ports', 'p1', project_id='project', network_id='private')
        registry = objects.Registry(self.context, uuid='7e000000-0000-4000-8000-000000000001',
                                    name='reg', domain='reg.example', project_id='project')
        registry.create(self.context)
        volume = self.volumes.add('data')
        made = self._create(
            name='full', command=['sleep', '1'], entrypoint=['/x'], cpu='0.5', memory='064',
            disk='3', environment={'A': 'b'}, labels={'a': '1'}, workdir='/w', hostname='h',
            interactive=True, tty=True, image_pull_policy='IfNotPresent',
            restart_policy={'Name': 'on-failure', 'MaximumRetryCount': 3},
            security_groups=['web'], nets=[{'port': 'p1'}], exposed_ports={'80': {}},
            healthcheck={'test': 'ls', 'interval': 3}, registry='reg', host=world.HOST,
            mounts=[{'source': 'data', 'destination': '/d'}, _FILE,
                    {'size': 2, 'destination': '/e'}])
        row = objects.Container.get_by_uuid(self.context, made.uuid)
        self.assertEqual(
            (['sleep', '1'], ['/x'], 0.5, '64', 3, 'ifnotpresent', ['g1'], {'80/tcp': {}},
             {'Name': 'on-failure', 'MaximumRetryCount': '3'}, registry.id),
            (row.command, row.entrypoint, row.cpu, row.memory, row.disk, row.image_pull_policy,
             row.security_groups, row.exposed_ports, row.restart_policy, row.registry_id))
        self.assertEqual(world.HOST, self.request(made.uuid).requested_host)
        self.assertEqual(made.uuid, self.neutron.store['ports']['p1']['device_id'])
        mappings = objects.VolumeMapping.list_by_container(self.context, made.uuid)
        self.assertEqual(
            [('/d', 'cinder', volume, False, None),
             ('/etc/motd', 'local', None, False, _FILE['source'])],
            [(m.container_path, m.volume_provider, m.cinder_volume_id, m.auto_remove, m.contents)
             for m in mappings[:2]])
        self.assertTrue(mappings[2].auto_remove)
        self.assertIn(mappings[2].cinder_volume_id, self.volumes.rows)
        self.assertEqual({made.uuid: [m.uuid for m in mappings]},
                         self.request(made.uuid).requested_volumes)

    def test_refusals(self):
        self.neutron.add('networks', 'outside', project_id='x', **{'router:external': True})
        self.neutron.add('ports', 'used', project_id='project', network_id='private',
                         device_id='x')
        self.volumes.add('foreign', **{'os-vol-tenant-attr:tenant_id': 'x'})
        self.volumes.add('busy', attachments=[{}])
        self.neutron.store['ports']['used']['status'] = 'ACTIVE'
        table = (
            ({'security_groups': ['nope']}, exception.InvalidValue),
            ({'cpu': 99}, exception.OverQuota),
            ({'nets': [{'network': 'nope'}]}, exception.NetworkNotFound),
            ({'nets': [{'network': 'outside'}]}, exception.ExternalNetworkAttachForbidden),
            ({'mounts': [{'type': 'x', 'source': 'a', 'destination': '/d'}]},
             exception.InvalidValue),
            ({'mounts': [{'source': 'nope', 'destination': '/d'}]}, exception.VolumeNotFound),
            ({'mounts': [{'source': 'foreign', 'destination': '/d'}]},
             exception.VolumeNotUsable),
            ({'mounts': [{'source': 'busy', 'destination': '/d'}]}, exception.VolumeInUse),
            ({'restart_policy': {'Name': 'always', 'MaximumRetryCount': '1'}},
             exception.InvalidValue),
            ({'restart_policy': {'Name': 'always'}, 'auto_remove': True},
             exception.InvalidValue),
            ({'exposed_ports': {'80/x': {}}}, exception.InvalidValue),
            ({'labels': {'zun.uuid': 'x'}}, exception.InvalidValue),
            ({'registry': 'nope'}, exception.RegistryNotFound),
            ({'host': 'nope'}, exception.RequestedHostNotFound),
            ({'workdir': '/' + 'x' * 255}, exception.InvalidParameterValue),
        )
        for values, expected in table:
            self.assertRaises(expected, self._create, **values)
        del self.neutron.store['ports']['used']
        self._nothing_left()

    def test_refusals_come_in_order(self):
        everything = {
            'security_groups': ['nope'], 'cpu': 99, 'nets': [{'network': 'nope'}],
            'mounts': [{'source': 'nope', 'destination': '/d'}],
            'restart_policy': {'Name': 'always', 'MaximumRetryCount': '1'},
            'registry': 'nope', 'host': 'nope'}
        for member, expected in (
                ('security_groups', exception.InvalidValue), ('cpu', exception.OverQuota),
                ('nets', exception.NetworkNotFound), ('restart_policy', exception.InvalidValue),
                ('registry', exception.RegistryNotFound), ('mounts', exception.VolumeNotFound),
                ('host', exception.RequestedHostNotFound)):
            self.assertRaises(expected, self._create, **everything)
            del everything[member]
        self._create(**everything)

    def test_auto_remove_without_restarts(self):
        self.assertTrue(self._create(auto_remove=True, restart_policy={'Name': 'no'}).auto_remove)

    def test_what_was_made_is_undone(self):
        self.neutron.add('ports', 'p1', project_id='project', network_id='private')
        self.config(group='compute', unique_container_name_scope='project')
        first = self._create(name='taken')
        self.scheduler.asked.clear()
        wanted = {'name': 'taken', 'nets': [{'port': 'p1'}],
                  'mounts': [{'size': 1, 'destination': '/d'}, _FILE]}
        self.assertRaises(exception.ContainerAlreadyExists, self._create, **wanted)
        self.assertEqual({}, self.volumes.rows)
        first.destroy()
        self._nothing_left()

    def test_volume_cannot_be_made(self):
        self.volumes.error = exception.VolumeCreateFailed(creation_failed='quota')
        self.assertRaises(exception.VolumeCreateFailed, self._create,
                          mounts=[{'size': 1, 'destination': '/d'}])
        self._nothing_left()

    def test_port_is_lost_to_somebody_faster(self):
        self.neutron.add('ports', 'p1', project_id='project', network_id='private')

        def snatch(row):
            row.update(device_id='other', revision_number=9)
        self.neutron.before_update = snatch
        self.assertRaises(exception.PortInUse, self._create, nets=[{'port': 'p1'}],
                          mounts=[{'size': 1, 'destination': '/d'}])
        self.assertEqual({}, self.volumes.rows)
        self.assertEqual([], objects.Container.list(self.admin))

    def test_bus_down(self):
        self.scheduler.error = exception.BusUnavailable(reason='x')
        made = self._create()
        self.assertEqual('Creating', objects.Container.get_by_uuid(self.context,
                                                                   made.uuid).status)
        self.assertIsNotNone(self.request(made.uuid).retry_at)

    def test_external_network_of_an_administrator(self):
        self.neutron.add('networks', 'outside', project_id='x', **{'router:external': True})
        made = containers.create(self.administrator, {'image': 'busybox',
                                                      'nets': [{'network': 'outside'}]})
        self.assertEqual('outside', self.request(made.uuid).requested_networks[0]['network'])

    def test_statements(self):
        self._create()  # the row of the project's lock is made once
        for network in (clients.get().network, embedded.EmbeddedDriver()):
            clients.get().network = network
            with engine.statement_counter() as counter:
                self._create()
            self.assertLessEqual(counter.count, 5, counter.statements)


class ImageValidationTest(world.TestCase):
    def _create(self, found):
        self.config(group='api', enable_image_validation=True)
        self.nodes.answers['image_search'] = found
        return containers.create(self.context, {'image': 'busybox'})

    def test_found(self):
        self._create([{'name': 'busybox'}])
        self.assertEqual([('image_search', (None, 'busybox', 'docker', True), {})],
                         self.nodes.sent)

    def test_refused(self):
        table = (([], exception.ImageNotFound), ([{}, {}], exception.Conflict),
                 (exception.ReferenceInvalidFormat(reference='busybox'), exception.InvalidValue))
        for found, expected in table:
            self.assertRaises(expected, self._create, found)
        self.assertEqual([], objects.Container.list(self.admin))

    def test_skipped(self):
        for trouble in (exception.OperationNotSupported(driver='docker', method='search'),
                        exception.NodeTimeout()):
            self._create(trouble)
        self.config(group='api', enable_image_validation=False)
        self.nodes.sent.clear()
        containers.create(self.context, {'image': 'busybox'})
        self.assertEqual([], self.nodes.sent)


class QuotaRaceTest(world.TestCase):
    def test_room_for_five(self):
        """20 parallel creates with room for 5 give exactly 5."""
        quotas.update(self.administrator, 'project', {'containers': 5})
        barrier = threading.Barrier(20)
        made, refused, other = [], [], []

        def create():
            barrier.wait()
            try:
                made.append(containers.create(self.as_user('project'), {'image': 'busybox'}))
            except exception.OverQuota as error:
                refused.append(error.message)
            except Exception as error:  # noqa: BLE001 - told by the assertion
                other.append(error)
        threads = [threading.Thread(target=create) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(([], 5, 15), (other, len(made), len(refused)))
        self.assertEqual({"Quota exceeded for resources: ['containers']"}, set(refused))
        self.assertEqual(5, len(objects.Container.list(self.context)))
        self.assertEqual(5, quotas.usages(self.context, 'project')['containers']['in_use'])
