# SPDX-License-Identifier: Apache-2.0
"""Configuration files as deployment tools write them load, validate and mean what they say."""

import ast
import configparser
import importlib
import importlib.util
import pathlib
import subprocess
import sys

from keystoneauth1 import loading
from oslo_messaging import opts as messaging_opts
from oslo_service import opts as service_opts
import testscenarios

from zun.common import config
from zun.tests import base

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[3]

#: What each file must mean: group -> option -> value.
EXPECTED = {
    'devstack': {
        'DEFAULT': {
            'container_driver': 'docker',
            'capsule_driver': 'cri',
            'debug': True,
            'my_ip': '192.0.2.20',
            'default_cpu': 0.0,
            'default_memory': 0,
            'default_disk': 0,
            'state_path': '/opt/stack/data/zun',
            'container_runtime': 'kata-runtime',
            'use_syslog': True,
        },
        'api': {'host_ip': '192.0.2.20', 'port': 9517},
        'compute': {'host_shared_with_nova': True},
        'database': {'connection': 'mysql+pymysql://root:secret@127.0.0.1/zun?charset=utf8'},
        'docker': {
            'docker_remote_api_host': '192.0.2.20',
            'docker_remote_api_url': 'tcp://192.0.2.20:2375',
        },
        'glance': {'images_directory': '/opt/stack/data/zun/images'},
        'volume': {'volume_dir': '/opt/stack/data/zun/mnt'},
        'websocket_proxy': {'wsproxy_host': '0.0.0.0', 'base_url': 'ws://192.0.2.20:6784/'},
    },
    'kolla-ansible': {
        'DEFAULT': {
            'log_file': '/var/log/kolla/zun/zun-api.log',
            'state_path': '/var/lib/zun',
            'sandbox_image': 'k8s.gcr.io/pause:3.6',
            'transport_url': 'rabbit://openstack:secret@192.0.2.10:5672//',
        },
        'cinder_client': {
            'region_name': 'RegionOne',
            'endpoint_type': 'internalURL',
            'ca_file': '/etc/ssl/certs/ca-certificates.crt',
        },
        'cni_daemon': {'cni_daemon_port': 9036},
        'compute': {'host_shared_with_nova': True},
        'database': {'max_pool_size': 1, 'max_retries': -1, 'connection_recycle_time': 10},
        'docker': {'api_url': 'tcp://192.0.2.10:2375', 'docker_remote_api_port': '2375'},
        'glance': {'images_directory': '/var/lib/zun/images'},
        'network': {'driver': 'kuryr', 'vif_plugging_timeout': 60},
        'oslo_messaging_rabbit': {'ssl': True, 'rabbit_quorum_queue': True},
        'oslo_policy': {'policy_file': 'policy.yaml'},
        'profiler': {
            'enabled': True,
            'trace_sqlalchemy': True,
            'hmac_keys': 'secret',
            'connection_string': 'redis://192.0.2.10:6379',
        },
        'websocket_proxy': {'base_url': 'wss://zun.example.org:6784', 'wsproxy_port': 6784},
        'zun_client': {'region_name': 'RegionOne'},
    },
    'openstack-ansible': {
        'DEFAULT': {
            'capsule_driver': 'docker',
            'default_image_driver': 'docker',
            'image_driver_list': ['glance', 'docker'],
            'my_ip': '0.0.0.0',
            'use_journal': True,
        },
        'api': {'workers': 4, 'host_ip': '0.0.0.0'},
        'cinder_client': {'endpoint_type': 'internalURL'},
        'compute': {'host_shared_with_nova': False},
        'database': {'max_overflow': 50, 'max_pool_size': 5, 'pool_timeout': 30},
        'docker': {'docker_remote_api_version': '1.47'},
        'glance_client': {'insecure': False},
        'network': {'driver': 'kuryr', 'driver_name': 'kuryr'},
        'oslo_messaging_rabbit': {'rabbit_qos_prefetch_count': 10, 'hostname': 'infra1-zun'},
        'scheduler': {
            'driver': 'filter_scheduler',
            'available_filters': ['zun.scheduler.filters.all_filters'],
            'enabled_filters': ['AvailabilityZoneFilter', 'ComputeFilter'],
        },
        'volume': {
            'use_multipath': True,
            'driver_list': ['cinder', 'local'],
            'volume_dir': '/var/lib/zun/volumes',
        },
        'websocket_proxy': {'wsproxy_host': '0.0.0.0'},
    },
}
#: Keys that kolla-ansible writes and that no library ever knew there.
FOREIGN = {
    'kolla-ansible': {
        'keystone_auth/www_authenticate_uri',
        'keystone_auth/service_token_roles_required',
        'keystone_auth/region_name',
        'keystone_auth/memcache_security_strategy',
        'keystone_auth/memcache_secret_key',
        'keystone_auth/memcached_servers',
    },
}


