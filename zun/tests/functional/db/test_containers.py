# SPDX-License-Identifier: Apache-2.0
"""Containers and capsules in a real database."""

import concurrent.futures
import datetime
import typing as ty

from oslo_utils import uuidutils
import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.db import engine
from zun.db import models
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios


class TestCase(database.TestCase):
    def make(self, cls: type[ty.Any] = objects.Container, **values: ty.Any) -> ty.Any:
        made = cls(**{'name': 'name', 'image': 'nginx', 'project_id': 'project',
                      'user_id': 'user', 'status': 'Creating', **values})
        made.create(self.context)
        return made

    def stored(self, obj: ty.Any, column: str) -> ty.Any:
        """A column as it is in the database, past the types of ours."""
        raw = sa.table('container', sa.column('uuid'), sa.column(column))
        with engine.reader() as session:
            return session.execute(
                sa.select(raw.c[column]).where(raw.c.uuid == obj.uuid)).scalar_one()


class TestRow(TestCase):
    def test_defaults(self) -> None:
        made = self.make()
        found = objects.Container.get_by_uuid(self.context, made.uuid)
        self.assertEqual(made.as_dict(), found.as_dict())
        self.assertEqual(set(), found.obj_what_changed())
        for name in ('interactive', 'tty', 'auto_remove', 'auto_heal', 'privileged'):
            self.assertIs(False, getattr(found, name))
        self.assertEqual((0, 'shared', None), (found.disk, found.cpu_policy, found.updated_at))
        for name in ('command', 'ports', 'security_groups', 'entrypoint'):
            self.assertEqual('[]', self.stored(made, name))
        for name in ('environment', 'labels', 'addresses', 'restart_policy', 'healthcheck',
                     'exposed_ports', 'cpuset'):
            self.assertEqual('{}', self.stored(made, name))
        for name in ('annotations', 'cni_metadata', 'effective_command', 'exit_code'):
            self.assertIsNone(self.stored(made, name))

    def test_null_is_stored_as_the_empty_value(self) -> None:
        made = self.make(command=None, labels=None)
        self.assertEqual(([], {}), (made.command, made.labels))
        made.environment = None
        made.save()
        self.assertEqual('{}', self.stored(made, 'environment'))

    def test_every_field(self) -> None:
        values = {
            'container_id': 'f' * 64, 'cpu': 0.1, 'memory': '512', 'command': ['a', 'b c'],
            'cpuset': objects.Cpuset(cpuset_cpus={3, 1}, cpuset_mems={0}),
            'environment': {'A': 'ü'}, 'ports': [80, 443], 'labels': {'l': '"'},
            'addresses': {'net': [{'addr': '10.0.0.2', 'version': 4}]},
            'restart_policy': {'Name': 'always', 'MaximumRetryCount': '0'},
            'security_groups': ['sg'], 'healthcheck': {'test': 'x', 'interval': 30},
            'exposed_ports': {'80/tcp': {}}, 'annotations': {'k': [1]},
            'cni_metadata': {'pid': 1}, 'entrypoint': ['/bin/sh'], 'task_state': 'sg_adding',
            'started_at': datetime.datetime(2026, 1, 2, 3, 4, 5), 'exit_code': 137,
            'finished_at': datetime.datetime(2026, 1, 2, 3, 4, 6), 'health': 'healthy',
            'effective_command': ['nginx'], 'effective_entrypoint': [], 'disk': 7,
            'tty': True, 'host': 'node', 'status_reason': 'x' * 60000}
        made = self.make(**values)
        found = objects.Container.get_by_uuid(self.context, made.uuid)
        self.assertEqual({3, 1}, found.cpuset.cpuset_cpus)
        for name in values.keys() - {'cpuset'}:
            self.assertEqual(values[name], getattr(found, name), name)
        self.assertEqual('{"A": "\\u00fc"}', self.stored(made, 'environment'))
        self.assertEqual('["a", "b c"]', self.stored(made, 'command'))
        self.assertEqual('{"cpuset_cpus": [1, 3], "cpuset_mems": [0]}',
                         self.stored(made, 'cpuset'))
        self.assertEqual('{"net": [{"addr": "10.0.0.2", "version": 4}]}',
                         self.stored(made, 'addresses'))

    def test_too_long(self) -> None:
        for name, size, limit in (('name', 256, 255), ('status_detail', 51, 50),
                                  ('status_reason', 65536, 65535)):
            error = self.assertRaises(exception.InvalidParameterValue, self.make,
                                      **{name: 'x' * size})
            for part in (name, str(size), str(limit)):
                self.assertIn(part, error.message)
        error = self.assertRaises(exception.InvalidParameterValue, self.make,
                                  environment={'A': 'x' * 65536})
        self.assertIn('environment', error.message)
        self.make(annotations={'A': 'x' * 65536})
        made = self.make()
        made.hostname = 'x' * 256
        self.assertRaises(exception.InvalidParameterValue, made.save)

    def test_wrong_kind_of_json(self) -> None:
        made = self.make()
        made.addresses = []
        self.assertRaises(exception.InvalidParameterValue, made.save)

    def test_unknown_status_is_refused_on_read(self) -> None:
        made = self.make()
        with engine.writer() as session:
            session.execute(sa.update(models.container).values(status='Odd'))
        self.assertRaises(ValueError, objects.Container.get_by_uuid, self.context, made.uuid)

    def test_uuid_is_taken(self) -> None:
        made = self.make()
        self.assertRaises(exception.ContainerAlreadyExists, self.make, uuid=made.uuid)

    def test_statements_of_a_create(self) -> None:
        self.make()
        request = objects.ContainerRequest(run=True)
        with engine.statement_counter() as counter:
            made = objects.Container(name='n', project_id='project')
            made.create(self.context, request, 'create')
        self.assertEqual(3, counter.count, counter.statements)
        self.assertEqual(made.uuid, request.container_uuid)


