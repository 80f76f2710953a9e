# SPDX-License-Identifier: Apache-2.0

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from zun.tests import base


class TestUpgradeCheck(base.TestCase):
    """zun-status as an operator runs it, on a database of its own."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.conf = os.path.join(folder.name, 'zun.conf')
        self.database = os.path.join(folder.name, 'zun.sqlite')
        with open(self.conf, 'w') as conf:
            conf.write(f'[database]\nconnection = sqlite:///{self.database}\n'
                       '[scheduler]\nledger = local\n')

    def _run(self, module, *args):
        return subprocess.run([sys.executable, '-m', module, '--config-file', self.conf, *args],
                              check=False, capture_output=True, text=True, timeout=60)

    def _upgrade(self):
        ended = self._run('zun.cmd.db_manage', 'upgrade')
        self.assertEqual(0, ended.returncode, ended.stderr)

    def _checks(self):
        ended = self._run('zun.cmd.status', 'upgrade', 'check', '--json')
        checks = json.loads(ended.stdout)['checks']
        return ended.returncode, {check['check']: check for check in checks}

    def test_current_database(self):
        self._upgrade()
        code, checks = self._checks()
        numa = checks.pop('Numactl Check')['result']
        self.assertEqual({0}, {check['result'] for check in checks.values()}, checks)
        self.assertEqual(numa, code)

    def test_network_driver(self):
        self._upgrade()
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.executemany(
                'insert into container (uuid, host, container_type, addresses) '
                'values (?, ?, 0, ?)',
                [('c1', 'node1', '{}'),
                 ('c2', 'node2', '{"net": [{"port": "of-neutron"}]}'),
                 ('c3', None, '{"net": [{"port": "of-neutron"}]}')])
        for driver, expected in (('embedded', 2), ('kuryr', 0), ('nonsense', 2)):
            with open(self.conf, 'a') as conf:
                conf.write(f'[network]\ndriver = {driver}\n')
            _, checks = self._checks()
            found = checks['Network Driver']
            self.assertEqual(expected, found['result'], found)
            if driver == 'embedded':
                self.assertIn('node2', found['details'])
                self.assertNotIn('node1', found['details'])

    def test_database_without_tables(self):
        code, checks = self._checks()
        self.assertEqual(2, code)
        self.assertIn('zun-db-manage upgrade', checks['Database Revision']['details'])

    def test_database_that_cannot_be_used(self):
        for options in ('pool_timeout = 30', 'connection = sqlite:////no/where\nmax_retries = 0'):
            with open(self.conf, 'a') as conf:
                conf.write(f'[database]\n{options}\n')
            ended = self._run('zun.cmd.status', 'upgrade', 'check')
            self.assertEqual((255, ''), (ended.returncode, ended.stdout))
            self.assertRegex(ended.stderr, r'^zun-status: .*\[database\].*\n$')
