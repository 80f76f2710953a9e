# SPDX-License-Identifier: Apache-2.0
"""Services killed in the middle of creates: the rule of recovery holds."""

import time

from zun.tests.functional.lab import base

COUNT = 20
#: Reapers and sweeps look every half minute.
SETTLE = 240


class TestCrash(base.LabTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(base.lab, 'zun', 'start')
        answer = self.admin.http('PUT', f'/v1/quotas/{self.user.project}', json={
            'containers': -1, 'cpu': -1, 'memory': -1, 'disk': -1})
        self.assertEqual(200, answer.status_code, answer.text)
        self.addCleanup(self.admin.http, 'DELETE', f'/v1/quotas/{self.user.project}')

    def _assert_settled(self) -> None:
        for ident in self.made:
            found = self.wait_status(ident, *base.FINAL, timeout=SETTLE)
            self.assertIsNone(found['task_state'], found)
            if found['status'] == 'Error':
                self.assertTrue(found['status_reason'], found)
        for ident in self.made:
            status = self.user.show(ident)['status']
            if status == 'Error':
                self.wait(f'{ident} cleaned', lambda i=ident: not self.behind(i), SETTLE)
            else:
                self.assertEqual(1, len(self.behind(ident)), (ident, status))
                self.assertEqual(1, len(self.allocations(ident)), (ident, status))
        for ident in self.made:
            answer = self.user.http('DELETE', f'/v1/containers/{ident}?stop=true')
            self.assertEqual(204, answer.status_code, answer.text)
        for ident in list(self.made):
            self.wait(f'{ident} gone', lambda i=ident: self.user.show(i) is None, SETTLE)
            self.assertEqual([], self.behind(ident))
            self.assertEqual({}, self.allocations(ident))
            self.made.remove(ident)

    def _kill_in_the_middle(self, *services: str) -> None:
        for _ in range(COUNT):
            self.post()
        self.wait('a first container in the engine', lambda: any(map(self.behind, self.made)))
        base.lab('zun', 'kill', *services)
        base.lab('zun', 'start', *services)
        self._assert_settled()

    def test_compute_killed(self):
        self._kill_in_the_middle('nodes')

    def test_scheduler_killed(self):
        self._kill_in_the_middle('scheduler')

    def test_everything_killed(self):
        self._kill_in_the_middle('api', 'scheduler', 'nodes')

    def test_scheduler_away_for_a_while(self):
        base.lab('zun', 'kill', 'scheduler')
        made = self.post()['uuid']
        time.sleep(1)  # nobody is there to take it: it must wait, not fail
        self.assertIn(self.user.show(made)['status'], ('Creating', 'Created', 'Running'))
        base.lab('zun', 'start', 'scheduler')
        self.wait_status(made, 'Running', timeout=SETTLE)
