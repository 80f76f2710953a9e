# SPDX-License-Identifier: Apache-2.0
"""Registries, images, networks, volumes and exec instances."""

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


class TestRegistries(database.TestCase):
    def make(self, **values: ty.Any) -> objects.Registry:
        made = objects.Registry(**{'domain': 'example.org', 'name': 'r', 'project_id': 'project',
                                   'user_id': 'user', **values})
        made.create(self.context)
        return made

    def _stored(self) -> str | None:
        with engine.reader() as session:
            return session.execute(sa.select(models.registry.c.password)).scalar_one()

    def test_password_is_stored_encrypted(self) -> None:
        made = self.make(password='s3cret', username='bob')
        self.assertNotIn('s3cret', self._stored())
        self.assertEqual(self._stored(), made.password)
        found = objects.Registry.get_by_uuid(self.context, made.uuid)
        self.assertEqual('s3cret', found.plain_password())
        found.password = 'other'
        self.assertEqual('other', found.plain_password())
        found.save()
        self.assertNotIn('other', self._stored())
        self.assertEqual('other', found.plain_password())
        found.password = None
        found.save()
        self.assertIsNone(self._stored())
        self.assertIsNone(found.plain_password())

    def test_long_password(self) -> None:
        made = self.make(password='x' * 4000)
        self.assertEqual('x' * 4000,
                         objects.Registry.get_by_id(self.context, made.id).plain_password())
        self.assertRaises(exception.InvalidParameterValue, self.make, password='x' * 60000)

    def test_list_needs_no_key(self) -> None:
        self.make(password='s3cret')
        self.config(auth_encryption_key='another key of 32 characters, at least')
        found = objects.Registry.list(self.context)[0]
        self.assertRaises(exception.InvalidEncryptionKey, found.plain_password)

    def test_by_name(self) -> None:
        made = self.make()
        self.assertEqual(made.uuid, objects.Registry.get_by_name(self.context, 'r').uuid)
        self.make()
        error = self.assertRaises(exception.Conflict, objects.Registry.get_by_name,
                                  self.context, 'r')
        self.assertEqual('Multiple registries exist with same name. Please use the registry '
                         'uuid instead.', error.message)
        self.assertRaises(exception.RegistryNotFound, objects.Registry.get_by_name,
                          self.context, 'none')

    def test_scope(self) -> None:
        made = self.make()
        other = zun_context.RequestContext(project_id='other', overwrite=False)
        for call, ident in ((objects.Registry.get_by_uuid, made.uuid),
                            (objects.Registry.get_by_id, made.id)):
            self.assertRaises(exception.RegistryNotFound, call, other, ident)
        self.assertEqual([], objects.Registry.list(other))
        self.assertEqual(1, len(objects.Registry.list(self.admin)))

    def test_gone(self) -> None:
        made = self.make()
        self.assertTrue(made.destroy())
        self.assertFalse(made.destroy())
        made.name = 'x'
        self.assertRaises(exception.RegistryNotFound, made.save)

    def test_many_uuids(self) -> None:
        made = [self.make() for _ in range(3)]
        with engine.statement_counter() as counter:
            self.assertEqual({m.id: m.uuid for m in made}, objects.Registry.uuids(
                self.context, [*(m.id for m in made), None, made[0].id]))
        self.assertEqual(1, counter.count)
        with engine.statement_counter() as counter:
            self.assertEqual({}, objects.Registry.uuids(self.context, [None]))
        self.assertEqual(0, counter.count)


class TestImages(database.TestCase):
    def make(self, **values: ty.Any) -> objects.Image:
        made = objects.Image(**{'repo': 'nginx', 'tag': 'latest', 'host': 'node',
                                'project_id': 'project', 'user_id': 'user', **values})
        made.pull(self.context)
        return made

    def test_one_per_host(self) -> None:
        made = self.make(size='1')
        error = self.assertRaises(exception.ImageAlreadyExists, self.make, project_id='other')
        self.assertEqual('An image with tag latest and repo nginx already exists.',
                         error.message)
        self.make(host='other')
        made.image_id = 'sha256:' + 'a' * 64
        made.save()
        self.assertEqual(made.image_id,
                         objects.Image.get_by_uuid(self.context, made.uuid).image_id)

    def test_filters_and_scope(self) -> None:
        self.make()
        self.make(repo='redis')
        self.make(repo='redis', host='other', project_id='other')
        self.assertEqual(['redis'], [image.repo for image in objects.Image.list(
            self.context, filters={'repo': 'redis'})])
        self.assertEqual(2, len(objects.Image.list(self.admin, filters={'repo': ['redis']})))

    def test_gone(self) -> None:
        made = self.make()
        self.assertTrue(made.destroy())
        self.assertFalse(made.destroy())
        made.size = '2'
        self.assertRaises(exception.ImageNotFound, made.save)
        self.assertRaises(exception.ImageNotFound, objects.Image.get_by_uuid, self.context,
                          made.uuid)


class TestNetworks(database.TestCase):
    def make(self, **values: ty.Any) -> objects.ZunNetwork:
        made = objects.ZunNetwork(**{'neutron_net_id': 'net', 'name': 'net', 'host': 'node',
                                     'project_id': 'project', **values})
        made.create(self.context)
        return made

    def test_one_per_host(self) -> None:
        made = self.make()
        self.assertRaises(exception.NetworkAlreadyExists, self.make)
        other = self.make(host='other')
        self.assertEqual([made.uuid, other.uuid], [
            network.uuid for network in objects.ZunNetwork.list(
                self.context, filters={'neutron_net_id': 'net'})])
        other.host = 'node'
        self.assertRaises(exception.NetworkAlreadyExists, other.save)

    def test_gone(self) -> None:
        made = self.make()
        made.network_id = 'b' * 64
        made.save()
        self.assertEqual('b' * 64, objects.ZunNetwork.get_by_uuid(
            self.context, made.uuid).network_id)
        self.assertTrue(made.destroy())
        self.assertFalse(made.destroy())
        self.assertRaises(exception.NetworkNotFound, objects.ZunNetwork.get_by_uuid,
                          self.context, made.uuid)


