# SPDX-License-Identifier: Apache-2.0
"""The recorded exchanges that need no fake node, played against the whole cloud."""

import os

import testscenarios

from zun.tests.conformance import deviations
from zun.tests.conformance import recorded
from zun.tests.conformance import replay
from zun.tests.functional.lab import base
from zun.tests.functional.lab import stack

_DATA = recorded.exchanges()
load_tests = testscenarios.load_tests_apply_scenarios

_GROUP = 'quota.'
#: What the whole cloud answers otherwise than the application alone, which was recorded.
_TABLE: deviations.Table = {
    ('routing', 15): deviations.Deviation(
        'the map of URLs in front of the application joins slashes', status=200),
    ('routing', 45): deviations.Deviation(
        'OPTIONS is answered by the CORS filter in front of the application', status=200),
    ('images', 11): deviations.Deviation(
        'the image of an earlier step, which is not played, does not exist', skip=True),
    ('e2e-container', 13): deviations.Deviation(
        'a ticket is 32 random bytes, not a uuid', body={
            '$match': 'regex', 'pattern': r'^ws://[^?]*\?token=[\w-]{43}&uuid={{c}}$'}),
}


class TestRecorded(testscenarios.WithScenarios, base.LabTestCase):
    scenarios = [(scenario['name'], {'scenario': scenario}) for scenario in _DATA['scenarios']
                 if scenario['stack'] != 'none']

    def setUp(self) -> None:
        super().setUp()
        self.users = {'demo': self.user, 'admin': self.admin,
                      'other': base.User('other', 'other')}
        limits = {name.removeprefix(_GROUP): value
                  for name, value in (self.scenario.get('config') or {}).items()
                  if name.startswith(_GROUP)}
        for user in self.users.values() if limits else ():
            path = f'/v1/quotas/{user.project}'
            answer = self.admin.http('PUT', path, json=limits)
            self.assertEqual(200, answer.status_code, answer.text)
            self.addCleanup(self.admin.http, 'DELETE', path)

    def _adapter(self) -> stack.Stack:
        hosts = self.admin.http('GET', '/v1/hosts').json()['hosts']
        tokens = {}
        aliases = {'busybox': os.environ['E2E_IMAGE'].removesuffix(':latest'),
                   'compute-1': hosts[0]['hostname']}
        for name, user in self.users.items():
            tokens[name] = {'X-Auth-Token': user.session.get_token()}
            identity = _DATA['identities'][name]
            aliases[identity['X-User-Id']] = user.session.get_user_id()
            aliases[identity['X-Project-Id']] = user.project
        return stack.Stack(os.environ['LAB_CONTAINER_URL'], tokens, aliases)

    def test_replay(self):
        run = replay.Replay(self._adapter(), mode=replay.STACK)
        run.play(deviations.expected_of(
            self.scenario, {**deviations.TABLE, **_TABLE}))
        self.assertEqual([], run.report.failed)
        self.assertGreater(run.report.passed, 0)
