# SPDX-License-Identifier: Apache-2.0
"""The devstack plugin, sourced as devstack does it: what it writes and what it calls."""

import os
import pathlib
import socket
import ssl
import subprocess
import sys

import fixtures

from zun.common import config
from zun.tests import base

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[3]

STACK = ('stack pre-install', 'stack install', 'stack post-config', 'stack extra')
ALL_IN_ONE = 'key,placement-api,rabbit'
NODE = 'placement-client,-zun-api,-zun-scheduler,-zun-wsproxy'


class DevstackTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.root / 'bin').mkdir()
        tool = self.root / 'bin' / 'zun-db-manage'
        tool.write_text('#!/bin/sh\necho zun-db-manage "$@" >>"$ROOT/calls"\n')
        tool.chmod(0o755)

    def run_phases(self, *phases, services=ALL_IN_ONE, **variables):
        """Run phases one after the other in one shell, as stack.sh does; the calls to devstack."""
        calls = self.root / 'calls'
        calls.write_text('')
        script = [f'source {HERE}/devstack.sh', f'source {ROOT}/devstack/settings',
                  *(f'source {ROOT}/devstack/plugin.sh {phase}' for phase in phases)]
        done = subprocess.run(
            ['bash', '-c', '\n'.join(script)], capture_output=True, text=True, timeout=60,
            check=False, env={'PATH': os.environ['PATH'], 'ROOT': str(self.root),
                              'REPO': str(ROOT), 'ENABLED_SERVICES': services, **variables})
        self.assertEqual((0, ''), (done.returncode, done.stderr))
        return calls.read_text().splitlines()

    @property
    def zun_conf(self):
        return self.root / 'etc/zun/zun.conf'

    def load(self):
        config.parse_args([], program='zun-api', default_config_files=[str(self.zun_conf)])
        return self.CONF

    def started(self, calls):
        return [call.split()[1] for call in calls if call.startswith('run_process')]

    def test_all_in_one(self):
        calls = self.run_phases(*STACK)
        self.assertEqual(['zun-api', 'zun-scheduler', 'zun-compute', 'zun-wsproxy'],
                         self.started(calls))
        for call in (
                'define_plugin zun',
                'install_package docker.io',
                f'setup_develop {ROOT}',
                'pip_install_gr python-zunclient',
                'configure_rootwrap zun',
                f'write_uwsgi_config {self.root}/etc/zun/zun-api-uwsgi.ini '
                'zun.wsgi.api:application /container  zun-api',
                'create_service_user zun admin',
                'get_or_create_service zun container Container Service',
                'get_or_create_endpoint container RegionOne http://192.0.2.20/container/v1',
                'wait_for_service 60 http://192.0.2.20/container'):
            self.assertIn(call, calls)
        order = [calls.index(call) for call in (
            'recreate_database zun', f'zun-db-manage --config-file {self.zun_conf} upgrade',
            f'run_process zun-compute {self.root}/bin/zun-compute '
            f'--config-file {self.zun_conf} docker')]
        self.assertEqual(sorted(order), order)

    def test_options(self):
        self.run_phases(*STACK)
        conf = self.load()
        self.assertEqual('192.0.2.20', conf.my_ip)
        self.assertEqual(f'{self.root}/opt/stack/data/zun', conf.state_path)
        self.assertEqual('mysql+pymysql://root:secret@127.0.0.1/zun?charset=utf8',
                         conf.database.connection)
        self.assertEqual(('docker', 'docker', 'embedded', 'runc'),
                         (conf.container_driver, conf.capsule_driver, conf.network.driver,
                          conf.container_runtime))
        self.assertEqual(32, len(conf.auth_encryption_key))
        self.assertEqual('placement', conf.scheduler.ledger)
        self.assertEqual('RegionOne', conf.neutron_client.region_name)
        self.assertEqual('ws://192.0.2.20:6784/', conf.websocket_proxy.base_url)
        self.assertEqual('password', conf.keystone_auth.auth_type)
        self.assertFalse(conf.compute.host_shared_with_nova)
        self.assertTrue((self.zun_conf.parent / 'api-paste.ini').is_file())

    def test_validator(self):
        """Every key is one that Zun or a library of its knows."""
        self.run_phases(*STACK)
        done = subprocess.run(
            [sys.executable, '-m', 'oslo_config.validator',
             '--config-file', str(ROOT / 'etc/zun/zun-config-generator.conf'),
             '--input-file', str(self.zun_conf)],
            check=False, capture_output=True, text=True, timeout=60, cwd=ROOT)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_consoles(self):
        self.run_phases(*STACK)
        console = self.load().console
        for cert, key in ((console.cert_file, console.key_file),
                          (console.proxy_cert_file, console.proxy_key_file)):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(console.ca_file)
            context.load_cert_chain(cert, key)
            self.assertEqual(0o600, os.stat(key).st_mode & 0o777)
        self.assertIn(socket.gethostname(), console.cert_file)

    def test_node(self):
        calls = self.run_phases(*STACK, services=NODE)
        self.assertEqual(['zun-compute'], self.started(calls))
        for name in ('create_service_user', 'recreate_database', 'write_uwsgi_config'):
            self.assertFalse([call for call in calls if call.startswith(name)], name)
        console = self.load().console
        self.assertIsNone(console.proxy_cert_file)
        self.assertIsNotNone(console.cert_file)

    def test_hosts_share_the_encryption_key(self):
        self.run_phases(*STACK)
        first = self.load().auth_encryption_key
        self.run_phases(*STACK, services=NODE)
        self.assertEqual(first, self.load().auth_encryption_key)

    def test_variables(self):
        calls = self.run_phases(
            *STACK, services=f'key,n-cpu,tls-proxy,{ALL_IN_ONE.split(",", 1)[1]}',
            ZUN_DOCKER_PACKAGE='', ZUN_CAPSULE_DRIVER='cri', ZUN_NETWORK_DRIVER='native',
            ZUN_ALLOW_MULTIPLE_HOSTS='True')
        self.assertNotIn('install_package docker.io', calls)
        self.assertNotIn('start_service docker', calls)
        conf = self.load()
        self.assertEqual(('cri', 'native'), (conf.capsule_driver, conf.network.driver))
        self.assertTrue(conf.compute.host_shared_with_nova)
        self.assertTrue(conf.embedded_network.allow_multiple_hosts)
        self.assertEqual('wss://192.0.2.20:6784/', conf.websocket_proxy.base_url)
        self.assertEqual(f'{self.root}/opt/stack/data/devstack-cert.pem',
                         conf.websocket_proxy.cert)

    def test_without_placement(self):
        self.run_phases(*STACK, services='key')
        self.assertEqual('local', self.load().scheduler.ledger)

    def test_unstack(self):
        calls = self.run_phases('unstack')
        self.assertEqual(
            [f'stop_process zun-{name}' for name in
             ('api', 'scheduler', 'compute', 'wsproxy', 'cni-daemon')],
            [call for call in calls if call.startswith('stop_process')])

    def test_clean(self):
        self.run_phases(*STACK)
        calls = self.run_phases('clean')
        docker = 'docker --host unix:///var/run/docker.sock'
        self.assertIn(f'{docker} container rm --force --volumes one two', calls)
        self.assertIn(f'{docker} network rm one two', calls)
        self.assertFalse(self.zun_conf.parent.exists())

    def test_host_without_zun(self):
        off = 'key,-zun-api,-zun-scheduler,-zun-wsproxy,-zun-compute'
        self.assertEqual(['define_plugin zun'], self.run_phases(*STACK, services=off))
