# SPDX-License-Identifier: Apache-2.0
"""Upgrades: of what, to what, and what is refused."""

import datetime
import pathlib
import shutil
import subprocess
import sys
import typing as ty

import fixtures
import sqlalchemy as sa
import testscenarios

from zun.db import engine
from zun.db import migration
from zun.tests import base
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

CHAIN = ['f979327df44b', '3f2b36231bee', 'query_indexes', 'unique_quotas', 'quota_usages_key',
         'unique_hostname', 'registry_password_text', 'container_request', 'local_allocation',
         'embedded_network', 'console_session', 'local_provider',
         'network_host_index', 'image_status']
UPSTREAM_HEAD = '3f2b36231bee'


class TestCase(testscenarios.WithScenarios, base.TestCase):
    """An empty database of each kind."""

    scenarios = database.TestCase.scenarios
    backend: str

    def setUp(self) -> None:
        super().setUp()
        server = None if self.backend == 'sqlite' else database.server(self, self.backend)
        self.database = self.useFixture(database.Database(server, schema=None))

    def start(self, *args: str) -> 'subprocess.Popen[str]':
        """Start zun-db-manage on the configured database."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'zun.conf'
        url = self.CONF.database.connection
        path.write_text(f'[database]\nconnection = {url}\n' if url else '')
        return subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', 'zun.cmd.db_manage', '--config-file',
             str(path), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def execute(self, *statements: str) -> None:
        with engine.get_engine().begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))

    def insert(self, table: str, **values: ty.Any) -> None:
        with engine.get_engine().begin() as connection:
            connection.execute(sa.insert(
                sa.table(table, *(sa.column(name) for name in values))).values(values))

    def values(self, statement: str) -> list[ty.Any]:
        with engine.get_engine().connect() as connection:
            return list(connection.execute(sa.text(statement)).scalars())


class TestUpgrade(TestCase):
    def test_step_by_step(self) -> None:
        for revision in CHAIN:
            migration.upgrade(revision)
            self.assertEqual(revision, migration.version())
        self.assertEqual(CHAIN[-1], migration.head())

    def test_what_is_not_ahead_changes_nothing(self) -> None:
        migration.upgrade()
        for revision in CHAIN:
            migration.upgrade(revision)
        self.assertEqual(migration.head(), migration.version())

    def test_every_step_can_be_repeated(self) -> None:
        migration.upgrade()
        for before, after in zip(CHAIN[:-1], CHAIN[1:], strict=True):
            migration.stamp(before)
            migration.upgrade(after)
            self.assertEqual(after, migration.version())

    def test_back_to_upstream_and_forth(self) -> None:
        migration.upgrade()
        migration.stamp(UPSTREAM_HEAD)
        self.assertEqual(['3f2b36231bee'], self.values('SELECT version_num FROM alembic_version'))
        self.assertIs(migration.State.BEHIND, migration.check())
        migration.upgrade()
        self.assertIs(migration.State.HEAD, migration.check())

    def test_three_at_once(self) -> None:
        runs = [self.start('upgrade') for _ in range(3)]
        for run in runs:
            out, err = run.communicate(timeout=120)
            self.assertEqual((0, ''), (run.returncode, out), err)
        self.assertEqual(migration.head(), migration.version())


class TestDuplicates(TestCase):
    def setUp(self) -> None:
        super().setUp()
        migration.upgrade(UPSTREAM_HEAD)

    def test_newest_limit_stays(self) -> None:
        for table, owner in (('quotas', 'project_id'), ('quota_classes', 'class_name')):
            rows = [('a', 'cpu', 1), ('a', 'cpu', 2), ('a', 'disk', 3), ('b', 'cpu', 4),
                    ('a', 'cpu', 5)]
            for name, resource, limit in rows:
                self.insert(table, **{owner: name}, resource=resource, hard_limit=limit)
        self.insert('quotas', resource='cpu', hard_limit=6)
        self.insert('quotas', resource='cpu', hard_limit=7)
        migration.upgrade()
        self.assertEqual([3, 4, 5, 6, 7],
                         self.values('SELECT hard_limit FROM quotas ORDER BY hard_limit'))
        self.assertEqual([3, 4, 5],
                         self.values('SELECT hard_limit FROM quota_classes ORDER BY hard_limit'))

    def test_host_that_was_written_last_stays(self) -> None:
        numbers = dict.fromkeys((
            'mem_total', 'mem_free', 'mem_available', 'total_containers', 'running_containers',
            'paused_containers', 'stopped_containers', 'cpus', 'cpu_used', 'mem_used',
            'disk_total', 'disk_used'), 0)
        for uuid, hostname, created, updated in (
                ('n1', 'one', 1, None), ('n2', 'one', 2, 5), ('n3', 'one', 4, None),
                ('n4', 'two', 1, None)):
            self.insert('compute_node', uuid=uuid, hostname=hostname, rp_uuid=uuid, **numbers,
                        created_at=datetime.datetime(2026, 1, created),
                        updated_at=updated and datetime.datetime(2026, 1, updated))
            self.insert('pci_device', compute_node_uuid=uuid, address='a', vendor_id='v',
                        product_id='p', dev_type='VF', label='l', status='s')
        migration.upgrade()
        self.assertEqual(['n2', 'n4'], self.values('SELECT uuid FROM compute_node ORDER BY uuid'))
        self.assertEqual(['n2', 'n4'], self.values(
            'SELECT compute_node_uuid FROM pci_device ORDER BY compute_node_uuid'))

    def test_rows_survive_where_a_table_is_made_anew(self) -> None:
        self.insert('registry', uuid='r', domain='example.org', password='token')
        self.execute("INSERT INTO container (uuid, registry_id) SELECT 'c', id FROM registry")
        for _ in range(2):
            self.insert('quota_usages', id=0, resource='cpu', in_use=1, reserved=0)
        migration.upgrade()
        self.assertEqual(['token'], self.values('SELECT password FROM registry'))
        self.assertEqual(['c'], self.values(
            'SELECT c.uuid FROM container c JOIN registry r ON r.id = c.registry_id'))
        self.assertEqual([], self.values('SELECT id FROM quota_usages'))


class TestRefusals(TestCase):
    def _refused(self, call: ty.Callable[..., ty.Any], *args: ty.Any) -> str:
        error = self.assertRaises(migration.MigrationError, call, *args)
        self.assertNotIn('\n', error.message)
        return error.message

    def test_unknown_target(self) -> None:
        self.assertIn('nonsense', self._refused(migration.upgrade, 'nonsense'))
        self.assertIn('nonsense', self._refused(migration.stamp, 'nonsense', True))

    def test_tables_without_revision(self) -> None:
        self.execute('CREATE TABLE something (id INTEGER)')
        self._refused(migration.upgrade)
        self.assertIs(migration.State.UNKNOWN, migration.check())
        self.assertEqual(['something'], sa.inspect(engine.get_engine()).get_table_names())

    def test_tables_with_an_empty_version_table(self) -> None:
        self.execute('CREATE TABLE something (id INTEGER)',
                     'CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)')
        self._refused(migration.upgrade)

    def test_unknown_revision(self) -> None:
        for revision in ('47d79ffdc582', 'f00df00df00d'):
            self.execute('DROP TABLE IF EXISTS alembic_version',
                         'CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)')
            self.insert('alembic_version', version_num=revision)
            message = self._refused(migration.upgrade)
            self.assertIn(revision, message)
            self.assertIn('upstream 13.0.0', message)
            self.assertIs(migration.State.UNKNOWN, migration.check())
            self._refused(migration.stamp, 'head')
            self.assertEqual(revision, migration.version())

    def test_stamp_of_an_empty_database(self) -> None:
        self._refused(migration.stamp, 'head')
        self.assertIsNone(migration.version())
        self.assertIs(migration.State.BEHIND, migration.check())
        migration.stamp('head', force=True)
        self.assertEqual(migration.head(), migration.version())


class TestCommand(TestCase):
    """zun-db-manage: exit codes, and one line for each error."""

    scenarios = ()
    backend = 'sqlite'

    def run_command(self, *args: str) -> tuple[int, str, str]:
        run = self.start(*args)
        out, err = run.communicate(timeout=60)
        return run.returncode, out, err

    def test_upgrade_version_check(self) -> None:
        self.assertEqual((0, 'Current DB revision is None\n'), self.run_command('version')[:2])
        self.assertEqual(3, self.run_command('check')[0])
        self.assertEqual((0, ''), self.run_command('upgrade')[:2])
        self.assertEqual((0, f'Current DB revision is {migration.head()}\n'),
                         self.run_command('version')[:2])
        self.assertEqual(0, self.run_command('check')[0])
        self.assertEqual((0, ''), self.run_command('stamp', '3f2b36231bee')[:2])
        self.assertEqual(3, self.run_command('check')[0])
        self.assertEqual((0, ''), self.run_command('upgrade', 'f979327df44b')[:2])

    def test_unknown_state(self) -> None:
        self.execute('CREATE TABLE something (id INTEGER)')
        self.assertEqual(4, self.run_command('check')[0])

    def _assert_one_line(self, *args: str) -> str:
        code, out, err = self.run_command(*args)
        self.assertEqual((1, ''), (code, out))
        self.assertEqual(1, len(err.splitlines()), err)
        self.assertTrue(err.startswith('zun-db-manage: '), err)
        return err

    def test_errors(self) -> None:
        self.assertIn('nonsense', self._assert_one_line('upgrade', 'nonsense'))
        self._assert_one_line('stamp', 'head')

    def test_no_connection(self) -> None:
        self.config(group='database', connection=None)
        for command in (['version'], ['upgrade'], ['check'], ['stamp', 'head']):
            self.assertIn('[database]/connection', self._assert_one_line(*command))

    def test_unusable_connection(self) -> None:
        for url in ('sqlite:////nowhere/at/all/zun.db', 'nonsense', 'nosuch+driver://host/db',
                    'mysql+nosuch://host/db'):
            self.config(group='database', connection=url)
            self._assert_one_line('version')

    def test_online_data(self) -> None:
        code, _, err = self.run_command('online-data')
        self.assertEqual((1, 'zun-db-manage: The database is not at head: upgrade it first.\n'),
                         (code, err))
        migration.upgrade()
        renewed = 'Passwords of registries put under the newest key: 0\n'
        self.assertEqual((0, renewed, ''), self.run_command('online-data'))
        self.insert('registry', uuid='r', domain='example.org', password='no token')
        self.assertEqual((3, f'{renewed}No key opens those of: r\n', ''),
                         self.run_command('online-data'))

    def test_usage(self) -> None:
        for args in ((), ('downgrade',), ('stamp',)):
            code, out, err = self.run_command(*args)
            self.assertEqual((2, ''), (code, out))
            self.assertIn('usage: zun-db-manage', err)


class TestRevision(TestCase):
    """New scripts are written into a source tree, never into an installation."""

    scenarios = ()
    backend = 'sqlite'

    def setUp(self) -> None:
        super().setUp()
        migration.upgrade()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        scripts = self.root / 'zun/db/migrations'
        shutil.copytree(migration._SCRIPTS, scripts, ignore=shutil.ignore_patterns('__pycache__'))
        self.useFixture(fixtures.MonkeyPatch('zun.db.migration._SCRIPTS', scripts))

    def test_source_tree(self) -> None:
        (self.root / 'setup.cfg').touch()
        self.execute('DROP INDEX ix_container_name')
        for autogenerate, holds in ((False, 'pass'), (True, 'ix_container_name')):
            path = migration.revision('One more', autogenerate)
            self.assertEqual(self.root / 'zun/db/migrations/versions', path.parent)
            text = path.read_text()
            self.assertIn(holds, text)
            self.assertIn(f"down_revision = '{migration.version()}'", text)
            path.unlink()

    def test_refused_outside_a_source_tree(self) -> None:
        before = sorted(self.root.rglob('*'))
        error = self.assertRaises(migration.MigrationError, migration.revision, 'more')
        self.assertIn('source tree', error.message)
        self.assertEqual(before, sorted(self.root.rglob('*')))
