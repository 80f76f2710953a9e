# SPDX-License-Identifier: Apache-2.0
"""Every recorded exchange of the API, replayed in process."""

import testscenarios

from zun.api import microversions
from zun.tests import base
from zun.tests.conformance import adapter
from zun.tests.conformance import deviations
from zun.tests.conformance import recorded
from zun.tests.conformance import replay

_DATA = recorded.exchanges()


class ExchangesTest(testscenarios.WithScenarios, base.TestCase):
    scenarios = [(scenario['name'], {'scenario': scenario}) for scenario in _DATA['scenarios']]

    def test_replay(self):
        played = adapter.InProcess(_DATA['identities'])
        run = replay.Replay(played, ignored=(adapter.REFRESH,))
        run.play(deviations.expected_of(self.scenario))
        self.assertEqual([], run.report.failed)
        # Rules of a scenario's own hide fields that are otherwise always there.
        if not self.scenario.get('policy'):
            self.assertEqual([], played.undescribed)
        self.assertGreater(run.report.passed, 0)


class DeviationsTest(base.TestCase):
    def test_newest_version(self):
        self.assertEqual(deviations.NEWEST.ours, str(microversions.MAX))
        asked = {'container latest': [], f'container {deviations.NEWEST.refused}': []}
        for scenario in _DATA['scenarios']:
            expected = deviations.expected_of(scenario, {})
            for step, other in zip(scenario['steps'], expected['steps'], strict=True):
                version = step.get('request', {}).get('headers', {}).get(
                    'OpenStack-API-Version', '').lower()
                if version in asked:
                    asked[version].append(
                        (scenario['name'], step['n'], other['response']['status']))
        self.assertEqual({
            'container latest': [('root-documents', 9, 200), ('version-negotiation', 6, 200),
                                 ('version-negotiation', 7, 200), ('create-minimal', 9, 202)],
            'container 1.41': [('version-negotiation', number, 406)
                               for number in (22, 26, 27, 29)]}, asked)

    def test_each_is_about_a_recorded_step(self):
        steps = {(scenario['name'], step['n']) for scenario in _DATA['scenarios']
                 for step in scenario['steps'] if step['op'] == 'request'}
        self.assertEqual(set(), deviations.TABLE.keys() - steps)

    def test_each_is_needed(self):
        for scenario in _DATA['scenarios']:
            wanted = {number for name, number in deviations.TABLE if name == scenario['name']
                      and not deviations.TABLE[name, number].skip}
            if not wanted:
                continue
            skipped = [step for step in scenario['steps'] if not deviations.TABLE.get(
                (scenario['name'], step['n']), deviations.Deviation('')).skip]
            run = replay.Replay(adapter.InProcess(_DATA['identities']),
                                ignored=(adapter.REFRESH,))
            run.play(deviations.expected_of({**scenario, 'steps': skipped}, {}))
            failed = {int(text.split()[2]) for text in run.report.failed}
            self.assertEqual(wanted, failed, scenario['name'])
