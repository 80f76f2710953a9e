# SPDX-License-Identifier: Apache-2.0
"""tools/simulate still works, and three zun-scheduler overfill nothing.

``ZUN_TEST_CREATES`` and ``ZUN_TEST_HOSTS`` make the race larger.
"""

import json
import os
import pathlib
import subprocess

import fixtures

from zun.tests import base

CREATES = int(os.environ.get('ZUN_TEST_CREATES', 60))
NODES = int(os.environ.get('ZUN_TEST_HOSTS', 4))
SLOTS = CREATES * 3 // 4 // NODES
TOOL = pathlib.Path(__file__).parents[4] / 'tools' / 'simulate'


class SimulateTest(base.TestCase):
    def setUp(self):
        super().setUp()
        if 'LAB_DB_URL' not in os.environ:
            self.skipTest('no lab: run tools/lab up and eval "$(tools/lab env)"')

    def simulate(self, *args):
        """What a command prints."""
        ended = subprocess.run([TOOL, *args], check=False, capture_output=True, text=True,
                               timeout=500)
        self.assertEqual(0, ended.returncode, ended.stderr)
        return ended.stdout

    def test_smoke(self):
        results = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'results.json'
        self.simulate('smoke', '--results', results)
        point, = json.loads(results.read_text())['points']
        self.assertEqual((2, 200, 2, 0), tuple(
            point[name] for name in ('nodes', 'rows', 'live', 'overfilled')))
        self.assertEqual(6, point['burst']['count'])
        self.assertGreater(point['burst']['per_second'], 0)
        self.assertEqual(2.0, point['create']['messages'])
        self.assertEqual({'api', 'scheduler', 'nodes'}, set(point['create']['statements']))

    def test_race_of_three_schedulers(self):
        """More creates at once than fit, with real processes and either ledger."""
        for ledger in ('placement', 'local'):
            found = json.loads(self.simulate(
                'race', ledger, f'--creates={CREATES}', f'--nodes={NODES}', f'--slots={SLOTS}'))
            self.assertEqual([], found['wrong'])
            self.assertEqual((min(CREATES, NODES * SLOTS), SLOTS),
                             (found['running'], found['fullest']), found)