class DeployTestCase(testscenarios.WithScenarios, base.TestCase):
    scenarios = [(tool, {'tool': tool}) for tool in EXPECTED]

    def setUp(self):
        super().setUp()
        self.file = HERE / 'deploy' / f'zun.conf.{self.tool}'

    def test_values(self):
        config.parse_args([], program='zun-api', default_config_files=[str(self.file)])
        for group, options in messaging_opts.list_opts():
            self.CONF.register_opts(options, group)
        for group, values in EXPECTED[self.tool].items():
            read = self.CONF if group == 'DEFAULT' else self.CONF[group]
            for name, value in values.items():
                self.assertEqual(value, getattr(read, name), f'[{group}]{name}')

    def test_service_user(self):
        config.parse_args([], program='zun-api', default_config_files=[str(self.file)])
        auth = loading.load_auth_from_conf_options(self.CONF, 'keystone_auth')
        self.assertTrue(auth.auth_url.startswith('http://192.0.2.'))
        self.assertEqual('zun', auth._username)

    def test_validator(self):
        done = subprocess.run(
            [
                sys.executable,
                '-m',
                'oslo_config.validator',
                '--config-file',
                str(ROOT / 'etc/zun/zun-config-generator.conf'),
                '--input-file',
                str(self.file),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=ROOT,
        )
        refused = {
            line.split(':', 2)[2].split(' ')[0]
            for line in done.stderr.splitlines()
            if line.startswith('ERROR')
        }
        self.assertEqual(FOREIGN.get(self.tool, set()), refused, done.stderr)
        self.assertEqual(1 if refused else 0, done.returncode, done.stderr)


class PasteTestCase(base.TestCase):
    def read(self, path):
        parser = configparser.RawConfigParser(delimiters=['='], comment_prefixes=['#'])
        parser.read_string(path.read_text().replace('/: ', '/ = ').replace('check: ', 'check = '))
        return {name: dict(section) for name, section in parser.items()}

    def test_shipped_file_is_the_deployed_one(self):
        deployed = self.read(HERE / 'deploy' / 'api-paste.ini')
        self.assertEqual(deployed, self.read(ROOT / 'etc/zun/api-paste.ini'))


class NamesTestCase(base.TestCase):
    """Names that deployments write or call: entry points and import paths."""

    @property
    def graceful(self):
        service_opts.register_service_opts(self.CONF)
        return self.CONF.graceful_shutdown_timeout

    def test_scripts_exist(self):
        names = {line.split(' = ')[0] for line in entry_points()['console_scripts']}
        wanted = {'zun-api', 'zun-compute', 'zun-wsproxy', 'zun-cni-daemon', 'zun-cni'}
        wanted |= {'zun-db-manage', 'zun-status', 'zun-rootwrap', 'zun-scheduler'}
        self.assertEqual(set(), wanted - names)

    def test_wsgi_module(self):
        """Importing it would start the application: look at its text."""
        found = importlib.util.find_spec('zun.wsgi.api')
        tree = ast.parse(pathlib.Path(found.origin).read_text())
        names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        self.assertIn('application', names)

    def test_systemd_units(self):
        scripts = {line.split(' = ')[0] for line in entry_points()['console_scripts']}
        units = sorted((ROOT / 'etc/systemd').iterdir())
        self.assertEqual(5, len(units))
        for path in units:
            unit = configparser.RawConfigParser()
            unit.optionxform = str
            unit.read(path)
            self.assertIn(path.stem, scripts)
            self.assertEqual(f'/usr/local/bin/{path.stem}', unit['Service']['ExecStart'])
            self.assertLess(self.graceful, int(unit['Service']['TimeoutStopSec']), path.stem)

    def test_files_that_packagers_copy(self):
        for name in (
            'etc/zun/api-paste.ini',
            'etc/zun/rootwrap.conf',
            'etc/zun/rootwrap.d/zun.filters',
            'etc/zun/zun-config-generator.conf',
            'etc/zun/zun-policy-generator.conf',
            'etc/cni/net.d/10-zun-cni.conf',
            'requirements.txt',
            'setup.cfg',
            'setup.py',
        ):
            self.assertTrue((ROOT / name).is_file(), name)


def entry_points() -> dict[str, list[str]]:
    """Return the lines of setup.cfg by entry-point group."""
    parser = configparser.RawConfigParser(delimiters=['='])
    parser.optionxform = str
    parser.read(ROOT / 'setup.cfg')
    return {
        group: [line for line in text.splitlines() if line]
        for group, text in parser['options.entry_points'].items()
    }


IMPORT_PATHS = [
    'zun.api.app:app_factory',
    'zun.api.middleware.auth_token:AuthTokenMiddleware.factory',
    'zun.common.profiler:WsgiMiddleware.factory',
    'zun.scheduler.filters:all_filters',
    'zun.common.quota:DbQuotaDriver',
    'zun.common.quota:NoopQuotaDriver',
    'zun.container.docker.driver:DockerDriver',
]


def _targets() -> list[tuple[str, dict[str, str]]]:
    lines = [line for group in entry_points().values() for line in group]
    targets = {line.split(' = ')[1] for line in lines} | set(IMPORT_PATHS)
    targets.remove('oslo_rootwrap.cmd:main')  # imports eventlet, in a process of its own
    return [(target, {'target': target}) for target in sorted(targets)]


class ImportTestCase(testscenarios.WithScenarios, base.TestCase):
    scenarios = _targets()

    def test_target(self):
        module, _, attributes = self.target.partition(':')
        found = importlib.import_module(module)
        for name in attributes.split('.'):
            found = getattr(found, name)
        self.assertIsNotNone(found)


load_tests = testscenarios.load_tests_apply_scenarios