class TestVolumes(database.TestCase):
    CINDER = '00000015-0000-4000-8000-000000000015'

    def setUp(self) -> None:
        super().setUp()
        self.container = objects.Container(project_id='project', user_id='user')
        self.container.create(self.context)

    def map(self, **values: ty.Any) -> objects.VolumeMapping:
        mapping = objects.VolumeMapping(**{
            'project_id': 'project', 'user_id': 'user', 'container_path': '/data',
            'container_uuid': self.container.uuid, **values})
        mapping.create(self.context)
        return mapping

    def _volumes(self) -> int:
        with engine.reader() as session:
            return session.execute(
                sa.select(sa.func.count()).select_from(models.volume)).scalar_one()

    def test_with_its_volume(self) -> None:
        made = self.map(volume_provider='cinder', cinder_volume_id=self.CINDER,
                        connection_info='{"a": 1}', host='node')
        found = objects.VolumeMapping.get_by_uuid(self.context, made.uuid)
        self.assertEqual(('cinder', self.CINDER, '{"a": 1}', False, 'node', None), (
            found.volume_provider, found.cinder_volume_id, found.connection_info,
            found.auto_remove, found.host, found.contents))
        self.assertEqual((found.volume_id, 'project'), (found.volume.id,
                                                        found.volume.project_id))
        self.assertEqual(self.container.uuid, found.container.uuid)

    def test_save_goes_to_the_volume(self) -> None:
        made = self.map(volume_provider='local', contents='x' * 70000)
        other = self.map(volume_id=made.volume_id, container_path='/else')
        made.host = 'node'
        made.container_path = '/new'
        made.save()
        other.refresh()
        self.assertEqual(('node', '/else', 'x' * 70000),
                         (other.host, other.container_path, other.contents))
        self.assertEqual('node', made.volume.host)
        volume = objects.Volume.get_by_id(self.context, made.volume_id)
        volume.connection_info = 'c'
        volume.save()
        made.refresh()
        self.assertEqual(('c', '/new'), (made.connection_info, made.container_path))

    def test_last_mapping_takes_the_volume_along(self) -> None:
        made = self.map(volume_provider='local')
        other = self.map(volume_id=made.volume_id)
        self.assertTrue(made.destroy())
        self.assertFalse(made.destroy())
        self.assertEqual(1, self._volumes())
        other.destroy()
        self.assertEqual(0, self._volumes())
        self.assertRaises(exception.VolumeMappingNotFound, other.refresh)
        other.host = 'x'
        self.assertRaises(exception.VolumeMappingNotFound, other.save)

    def test_unknown_volume(self) -> None:
        self.assertRaises(exception.VolumeNotFound, self.map, volume_id=4711)

    def test_lists(self) -> None:
        first = self.map(volume_provider='cinder', cinder_volume_id=self.CINDER)
        second = self.map(volume_id=first.volume_id, container_path='/b')
        third = self.map(volume_provider='local', container_path='/c')
        self.map(volume_provider='local', project_id='other', container_path='/d')
        with engine.statement_counter() as counter:
            found = objects.VolumeMapping.list_by_container(self.context, self.container.uuid)
        self.assertEqual(2, counter.count)
        self.assertEqual([first.uuid, second.uuid, third.uuid], [m.uuid for m in found])
        self.assertEqual([first.uuid, second.uuid], [
            m.uuid for m in objects.VolumeMapping.list_by_cinder_volume(
                self.context, self.CINDER)])
        self.assertEqual(2, objects.VolumeMapping.count(
            self.context, cinder_volume_id=self.CINDER))
        self.assertEqual(4, objects.VolumeMapping.count(self.admin))
        self.assertEqual(1, objects.VolumeMapping.count(
            self.context, volume_provider='cinder', container_path='/b'))
        self.assertEqual([], objects.VolumeMapping.list_by_cinder_volume(
            self.context, uuidutils.generate_uuid()))

    def test_volume_of_its_own(self) -> None:
        volume = objects.Volume(volume_provider='cinder', project_id='project')
        volume.create(self.context)
        made = self.map(volume_id=volume.id)
        self.assertEqual(volume.uuid, made.volume.uuid)
        volume.refresh()
        other = zun_context.RequestContext(project_id='other', overwrite=False)
        self.assertRaises(exception.VolumeNotFound, objects.Volume.get_by_id, other, volume.id)


class TestExecInstances(database.TestCase):
    def test_all(self) -> None:
        container = objects.Container(project_id='project')
        container.create(self.context)
        made = objects.ExecInstance(container_id=container.id, exec_id='e', token='t')
        made.create(self.context)
        self.assertRaises(
            exception.ExecInstanceAlreadyExists,
            objects.ExecInstance(container_id=container.id, exec_id='e').create, self.context)
        self.assertEqual(['t'], [found.token for found in
                                 objects.ExecInstance.list_by_container_id(
                                     self.context, container.id)])
        self.assertTrue(made.destroy())
        self.assertFalse(made.destroy())
