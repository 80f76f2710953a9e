# SPDX-License-Identifier: Apache-2.0
"""Reading the configuration: files, defaults of libraries, options without effect."""

import fixtures
from oslo_config import cfg
import oslo_messaging
from oslo_middleware import cors

from zun import version
from zun.common import config
from zun.conf import keystone
from zun.conf import legacy
from zun.tests import base


class ParseTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.useFixture(fixtures.EnvironmentVariable('HOME', self.directory.path))

    def write(self, name, text):
        path = self.directory.join(name)
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_file_on_the_command_line(self):
        path = self.write('a.conf', '[api]\nport = 1234\n')
        config.parse_args(['--config-file', path, '--debug'], program='zun-api')
        self.assertEqual(1234, self.CONF.api.port)
        self.assertTrue(self.CONF.debug)

    def test_later_file_wins(self):
        first = self.write('a.conf', '[api]\nport = 1\nworkers = 2\n')
        second = self.write('b.conf', '[api]\nport = 3\n')
        config.parse_args(['--config-file', first, '--config-file', second])
        self.assertEqual((3, 2), (self.CONF.api.port, self.CONF.api.workers))

    def test_directory_on_the_command_line(self):
        self.write('10.conf', '[api]\nport = 1\n')
        self.write('20.conf', '[api]\nport = 2\n')
        config.parse_args(['--config-dir', self.directory.path], default_config_files=[])
        self.assertEqual(2, self.CONF.api.port)

    def test_search(self):
        self.write('zun.conf', '[api]\nport = 1\nworkers = 7\n')
        self.write('zun-compute.conf', '[api]\nport = 2\n')
        config.parse_args([], program='zun-compute')
        self.assertEqual((2, 7), (self.CONF.api.port, self.CONF.api.workers))
        config.parse_args([], program='zun-wsproxy')
        self.assertEqual(1, self.CONF.api.port)

    def test_reload_forgets_the_file_before(self):
        first = self.write('a.conf', '[api]\nport = 1\n')
        second = self.write('b.conf', '[api]\nworkers = 3\n')
        config.parse_args(['--config-file', first])
        config.parse_args(['--config-file', second])
        self.assertEqual((9517, 3), (self.CONF.api.port, self.CONF.api.workers))

    def test_reload_keeps_what_code_has_set(self):
        self.CONF.set_override('port', 5, group='api')
        self.CONF.set_default('threads', 6, group='api')
        config.parse_args([], default_config_files=[])
        self.assertEqual((5, 6), (self.CONF.api.port, self.CONF.api.threads))

    def test_value_out_of_bounds(self):
        path = self.write('a.conf', '[api]\nworkers = -1\n')
        config.parse_args(['--config-file', path])
        self.assertRaises(cfg.ConfigFileValueError, lambda: self.CONF.api.workers)

    def test_missing_file(self):
        arguments = ['--config-file', self.directory.join('none.conf')]
        self.assertRaises(cfg.ConfigFilesNotFoundError, config.parse_args, arguments)

    def test_version(self):
        stdout = self.useFixture(fixtures.StringStream('stdout')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stdout', stdout))
        raised = self.assertRaises(SystemExit, config.parse_args, ['--version'])
        stdout.seek(0)
        self.assertEqual(0, raised.code)
        self.assertIn(version.version_string(), stdout.read())


class LibraryDefaultsTestCase(base.TestCase):
    def test_control_exchange(self):
        oslo_messaging.get_rpc_transport(self.CONF, url='fake://')
        self.assertEqual('zun', self.CONF.control_exchange)

    def test_bus_is_looked_for_often(self):
        def interval():
            oslo_messaging.get_rpc_transport(self.CONF, 'rabbit://nowhere').cleanup()
            return self.CONF.oslo_messaging_rabbit.rabbit_interval_max
        self.assertEqual(5, interval())
        path = self.useFixture(fixtures.TempDir()).join('a.conf')
        with open(path, 'w') as file:
            file.write('[oslo_messaging_rabbit]\nrabbit_interval_max = 9\n')
        config.parse_args(['--config-file', path])
        self.assertEqual(9, interval())

    def test_policy_file(self):
        self.assertEqual('policy.yaml', self.CONF.oslo_policy.policy_file)

    def test_auth_type(self):
        self.assertEqual('password', self.CONF.keystone_auth.auth_type)
        self.assertIsNone(self.CONF.service_user.auth_type)

    def test_auth_section(self):
        self.config('keystone_auth', auth_section='keystone_authtoken')
        self.assertEqual('keystone_authtoken', self.CONF.keystone_auth.auth_section)

    def test_cors(self):
        self.CONF.register_opts(cors.CORS_OPTS, 'cors')
        for name in ('allow_headers', 'expose_headers'):
            headers = self.CONF.cors[name]
            self.assertIn('OpenStack-API-Version', headers)
            self.assertIn('X-OpenStack-Request-ID', headers)
        self.assertEqual(
            ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'],
            self.CONF.cors.allow_methods,
        )

    def test_defaults_do_not_pile_up(self):
        once = list(self.CONF.default_log_levels)
        config.set_config_defaults()
        self.assertEqual(once, self.CONF.default_log_levels)
        self.assertIn('docker=INFO', once)

    def test_sample_of_the_identity(self):
        groups = {group.name: opts for group, opts in keystone.list_opts()}
        names = {opt.dest for opt in groups['keystone_auth']}
        self.assertTrue({'auth_type', 'auth_url', 'username', 'password', 'cafile'} <= names)


class Log:
    def __init__(self):
        self.lines = []

    def warning(self, text, *values):
        self.lines.append(text % values)


class LegacyTestCase(base.TestCase):
    def report(self, text):
        path = self.useFixture(fixtures.TempDir()).join('zun.conf')
        with open(path, 'w') as file:
            file.write(text)
        config.parse_args([], default_config_files=[path])
        log = Log()
        legacy.report(self.CONF, log)
        return log.lines

    def test_nothing_set(self):
        self.assertEqual([], self.report('[api]\nport = 1\n'))

    def test_one_line_for_each_option(self):
        lines = self.report('[network]\ndriver_name = kuryr\n[DEFAULT]\nbindir = /x\n')
        self.assertEqual(
            [
                '[DEFAULT]bindir has no effect. It never had an effect.',
                '[network]driver_name has no effect. Networks need no engine plug-in.',
            ],
            lines,
        )

    def test_values_that_mean_others(self):
        for value in ('kuryr', 'cni'):
            self.assertEqual(
                [f'[network]driver = {value} means native. '
                 'Zun wires the ports of Neutron itself.'],
                self.report(f'[network]\ndriver = {value}\n'))
        self.assertEqual([], self.report('[network]\ndriver = native\n'))

    def test_what_tools_write_everywhere_is_silent(self):
        lines = self.report('[DEFAULT]\nuse_sandbox = true\n[zun_client]\ninsecure = false\n')
        self.assertEqual([], lines)

    def test_set_by_code_is_not_reported(self):
        self.CONF.set_default('driver_name', 'x', group='network')
        self.assertEqual([], self.report(''))

    def test_options_say_that_they_have_no_effect(self):
        for entry in legacy.UNREAD:
            self.assertTrue(entry.opt.help.startswith('Accepted, without effect.'), entry)
            self.assertTrue(entry.reason.endswith('.'), entry)

    def test_old_timeout_is_the_fallback(self):
        self.report('[cni_daemon]\nvif_active_timeout = 7\n')
        self.assertEqual(7, self.CONF.network.vif_plugging_timeout)
        self.report('[cni_daemon]\nvif_active_timeout = 7\n[network]\nvif_plugging_timeout = 8\n')
        self.assertEqual(8, self.CONF.network.vif_plugging_timeout)
