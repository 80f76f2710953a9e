# SPDX-License-Identifier: Apache-2.0
"""The services start with the configuration files of deployment tools.

A second file replaces what is of the tool's own cloud: addresses, the log, the message bus.
"""

import pathlib
import socket
import subprocess
import sys
import urllib.request

import fixtures
import testscenarios

from zun import objects
from zun.common import context as zun_context
from zun.compute import heartbeat
from zun.tests import base
from zun.tests.functional import database
from zun.tests.functional import docker_registry
from zun.tests.functional import engine

load_tests = testscenarios.load_tests_apply_scenarios

DEPLOY = pathlib.Path(__file__).parents[2] / 'unit/conf/deploy'
LOOPBACK = '127.0.0.1'
#: Nobody listens there.
NOWHERE = f'http://{LOOPBACK}:9'
#: Seconds for a program to start on a busy machine.
PATIENCE = 60

LOCAL = """
[DEFAULT]
host = {host}
my_ip = {loopback}
transport_url = fake://
state_path = {root}
log_file =
log_dir =
use_journal = false
use_syslog = false
use_stderr = true
report_interval = 1
[api]
host_ip = {loopback}
port = {api_port}
workers = 1
api_paste_config = {deploy}/api-paste.ini
[database]
connection = {database}
[docker]
api_url = {engine}
[keystone_auth]
auth_url = {nowhere}
[keystone_authtoken]
auth_url = {nowhere}
www_authenticate_uri = {nowhere}
[oslo_concurrency]
lock_path = {root}
[oslo_messaging_notifications]
driver = noop
[profiler]
enabled = false
[volume]
volume_dir = {root}/mnt
[websocket_proxy]
wsproxy_host = {loopback}
wsproxy_port = {proxy_port}
"""


class DeployedTest(testscenarios.WithScenarios, base.TestCase):
    scenarios = [(tool, {'tool': tool})
                 for tool in ('devstack', 'kolla-ansible', 'openstack-ansible')]

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        made = self.useFixture(database.Database(
            database.server(self, 'mysql'), schema=None))
        self.api_port = docker_registry.free_port()
        self.proxy_port = docker_registry.free_port()
        self.local = self.root / 'local.conf'
        self.local.write_text(LOCAL.format(
            host=f'deployed-{self.tool}', loopback=LOOPBACK, root=self.root, deploy=DEPLOY,
            database=made.url, engine=engine.URL, nowhere=NOWHERE,
            api_port=self.api_port, proxy_port=self.proxy_port))

        upgrade = self.start('db_manage', 'upgrade')
        self.assertEqual(0, upgrade.wait(PATIENCE), self.log('db_manage'))

    def start(self, program, *args):
        log = (self.root / f'{program}.log').open('w')
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', f'zun.cmd.{program}',
             '--config-file', str(DEPLOY / f'zun.conf.{self.tool}'),
             '--config-file', str(self.local), *args], stdout=log, stderr=log)
        self.addCleanup(self.end, process)
        return process

    def log(self, program):
        return (self.root / f'{program}.log').read_text()

    def end(self, process):
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise

    def wait(self, process, program, check):
        def checked():
            self.assertIsNone(process.poll(), self.log(program))
            try:
                return check()
            except OSError:
                return None
        engine.wait_for(program, checked, PATIENCE)

    def test_api(self):
        process = self.start('api')
        self.wait(process, 'api', lambda: urllib.request.urlopen(
            f'http://{LOOPBACK}:{self.api_port}/healthcheck', timeout=5).status == 200)

    def test_wsproxy(self):
        process = self.start('wsproxy')

        def listens():
            with socket.create_connection((LOOPBACK, self.proxy_port), timeout=5):
                return True
        self.wait(process, 'wsproxy', listens)

    def test_compute(self):
        self.useFixture(engine.Engine())
        process = self.start('compute')

        def reported():
            return [service for service in objects.ZunService.list_by_binary(
                zun_context.get_admin_context(), heartbeat.BINARY) if service.last_seen_up]
        self.wait(process, 'compute', reported)