class TestSave(TestCase):
    def test_only_what_changed(self) -> None:
        made = self.make()
        other = objects.Container.get_by_uuid(self.context, made.uuid)
        other.status_reason = 'theirs'
        other.save()
        made.host = 'node'
        made.save()
        self.assertIsNotNone(made.updated_at)
        found = objects.Container.get_by_uuid(self.context, made.uuid)
        self.assertEqual(('node', 'theirs'), (found.host, found.status_reason))

    def test_nothing_changed(self) -> None:
        made = self.make()
        with engine.statement_counter() as counter:
            made.save(expected={'status': 'Running'})
        self.assertEqual(0, counter.count)

    def test_compare_and_swap(self) -> None:
        for expected, goes in (({'status': 'Creating'}, True), ({'status': 'Running'}, False),
                               ({'status': ('Running', 'Creating')}, True),
                               ({'host': None}, True), ({'host': 'x'}, False),
                               ({'task_state': ('sg_adding', None)}, True),
                               ({'status': 'Creating', 'host': 'x'}, False),
                               ({'status': ()}, False)):
            made = self.make()
            made.status_reason = 'swapped'
            if goes:
                made.save(expected=expected)
                made.refresh()
                self.assertEqual('swapped', made.status_reason)
            else:
                self.assertRaises(exception.Conflict, made.save, expected=expected)
                self.assertIn('status_reason', made.obj_what_changed())
                made.refresh()
                self.assertIsNone(made.status_reason)
                self.assertEqual(set(), made.obj_what_changed())

    def test_same_value_is_a_success(self) -> None:
        made = self.make()
        made.status = 'Creating'
        made.save(expected={'status': 'Creating'})
        self.assertEqual(set(), made.obj_what_changed())

    def test_gone(self) -> None:
        made = self.make()
        self.assertTrue(made.destroy())
        made.status = 'Running'
        self.assertRaises(exception.ContainerNotFound, made.save)
        self.assertRaises(exception.ContainerNotFound, made.refresh)

    def test_one_of_many_wins(self) -> None:
        made = self.make()

        def move(number: int) -> bool:
            mine = objects.Container.get_by_uuid(self.admin, made.uuid)
            mine.host = f'node{number}'
            try:
                mine.save(expected={'host': None, 'status': 'Creating'})
            except exception.Conflict:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(move, range(16))))

    def test_uuid_does_not_change(self) -> None:
        made = self.make()
        made.uuid = uuidutils.generate_uuid()
        self.assertRaises(exception.InvalidParameterValue, made.save)


