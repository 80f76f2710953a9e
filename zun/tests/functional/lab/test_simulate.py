# SPDX-License-Identifier: Apache-2.0
"""tools/simulate still works, and three zun-scheduler overfill nothing.

``ZUN_TEST_CREATES`` and ``ZUN_TEST_HOSTS`` make the race larger.
"""

import json
import os
import pathlib
import subprocess
import uuid

import fixtures

from zun.tests import base
from zun.tests.functional.lab import base as lab

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

    def other_cloud(self):
        """A host of another cloud in the same Placement, as those of the lab are."""
        session = lab.User('admin', 'admin').session
        provider = str(uuid.uuid4())
        path = f'/resource_providers/{provider}'

        def send(method, path, body=None):
            return session.request(os.environ['LAB_PLACEMENT_URL'] + path, method, json=body,
                                   headers={'OpenStack-API-Version': 'placement 1.39'})

        send('POST', '/resource_providers', {'uuid': provider, 'name': f'other-{provider}'})
        self.addCleanup(send, 'DELETE', path)
        send('PUT', '/traits/CUSTOM_ZUN_COMPUTE')
        send('PUT', f'{path}/traits', {'resource_provider_generation': 0,
                                       'traits': ['CUSTOM_ZUN_COMPUTE']})
        send('PUT', f'{path}/inventories', {
            'resource_provider_generation': 1,
            'inventories': {'VCPU': {'total': 100}, 'MEMORY_MB': {'total': 100_000}}})

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
        self.other_cloud()
        for ledger in ('placement', 'local'):
            found = json.loads(self.simulate(
                'race', ledger, f'--creates={CREATES}', f'--nodes={NODES}', f'--slots={SLOTS}'))
            self.assertEqual([], found['wrong'])
            self.assertEqual((min(CREATES, NODES * SLOTS), SLOTS),
                             (found['running'], found['fullest']), found)
