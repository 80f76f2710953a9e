# SPDX-License-Identifier: Apache-2.0
"""Every program works with native threads."""

import subprocess
import sys

import testscenarios

from zun.tests import base

PROGRAMS = ['api', 'cni_daemon', 'compute', 'db_manage', 'scheduler', 'standalone', 'status',
            'wsproxy']
#: Modules of eventlet itself; other libraries only name it.
LOOK = ('import sys, zun.cmd.%s, oslo_messaging.rpc.server, oslo_service.service\n'
        'from oslo_service import backend\n'
        'print(backend.get_backend_type().name)\n'
        'print(sorted(name for name, module in sys.modules.items()\n'
        '             if name.partition(".")[0] == "eventlet" and module))\n')


class TestThreads(testscenarios.WithScenarios, base.TestCase):
    scenarios = [(name, {'program': name}) for name in PROGRAMS]

    def test_no_eventlet(self):
        ended = subprocess.run([sys.executable, '-W', 'ignore', '-c', LOOK % self.program],
                               check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(['THREADING', '[]'], ended.stdout.split('\n')[:2], ended.stderr)