class TestScope(TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.mine = self.make(name='mine')
        self.theirs = self.make(name='theirs', project_id='other', user_id='somebody')

    def _seen(self, **context: ty.Any) -> list[str]:
        found = zun_context.RequestContext(overwrite=False, **context)
        listed = [container.name for container in objects.Container.list(found)]
        for container in (self.mine, self.theirs):
            if container.name in listed:
                objects.Container.get_by_uuid(found, container.uuid)
                objects.Container.get_by_name(found, container.name)
                objects.ContainerBase.get_any_type(found, container.uuid)
            else:
                for call, ident in ((objects.Container.get_by_uuid, container.uuid),
                                    (objects.Container.get_by_name, container.name),
                                    (objects.ContainerBase.get_any_type, container.uuid)):
                    error = self.assertRaises(exception.ContainerNotFound, call, found, ident)
                    self.assertIn(ident, error.message)
        return listed

    def test_project(self) -> None:
        self.assertEqual(['mine'], self._seen(project_id='project', user_id='nobody'))
        self.assertEqual([], self._seen(project_id='third', user_id='user'))

    def test_user_without_project(self) -> None:
        self.assertEqual(['theirs'], self._seen(user_id='somebody'))

    def test_administrators(self) -> None:
        self.assertEqual(['mine'], self._seen(project_id='project', is_admin=True))
        self.assertEqual(['mine'], self._seen(project_id='project', all_projects=True))
        self.assertEqual(['mine', 'theirs'], self._seen(
            project_id='project', is_admin=True, all_projects=True))

    def test_types(self) -> None:
        capsule = self.make(objects.Capsule, name='mine')
        self.assertEqual([self.mine.uuid], [
            found.uuid for found in objects.Container.list(self.context)])
        self.assertEqual(capsule.uuid, objects.Capsule.get_by_name(self.context, 'mine').uuid)
        self.assertRaises(exception.ContainerNotFound, objects.Container.get_by_uuid,
                          self.context, capsule.uuid)
        self.assertIsInstance(objects.ContainerBase.get_any_type(self.context, capsule.uuid),
                              objects.Capsule)

    def test_ambiguous_name(self) -> None:
        self.make(name='mine')
        error = self.assertRaises(exception.Conflict, objects.Container.get_by_name,
                                  self.context, 'mine')
        self.assertEqual('Multiple containers exist with same name. Please use the container '
                         'uuid instead.', error.message)

    def test_by_host(self) -> None:
        self.make(name='a', host='node')
        self.make(name='b', host='node', project_id='other')
        self.make(name='c', host='else')
        with engine.statement_counter() as counter:
            found = objects.Container.list_by_host(self.admin, 'node')
        self.assertEqual(['a', 'b'], [container.name for container in found])
        self.assertEqual(1, counter.count)


class TestUniqueNames(TestCase):
    def test_no_scope(self) -> None:
        self.make()
        self.make()

    def test_project(self) -> None:
        self.config(group='compute', unique_container_name_scope='project')
        first = self.make(name='Web')
        error = self.assertRaises(exception.ContainerAlreadyExists, self.make, name='wEB')
        self.assertEqual('A container with name web already exists.', error.message)
        self.make(name='Web', project_id='other')
        other = self.make(name='db')
        other.name = 'WEB'
        self.assertRaises(exception.ContainerAlreadyExists, other.save)
        first.name = 'web'
        first.save()

    def test_global(self) -> None:
        self.config(group='compute', unique_container_name_scope='global')
        self.make(name='web')
        self.assertRaises(exception.ContainerAlreadyExists, self.make, name='web',
                          project_id='other')

    def test_race(self) -> None:
        self.config(group='compute', unique_container_name_scope='global')

        def create(number: int) -> bool:
            try:
                self.make(name='web', project_id=f'project{number}')
            except exception.ContainerAlreadyExists:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(1, sum(pool.map(create, range(8))))


class TestCapsules(TestCase):
    def _make(self) -> objects.Capsule:
        def member(cls: type[ty.Any], name: str) -> ty.Any:
            return cls(name=name, project_id='project', user_id='user', status='Creating')
        return self.make(objects.Capsule, name='pod', containers=[
            member(objects.CapsuleContainer, 'one'), member(objects.CapsuleContainer, 'two')],
            init_containers=[member(objects.CapsuleInitContainer, 'first')])

    def test_members_are_created_with_it(self) -> None:
        made = self._make()
        self.assertEqual([made.id] * 2, [member.capsule_id for member in made.containers])
        found = objects.Capsule.get_by_uuid(self.context, made.uuid)
        with engine.statement_counter() as counter:
            self.assertEqual(['one', 'two'], [member.name for member in found.containers])
            self.assertEqual(['first'], [member.name for member in found.init_containers])
        self.assertEqual(1, counter.count)
        self.assertEqual(['one', 'two'], [
            member.name for member in
            objects.CapsuleContainer.list_by_capsule_id(self.context, made.id)])
        self.assertEqual(['first'], [
            member.name for member in
            objects.CapsuleInitContainer.list_by_capsule_id(self.context, made.id)])

    def test_members_of_many_in_one_query(self) -> None:
        for _ in range(3):
            self._make()
        with engine.statement_counter() as counter:
            found = objects.Capsule.list(self.context)
            objects.Capsule.load_members(self.context, found)
            self.assertEqual([3] * 3, [
                len(capsule.containers + capsule.init_containers) for capsule in found])
        self.assertEqual(2, counter.count)

    def test_all_or_nothing(self) -> None:
        taken = self.make()
        self.assertRaises(
            exception.ContainerAlreadyExists, self.make, objects.Capsule, name='pod',
            containers=[objects.CapsuleContainer(uuid=taken.uuid, name='one')])
        self.assertEqual([], objects.Capsule.list(self.context))

    def test_members_go_with_it(self) -> None:
        made = self._make()
        mapping = objects.VolumeMapping(
            project_id='project', user_id='user', container_uuid=made.containers[0].uuid,
            container_path='/data', volume_provider='local')
        mapping.create(self.context)
        self.assertTrue(made.destroy())
        with engine.reader() as session:
            for table in (models.container, models.volume, models.volume_mapping):
                self.assertEqual([], session.execute(sa.select(table)).all())


class TestDestroy(TestCase):
    def _count(self, *tables: sa.Table) -> list[int]:
        with engine.reader() as session:
            return [session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
                    for table in tables]

    def _map(self, container: objects.Container, **values: ty.Any) -> objects.VolumeMapping:
        mapping = objects.VolumeMapping(
            project_id='project', user_id='user', container_uuid=container.uuid,
            container_path='/data', **values)
        mapping.create(self.context)
        return mapping

    def test_all_that_hangs_on_it(self) -> None:
        made = self.make()
        objects.ContainerRequest.get(self.context, made.uuid)
        action = objects.ContainerAction.start(self.context, made.uuid, 'create')
        objects.ContainerActionEvent.start(self.context, 'compute_create', action.id)
        objects.ExecInstance(container_id=made.id, exec_id='e').create(self.context)
        self._map(made, volume_provider='local')
        tables = (models.container, models.container_request, models.container_actions,
                  models.container_actions_events, models.exec_instance, models.volume_mapping,
                  models.volume)
        self.assertEqual([1] * len(tables), self._count(*tables))
        with engine.statement_counter() as counter:
            self.assertTrue(made.destroy())
        self.assertLessEqual(counter.count, 8)
        self.assertEqual([0] * len(tables), self._count(*tables))
        self.assertFalse(made.destroy())

    def test_volume_that_another_uses_stays(self) -> None:
        first, second = self.make(), self.make()
        mapping = self._map(first, volume_provider='cinder')
        self._map(second, volume_id=mapping.volume_id)
        first.destroy()
        self.assertEqual([1, 1], self._count(models.volume_mapping, models.volume))
        second.destroy()
        self.assertEqual([0, 0], self._count(models.volume_mapping, models.volume))

    def test_racing_mappings_leave_no_volume(self) -> None:
        first = self.make()
        others = [self.make() for _ in range(5)]
        mapping = self._map(first, volume_provider='cinder')
        for other in others:
            self._map(other, volume_id=mapping.volume_id)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            self.assertEqual([True] * 6, list(pool.map(
                lambda container: container.destroy(), [first, *others])))
        self.assertEqual([0, 0, 0], self._count(
            models.container, models.volume_mapping, models.volume))

    def test_mapping_into_a_container_that_is_gone(self) -> None:
        made = self.make()
        made.destroy()
        self.assertRaises(exception.ContainerNotFound, self._map, made, volume_provider='local')
        self.assertEqual([0], self._count(models.volume))


class TestLazyFields(TestCase):
    def test_registry(self) -> None:
        registry = objects.Registry(domain='example.org', project_id='project')
        registry.create(self.context)
        made = self.make(registry_id=registry.id)
        self.assertEqual('example.org', made.registry.domain)
        self.assertIsNone(self.make().registry)
        other = self.make()
        self.assertEqual({registry.id: registry.uuid}, objects.Registry.uuids(
            self.context, [made.registry_id, other.registry_id]))
        self.assertRaises(exception.Conflict, registry.destroy)

    def test_lists(self) -> None:
        made = self.make()
        self.assertEqual(([], []), (made.exec_instances, made.pci_devices))
        objects.ExecInstance(container_id=made.id, exec_id='e', token='t').create(self.context)
        self.assertEqual([], made.exec_instances)
        made.refresh()
        self.assertEqual(['e'], [found.exec_id for found in made.exec_instances])
