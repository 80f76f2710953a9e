# SPDX-License-Identifier: Apache-2.0
"""zun-status allocations and host, as an operator runs them: output and exit codes."""

import http.server
import json
import pathlib
import subprocess
import sys
import threading

import fixtures

from zun import objects
from zun.db import migration
from zun.placement import ledger
from zun.placement import local
from zun.tests import base
from zun.tests import database
from zun.tests.functional.scheduler import cloud

ORPHAN = '99999999-0000-4000-8000-000000000000'
AMOUNTS = {'VCPU': 1, 'MEMORY_MB': 512}


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        made = self.useFixture(database.SqliteDatabase())
        self.conf = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'zun.conf'
        self.configure()
        self.conf.write_text(self.conf.read_text() + f'[database]\nconnection = {made.url}\n')
        self.books = local.LocalLedger()
        self.providers = {name: cloud.host(self.books, name) for name in 'ab'}

    def configure(self, driver='filter_scheduler'):
        self.conf.write_text(f'[scheduler]\nledger = local\ndriver = {driver}\n')

    def status(self, *args):
        """Exit code and lines of a command."""
        ended = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'zun.cmd.status', '--config-file',
             str(self.conf), *args], check=False, capture_output=True, text=True, timeout=60)
        self.assertNotIn('Traceback', ended.stderr)
        return ended.returncode, (ended.stdout or ended.stderr).splitlines()

    def allocate(self, ident, host='a'):
        provider = self.providers[host]
        self.assertTrue(self.books.claim(
            ledger.Consumer(ident, 'demo', 'alice'),
            ledger.Candidate(provider, {provider: AMOUNTS}, {}, {})))


class AllocationsTest(TestCase):
    def test_agreement(self):
        self.allocate(cloud.container(host='a', status='Running').uuid)
        self.assertEqual((0, ['Ledger and containers agree.']), self.status('allocations'))

    def test_shown_then_repaired(self):
        self.allocate(ORPHAN)
        missing = cloud.container(host='b', status='Running', cpu=2.0).uuid
        code, lines = self.status('allocations')
        self.assertEqual(3, code)
        self.assertEqual([
            ['HOST', 'DIFFERENCE', 'CONSUMER', 'LEDGER', 'CONTAINER', 'REPAIRED'],
            ['a', 'orphan', ORPHAN, 'MEMORY_MB=512', 'VCPU=1', '-', 'no'],
            ['b', 'missing', missing, '-', 'MEMORY_MB=512', 'VCPU=2', 'no']],
            [line.split() for line in lines])
        code, lines = self.status('allocations', '--repair')
        self.assertEqual((0, ['yes', 'yes']), (code, [line.split()[-1] for line in lines[1:]]))
        self.assertEqual(0, self.status('allocations')[0])

    def test_one_host(self):
        self.allocate(ORPHAN)
        self.assertEqual(0, self.status('allocations', '--host', 'b')[0])
        self.assertEqual(3, self.status('allocations', '--host', 'a')[0])
        code, lines = self.status('allocations', '--host', 'c')
        self.assertEqual(255, code)
        self.assertIn('Compute node c could not be found', lines[0])

    def test_what_cannot_be_repaired(self):
        cloud.container(host='a', status='Running', cpu=99.0)
        code, lines = self.status('allocations', '--repair')
        self.assertEqual((3, 'failed'), (code, lines[1].split()[-1]))

    def test_nothing_is_allocated_by_chance(self):
        connection = self.conf.read_text().partition('[database]')[2]
        self.configure('chance_scheduler')
        self.conf.write_text(f'{self.conf.read_text()}[database]{connection}')
        code, lines = self.status('allocations')
        self.assertEqual(0, code)
        self.assertIn('nothing to audit', lines[0])


class UpgradeCheckTest(TestCase):
    def check(self):
        """Result and details of the check of the ledger."""
        _code, lines = self.status('upgrade', 'check', '--json')
        found = {item['check']: item for item in json.loads(lines[0])['checks']}
        return found['Resource Ledger']['result'], found['Resource Ledger']['details'] or ''

    def use_placement(self, answer):
        """Point the command to a server that says the same to everybody."""
        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answer(self.path)
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f'http://127.0.0.1:{server.server_address[1]}'
        connection = self.conf.read_text().partition('[database]')[2]
        self.conf.write_text(
            f'[scheduler]\nledger = placement\n[placement_client]\nendpoint_override = {url}\n'
            'max_retries = 0\n[keystone_auth]\nauth_type = none\n'
            f'[database]{connection}')

    @staticmethod
    def root(newest):
        return 200, {'versions': [{'id': 'v1.0', 'min_version': '1.0', 'max_version': newest}]}

    def test_local(self):
        self.assertEqual((1, 'not checked before the database is upgraded'), self.check())
        migration.stamp('head')
        self.assertEqual((0, ''), self.check())

    def test_placement(self):
        migration.stamp('head')
        for answer, result, words in (
                (lambda path: self.root('1.39') if path == '/' else (
                    200, {'resource_providers': []}), 0, ''),
                (lambda path: self.root('1.39') if path == '/' else (
                    403, {'errors': [{'status': 403, 'detail': 'Policy'}]}), 2,
                 'role service or admin in a project'),
                (lambda path: self.root('1.30'), 2, '1.31 is needed'),
                (lambda path: (503, {}), 1, 'not checked')):
            self.use_placement(answer)
            found, details = self.check()
            self.assertEqual(result, found, details)
            self.assertIn(words, details)


class HostTest(TestCase):
    def report(self, host='a'):
        """Exit code, and what stands under which name."""
        code, lines = self.status('host', host)
        return code, {name.strip(): value for name, _, value in
                      (line.partition('  ') for line in lines)}

    def test_in_use_then_disabled_then_drained(self):
        container = cloud.container(host='a', status='Running')
        self.allocate(container.uuid)
        code, found = self.report()
        self.assertEqual((3, 'enabled, up', 'yes', '1', '1', 'no'), (
            code, *(found[name].strip() for name in (
                'service', 'new containers', 'containers Running', 'containers', 'drained'))))
        self.assertEqual('1 (MEMORY_MB=512 VCPU=1)', found['allocations'].strip())
        service = objects.ZunService.get_by_host_and_binary(cloud.ADMIN, 'a', 'zun-compute')
        service.disabled, service.disabled_reason = True, 'new fans'
        service.save()
        container.destroy()
        self.books.release(container.uuid)
        code, found = self.report()
        self.assertEqual((0, 'disabled, up (new fans)', 'no', 'yes'), (
            code, *(found[name].strip() for name in ('service', 'new containers', 'drained'))))

    def test_unknown(self):
        code, lines = self.status('host', 'nope')
        self.assertEqual((255, 1), (code, len(lines)))
