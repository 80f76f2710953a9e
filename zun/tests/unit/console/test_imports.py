# SPDX-License-Identifier: Apache-2.0
"""The proxy speaks to nodes, and never to an engine: it does not even know how."""

import subprocess
import sys

from zun.tests import base

_LOOK = ('import sys, zun.cmd.wsproxy, zun.console.service\n'
         'print(sorted(name for name in sys.modules if name == "docker"\n'
         '             or name.startswith(("docker.", "zun.container", "zun.compute"))))\n')


class ImportsTest(base.TestCase):
    def test_no_engine(self):
        ended = subprocess.run([sys.executable, '-W', 'ignore', '-c', _LOOK], check=False,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual('[]\n', ended.stdout, ended.stderr)
