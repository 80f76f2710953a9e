# SPDX-License-Identifier: Apache-2.0
"""The schema that migrations make, table by table."""

import copy
import typing as ty

from alembic import autogenerate
from alembic.runtime import migration as alembic_migration
import sqlalchemy as sa
import testscenarios

from zun.db import engine
from zun.db import migration
from zun.db import models
from zun.tests import base
from zun.tests.functional import database
from zun.tests.functional.db import schema

load_tests = testscenarios.load_tests_apply_scenarios


def _column(name: str, kind: str, nullable: bool = True, default: str | None = None,
            auto: bool = False) -> dict[str, ty.Any]:
    return {'name': name, 'type': kind, 'nullable': nullable, 'server_default': default,
            'auto_increment': auto}


_TIMES = [_column('created_at', 'datetime'), _column('updated_at', 'datetime')]
_ID = _column('id', 'int(11)', nullable=False, auto=True)

#: Columns that ours add to upstream's tables.
OUR_COLUMNS = {'container': [
    _column('effective_command', 'text'), _column('effective_entrypoint', 'text'),
    _column('exit_code', 'int(11)'), _column('finished_at', 'datetime'),
    _column('health', 'varchar(16)')],
    'image': [_column('status', 'varchar(20)'), _column('status_reason', 'text')]}

#: Indexes that ours add to upstream's tables: table -> name -> columns.
OUR_INDEXES = {
    'container': {'ix_container_host_type': ['host', 'container_type'],
                  'ix_container_project_type_id': ['project_id', 'container_type', 'id'],
                  'ix_container_name': ['name']},
    'volume': {'ix_volume_cinder_volume_id': ['cinder_volume_id']},
    'volume_mapping': {'ix_volume_mapping_project_id': ['project_id']},
    'zun_service': {'ix_zun_service_binary': ['binary']},
    'image': {'ix_image_project_id': ['project_id']},
    'registry': {'ix_registry_project_id': ['project_id']},
    'network': {'ix_network_project_id': ['project_id'], 'ix_network_host': ['host']},
}
OUR_UNIQUES = {
    'quotas': {'uniq_quotas0project_id_resource': ['project_id', 'resource']},
    'quota_classes': {'uniq_quota_classes0class_name_resource': ['class_name', 'resource']},
    'quota_usages': {'uniq_quota_usages0project_id_resource': ['project_id', 'resource']},
    'compute_node': {'uniq_compute_node0hostname': ['hostname']},
}

OUR_TABLES = {
    'container_request': {
        'columns': [
            *_TIMES, _ID, _column('container_uuid', 'varchar(36)', nullable=False),
            _column('generation', 'int(11)', nullable=False, default='0'),
            _column('operation', 'varchar(32)'), _column('operation_args', 'text'),
            _column('operation_id', 'varchar(255)'), _column('operation_time', 'datetime'),
            _column('run', 'tinyint(1)'), _column('requested_networks', 'text'),
            _column('requested_volumes', 'mediumtext'), _column('pci_requests', 'text'),
            _column('availability_zone', 'varchar(255)'), _column('hints', 'text'),
            _column('requested_host', 'varchar(255)'),
            _column('attempts', 'int(11)', nullable=False, default='0'),
            _column('excluded_hosts', 'text'),
            _column('claimed', 'tinyint(1)', nullable=False, default='0'),
            _column('retry_at', 'datetime')],
        'primary_key': ['id'],
        'unique': {'uniq_container_request0container_uuid': ['container_uuid']},
        'indexes': {'ix_container_request_retry_at': ['retry_at']},
        'foreign_keys': [{'column': 'container_uuid', 'references': 'container.uuid',
                          'on_delete': 'CASCADE'}]},
    'local_allocation': {
        'columns': [
            *_TIMES, _column('consumer_uuid', 'varchar(36)', nullable=False),
            _column('rp_uuid', 'varchar(36)', nullable=False),
            *(_column(name, 'int(11)', nullable=False) for name in (
                'vcpu', 'memory_mb', 'disk_gb')),
            _column('project_id', 'varchar(255)'), _column('user_id', 'varchar(255)'),
            _column('consumer_type', 'varchar(32)'),
            _column('generation', 'int(11)', nullable=False)],
        'primary_key': ['consumer_uuid'], 'unique': {},
        'indexes': {'ix_local_allocation_rp_uuid': ['rp_uuid']}, 'foreign_keys': []},
    'local_provider': {
        'columns': [
            *_TIMES, _column('rp_uuid', 'varchar(36)', nullable=False),
            _column('name', 'varchar(255)', nullable=False),
            _column('disabled', 'tinyint(1)', nullable=False),
            *(_column(f'{prefix}{name}', 'int(11)', nullable=False)
              for prefix in ('', 'used_') for name in ('vcpu', 'memory_mb', 'disk_gb')),
            _column('generation', 'int(11)', nullable=False)],
        'primary_key': ['rp_uuid'], 'unique': {},
        'indexes': {'ix_local_provider_name': ['name']}, 'foreign_keys': []},
    'embedded_network': {
        'columns': [
            *_TIMES, _column('network_uuid', 'varchar(36)', nullable=False),
            _column('cidr', 'varchar(64)', nullable=False),
            _column('gateway', 'varchar(64)', nullable=False), _column('mtu', 'int(11)')],
        'primary_key': ['network_uuid'],
        'unique': {'uniq_embedded_network0cidr': ['cidr']},
        'indexes': {}, 'foreign_keys': []},
    'embedded_allocation': {
        'columns': [
            *_TIMES, _ID, _column('network_uuid', 'varchar(36)', nullable=False),
            _column('address', 'varchar(64)', nullable=False),
            _column('container_uuid', 'varchar(36)', nullable=False)],
        'primary_key': ['id'],
        'unique': {'uniq_embedded_allocation0network_uuid_address': [
            'network_uuid', 'address']},
        'indexes': {'ix_embedded_allocation_container_uuid': ['container_uuid']},
        'foreign_keys': []},
    'console_session': {
        'columns': [
            *_TIMES, _column('id', 'varchar(32)', nullable=False),
            _column('token_hash', 'varchar(64)', nullable=False),
            _column('container_uuid', 'varchar(36)', nullable=False),
            _column('project_id', 'varchar(255)'), _column('user_id', 'varchar(255)'),
            _column('host', 'varchar(255)', nullable=False),
            _column('kind', 'varchar(16)', nullable=False), _column('exec_id', 'varchar(64)'),
            _column('tty', 'tinyint(1)', nullable=False), _column('params', 'text'),
            _column('action_id', 'int(11)'), _column('node_url', 'varchar(255)', nullable=False),
            _column('node_key_hash', 'varchar(64)'), _column('engine_id', 'varchar(64)'),
            _column('height', 'int(11)'), _column('width', 'int(11)'),
            _column('client_address', 'varchar(64)'),
            _column('expires_at', 'datetime', nullable=False),
            *(_column(name, 'datetime') for name in ('consumed_at', 'opened_at', 'ended_at')),
            _column('close_code', 'int(11)')],
        'primary_key': ['id'],
        'unique': {'uniq_console_session0token_hash': ['token_hash']},
        'indexes': {'ix_console_session_container_uuid': ['container_uuid'],
                    'ix_console_session_host_expires_at': ['host', 'expires_at']},
        'foreign_keys': [{'column': 'container_uuid', 'references': 'container.uuid',
                          'on_delete': 'CASCADE'}]},
}


