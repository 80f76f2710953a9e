# SPDX-License-Identifier: Apache-2.0
"""Every option that deployments may have written exists as they know it."""

import configparser
import json
import pathlib

from oslo_config import cfg
from oslo_config import types

from zun.conf import database
from zun.conf import opts
from zun.tests import base

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[3]
KNOWN = json.loads((HERE / 'options.json').read_text())

#: The type `string`, of keystoneauth's options, is Python's own.
TYPES = {
    'bool': types.Boolean,
    'dict': types.Dict,
    'float': types.Float,
    'hostaddress': types.HostAddress,
    'int': types.Integer,
    'ip': types.IPAddress,
    'list': types.List,
    'multistr': types.String,
    'port': types.Port,
    'str': types.String,
    'uri': types.URI,
}

#: Defaults that differ from what deployments know, each with its reason.
NEW_DEFAULTS = {
    # A package directory is no place for images and mounts.
    ('DEFAULT', 'state_path'): '/var/lib/zun',
    # The version is negotiated: engines no longer speak the one that was pinned.
    ('docker', 'docker_remote_api_version'): None,
    # Ports are wired without an engine plug-in; the old name is accepted.
    ('network', 'driver'): 'native',
    # Unset means valid_interfaces, which begins with the internal interface.
    ('cinder_client', 'endpoint_type'): None,
    ('glance_client', 'endpoint_type'): None,
    ('neutron_client', 'endpoint_type'): None,
    ('placement_client', 'endpoint_type'): None,
}
#: Namespaces of options that deployments did not know: the console proxy reads one of them.
NEW_NAMESPACES = ['oslo.middleware.http_proxy_to_wsgi']
#: Options that must not be logged although they once were.
NEW_SECRETS = {('docker', 'default_registry_password')}


def listed() -> dict[tuple[str, str], cfg.Opt]:
    """Return all options by group and name."""
    groups = [*opts.list_opts(), (database.GROUP, database.OPTS)]
    return {(group.name, opt.dest): opt for group, members in groups for opt in members}


class OptionsTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.options = listed()

    def test_known_options_exist(self):
        wanted = {(known['group'], known['name']) for known in KNOWN['options']}
        wanted |= {('zun_client', name) for name in KNOWN['zun_client']}
        self.assertEqual(set(), wanted - set(self.options))

    def test_type(self):
        for known in KNOWN['options']:
            opt = self.options[known['group'], known['name']]
            if known['type'] != 'string':
                self.assertIsInstance(opt.type, TYPES[known['type']], known)
            self.assertEqual(known['type'] == 'multistr', opt.multi, known)

    def test_default(self):
        for known in KNOWN['options']:
            if known.get('default_is_computed'):
                continue
            key = known['group'], known['name']
            expected = NEW_DEFAULTS.get(key, known['default'])
            self.assertEqual(expected, self.options[key].default, known)

    def test_computed_default_is_not_shown(self):
        for known in KNOWN['options']:
            if known.get('default_is_computed'):
                opt = self.options[known['group'], known['name']]
                self.assertIsNotNone(opt.default, known)
                self.assertIsNotNone(opt.sample_default, known)

    def test_bounds(self):
        for known in KNOWN['options']:
            kind = self.options[known['group'], known['name']].type
            for bound in ('min', 'max'):
                if bound in known:
                    self.assertEqual(known[bound], getattr(kind, bound), known)
            if 'choices' in known:
                self.assertEqual(set(known['choices']), set(kind.choices), known)

    def test_flags(self):
        for known in KNOWN['options']:
            key = known['group'], known['name']
            opt = self.options[key]
            self.assertEqual(known.get('secret', False) or key in NEW_SECRETS, opt.secret, known)
            self.assertEqual(known.get('mutable', False), opt.mutable, known)

    def test_every_option_has_help(self):
        libraries = {'database', 'keystone_auth', 'profiler', 'service_user'}
        for (group, name), opt in self.options.items():
            if group not in libraries:
                self.assertTrue(opt.help and opt.help.endswith('.'), (group, name))

    def test_default_is_within_bounds(self):
        for (group, name), opt in self.options.items():
            if opt.default is None or '$' in str(opt.default):
                continue
            for value in opt.default if opt.multi else [opt.default]:
                self.assertEqual(value, opt.type(value), (group, name))

    def test_sample_generator_namespaces(self):
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        text = (ROOT / 'etc/zun/zun-config-generator.conf').read_text()
        parser.read_string(text)
        self.assertTrue(parser['DEFAULT']['output_file'].endswith('zun.conf.sample'))
        found = [line.split('= ')[1] for line in text.splitlines() if line.startswith('namespace')]
        self.assertEqual(sorted([*KNOWN['namespaces'], *NEW_NAMESPACES]), sorted(found))
