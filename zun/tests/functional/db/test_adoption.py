# SPDX-License-Identifier: Apache-2.0
"""Databases that upstream's code has written."""

import typing as ty

import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import context as zun_context
from zun.db import engine
from zun.db import migration
from zun.db import models
from zun.db import quotas
from zun.tests import base
from zun.tests.functional import database
from zun.tests.functional.db import schema

load_tests = testscenarios.load_tests_apply_scenarios

PROJECT = '1' * 32

Rows = dict[str, list[dict[str, ty.Any]]]


def _rows(connection: sa.Connection) -> Rows:
    """All rows as they are stored."""
    names = [name for name in sa.inspect(connection).get_table_names()
             if name != 'alembic_version']
    return {name: [dict(row) for row in connection.execute(
        sa.text(f'SELECT * FROM {name}')).mappings()] for name in names}  # noqa: S608


class TestAdoption(testscenarios.WithScenarios, base.TestCase):
    """Load a dump, upgrade, read everything through the objects."""

    scenarios = [(name, {'revision': name}) for name in ('3f2b36231bee', 'f979327df44b')]
    revision: str

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(database.Database(database.server(self, 'mysql'), schema=None))
        with engine.get_engine().begin() as connection:
            schema.load_dump(connection, self.revision)
        with engine.get_engine().connect() as connection:
            self.before = _rows(connection)
        migration.upgrade()
        self.admin = zun_context.get_admin_context()

    def test_rows_are_as_they_were(self) -> None:
        with engine.get_engine().connect() as connection:
            after = _rows(connection)
        for name, rows in self.before.items():
            kept = [{column: row[column] for column in rows[0]} for row in after[name]] \
                if rows else after[name]
            self.assertEqual(rows[2:] if name == 'quotas' else rows, kept, name)

    def test_schema_is_that_of_a_new_database(self) -> None:
        self.assertIs(migration.State.HEAD, migration.check())
        with engine.get_engine().connect() as connection:
            adopted = schema.read(connection)
        self.useFixture(database.Database(database.server(self, 'mysql'), schema='migrations'))
        with engine.get_engine().connect() as connection:
            self.assertEqual(schema.read(connection), adopted)

    def test_every_row_can_be_read(self) -> None:
        objects_of: dict[str, list[ty.Any]] = {
            'container': [
                found for kind in (objects.Container, objects.Capsule, objects.CapsuleContainer,
                                   objects.CapsuleInitContainer)
                for found in kind.list(self.admin)],
            'volume_mapping': objects.VolumeMapping.list(self.admin),
            'image': objects.Image.list(self.admin),
            'network': objects.ZunNetwork.list(self.admin),
            'registry': objects.Registry.list(self.admin),
            'compute_node': objects.ComputeNode.list(self.admin),
            'zun_service': objects.ZunService.list(self.admin),
            'quota_classes': [limit for name in ('default', 'gold')
                              for limit in objects.QuotaClass.get_all(self.admin, name)],
            'quotas': objects.Quota.get_all(self.admin, PROJECT),
        }
        objects_of['pci_device'] = [
            device for node in objects_of['compute_node']
            for device in objects.PciDevice.list_by_compute_node(self.admin, node.uuid)]
        objects_of['volume'] = [mapping.volume for mapping in objects_of['volume_mapping'][1:]]
        objects_of['exec_instance'] = [
            found for container in objects_of['container'] for found in container.exec_instances]
        objects_of['container_actions'] = [
            found for container in objects_of['container']
            for found in objects.ContainerAction.get_by_container_uuid(
                self.admin, container.uuid)]
        objects_of['container_actions_events'] = [
            found for action in objects_of['container_actions']
            for found in objects.ContainerActionEvent.get_by_action(self.admin, action.id)]
        expected = {name: len(rows) - (2 if name == 'quotas' else 0)
                    for name, rows in self.before.items() if rows}
        self.assertEqual(expected, {name: len(found) for name, found in objects_of.items()})
        for found in objects_of.values():
            for obj in found:
                # Fields took values past their coercion: all are of the declared types.
                copy = type(obj).obj_from_primitive(obj.obj_to_primitive())
                for name in obj.fields:
                    if obj.obj_attr_is_set(name) and obj.fields[name].AUTO_TYPE.__class__ \
                            .__name__ not in ('Object', 'List', 'DateTime'):
                        self.assertEqual(getattr(obj, name), getattr(copy, name), name)

    def test_container(self) -> None:
        context = zun_context.RequestContext(project_id=PROJECT, overwrite=False)
        stored = next(row for row in self.before['container'] if row['cni_metadata'] is None
                      and row['container_type'] == 0 and row['addresses'] not in (None, '{}'))
        found = objects.Container.get_by_uuid(context, stored['uuid'])
        self.assertEqual(models.container.c.addresses.type.process_result_value(
            stored['addresses'], None), found.addresses)
        self.assertIsNone(found.effective_command)
        request = objects.ContainerRequest.get(context, found.uuid)
        self.assertEqual((0, None, []),
                         (request.generation, request.operation, request.requested_networks))
        self.assertEqual(request.id, objects.ContainerRequest.get(context, found.uuid).id)

    def test_stored_text_is_written_as_upstream_wrote_it(self) -> None:
        for row in self.before['container']:
            container = objects.ContainerBase.get_any_type(self.admin, row['uuid'])
            for name in ('command', 'environment', 'ports', 'labels', 'addresses', 'entrypoint',
                         'restart_policy', 'security_groups', 'healthcheck', 'exposed_ports',
                         'annotations', 'cni_metadata', 'cpuset'):
                kind = models.container.c[name].type
                value = getattr(container, name)
                if name == 'cpuset' and value is not None:
                    value = value.to_column()
                if row[name] is not None:
                    self.assertEqual(row[name], kind.process_bind_param(value, None), name)

    def test_registry_password(self) -> None:
        self.assertEqual('s3cret', objects.Registry.list(self.admin)[0].plain_password())

    def test_newest_limits(self) -> None:
        self.assertEqual({'containers': 12, 'memory': -1, 'cpu': 40}, quotas.limits(PROJECT))

    def test_nodes(self) -> None:
        for node in objects.ComputeNode.list(self.admin):
            self.assertEqual({0, 1, 2, 3}, node.numa_topology.nodes[0].cpuset)
            row = next(row for row in self.before['compute_node'] if row['uuid'] == node.uuid)
            self.assertEqual(row['numa_topology'], models.compute_node.c.numa_topology.type
                             .process_bind_param(node.numa_topology.to_column(), None))
            self.assertEqual(row['pci_stats'] is None, node.pci_device_pools is None)

    def test_images(self) -> None:
        wanted = {row['uuid']: 'Available' if row['image_id'] else 'Pulling'
                  for row in self.before['image']}
        self.assertEqual(wanted, {image.uuid: image.status
                                  for image in objects.Image.list(self.admin)})

    def test_network_host(self) -> None:
        expected = 'node1' if self.revision == '3f2b36231bee' else None
        self.assertEqual(expected, objects.ZunNetwork.list(self.admin)[0].host)