def expected() -> dict[str, schema.Table]:
    """Upstream's head with our additions."""
    tables = copy.deepcopy(schema.recorded())
    for name, extra in OUR_COLUMNS.items():
        tables[name]['columns'] += extra
    for name, indexes in OUR_INDEXES.items():
        tables[name]['indexes'].update(indexes)
    for name, uniques in OUR_UNIQUES.items():
        tables[name]['unique'].update(uniques)
    tables['quota_usages']['primary_key'] = ['id']
    for column in tables['quota_usages']['columns']:
        if column['name'] == 'id':
            column['auto_increment'] = True
    for column in tables['registry']['columns']:
        if column['name'] == 'password':
            column['type'] = 'text'
    return {**tables, **OUR_TABLES}


def _ordered(tables: dict[str, schema.Table]) -> dict[str, schema.Table]:
    for table in tables.values():
        table['foreign_keys'].sort(key=lambda key: key['column'])
    return tables


class TestMariaDb(base.TestCase):
    """What upstream recorded is of MariaDB."""

    maxDiff = None

    def _schema_at(self, revision: str) -> dict[str, schema.Table]:
        self.useFixture(database.Database(database.server(self, 'mysql'), schema=None))
        migration.upgrade(revision)
        with engine.get_engine().connect() as connection:
            return schema.read(connection)

    def _assert_equal(self, wanted: dict[str, schema.Table],
                      found: dict[str, schema.Table]) -> None:
        self.assertEqual(sorted(wanted), sorted(found))
        for name, table in _ordered(wanted).items():
            for part, value in table.items():
                self.assertEqual(value, found[name][part], f'{name}: {part}')

    def test_upstream_head(self) -> None:
        self._assert_equal(schema.recorded(), self._schema_at('3f2b36231bee'))

    def test_root(self) -> None:
        wanted = schema.recorded()
        network = wanted['network']
        network['columns'] = [c for c in network['columns'] if c['name'] != 'host']
        network['unique']['uniq_network0neutron_net_id'] = ['neutron_net_id']
        del network['unique']['uniq_network0neutron_net_id_host']
        self._assert_equal(wanted, self._schema_at('f979327df44b'))

    def test_head(self) -> None:
        self._assert_equal(expected(), self._schema_at('head'))

    def test_our_changes_are_additive(self) -> None:
        for name, table in schema.recorded().items():
            ours = expected()[name]
            for column in table['columns']:
                self.assertIn(column['name'], [c['name'] for c in ours['columns']])
            for column in ours['columns'][len(table['columns']):]:
                self.assertTrue(column['nullable'], f"{name}.{column['name']}")


class TestModels(testscenarios.WithScenarios, base.TestCase):
    """The tables that queries are written for are those that migrations make."""

    scenarios = database.TestCase.scenarios
    backend: str

    def setUp(self) -> None:
        super().setUp()
        server = None if self.backend == 'sqlite' else database.server(self, self.backend)
        self.useFixture(database.Database(server, schema='migrations'))

    def test_equal_migrated_schema(self) -> None:
        with engine.get_engine().connect() as connection:
            context = alembic_migration.MigrationContext.configure(
                connection, opts={'compare_type': True})
            self.assertEqual([], autogenerate.compare_metadata(context, models.metadata))

    def test_check_is_at_head(self) -> None:
        self.assertIs(migration.State.HEAD, migration.check())
        self.assertEqual(migration.head(), migration.version())

    def test_foreign_keys_are_indexed(self) -> None:
        inspector = sa.inspect(engine.get_engine())
        for table in models.metadata.sorted_tables:
            leading = {index['column_names'][0] for index in inspector.get_indexes(table.name)}
            leading |= {unique['column_names'][0]
                        for unique in inspector.get_unique_constraints(table.name)}
            for key in table.foreign_keys:
                self.assertIn(key.parent.name, leading, table.name)
