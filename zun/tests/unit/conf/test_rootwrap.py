# SPDX-License-Identifier: Apache-2.0
"""What may run as root: the privilege-separation helper with a configuration from /etc."""

import pathlib
import sys
from unittest import mock

import testscenarios

from zun.tests import base

with mock.patch.dict(sys.modules):
    # oslo.rootwrap imports eventlet; it runs in a process of its own, never in Zun's.
    del sys.modules['eventlet']
    from oslo_rootwrap import filters
    from oslo_rootwrap import wrapper

ROOT = pathlib.Path(__file__).parents[4]
TAIL = ['--privsep_context', 'zun.common.privileged.default']
SOCKET = ['--privsep_sock_path', '/tmp/tmp_x1y2/privsep.sock']
FILE = ['--config-file', '/etc/zun/zun.conf']
DIRECTORY = ['--config-dir', '/etc/zun/zun.conf.d']

ALLOWED = {
    'no file': ['privsep-helper', *TAIL, *SOCKET],
    'file': ['privsep-helper', *FILE, *TAIL, *SOCKET],
    'two files': ['privsep-helper', *FILE, *FILE, *TAIL, *SOCKET],
    'directory': ['privsep-helper', *DIRECTORY, *TAIL, *SOCKET],
    'file and directory': ['privsep-helper', *FILE, *DIRECTORY, *TAIL, *SOCKET],
    'files and directory': ['privsep-helper', *FILE, *FILE, *DIRECTORY, *TAIL, *SOCKET],
    'slash': ['privsep-helper', '--config-dir', '/etc/zun/', *TAIL, *SOCKET],
    'cni': ['privsep-helper', *FILE, TAIL[0], 'zun.common.privileged.cni', *SOCKET],
    'os-brick': ['privsep-helper', *FILE, TAIL[0], 'os_brick.privileged.default', *SOCKET],
}
REFUSED = {
    'shell': ['sh', '-c', 'id'],
    'other file': ['privsep-helper', '--config-file', '/tmp/zun.conf', *TAIL, *SOCKET],
    'way out': ['privsep-helper', '--config-file', '/etc/zun/../../tmp/x', *TAIL, *SOCKET],
    'way out at the end': ['privsep-helper', '--config-dir', '/etc/zun/..', *TAIL, *SOCKET],
    'other context': ['privsep-helper', *FILE, TAIL[0], 'os.system', *SOCKET],
    'other socket': ['privsep-helper', *FILE, *TAIL, '--privsep_sock_path', '/etc/passwd'],
    'more': ['privsep-helper', *FILE, *TAIL, *SOCKET, '--helper_command', 'x'],
}


class FiltersTestCase(testscenarios.WithScenarios, base.TestCase):
    scenarios = [
        *((name, {'command': command, 'allowed': True}) for name, command in ALLOWED.items()),
        *((name, {'command': command, 'allowed': False}) for name, command in REFUSED.items()),
    ]

    def test_command(self):
        loaded = wrapper.load_filters([str(ROOT / 'etc/zun/rootwrap.d')])
        # Newer releases of oslo.rootwrap append a rule of their own.
        loaded = [rule for rule in loaded if rule.name != 'privsep-helper']
        self.assertTrue(all(type(rule) is filters.RegExpFilter for rule in loaded))
        self.assertEqual(self.allowed, any(rule.match(self.command) for rule in loaded))
