# SPDX-License-Identifier: Apache-2.0
"""What a capsule is, by the states of its parts."""

from zun.common import states
from zun.compute import pod
from zun.tests import base

RUNS = pod.Part('a')
LOOPS = pod.Part('a', restarting=True, exit_code=1)
DONE = pod.Part('b', running=False, exit_code=0)
FAILED = pod.Part('c', running=False, exit_code=3)
GONE = pod.Part('d', there=False, running=False)


class OverallTest(base.TestCase):
    def test_table(self):
        failed, gone = 'Container c failed: exit 3', 'Container d is missing in the engine.'
        for sandbox, members, policy, status, reason in [
                (True, [RUNS, RUNS], 'always', states.RUNNING, None),
                (True, [RUNS, DONE], 'no', states.RUNNING, None),
                (True, [RUNS, DONE], 'on-failure', states.RUNNING, None),
                (True, [RUNS, DONE], 'always', states.RESTARTING, None),
                (True, [DONE, DONE], 'no', states.STOPPED, None),
                (True, [DONE, DONE], 'on-failure', states.STOPPED, None),
                (True, [RUNS, FAILED], 'no', states.ERROR, failed),
                (True, [FAILED, DONE], 'on-failure', states.ERROR, failed),
                (True, [LOOPS, FAILED], 'on-failure', states.RESTARTING, None),
                (True, [RUNS, LOOPS], 'always', states.RESTARTING, None),
                (True, [RUNS, GONE], 'always', states.RESTARTING, gone),
                (True, [RUNS, GONE], 'no', states.ERROR, gone),
                (False, [RUNS, RUNS], 'always', states.RESTARTING, pod.SANDBOX_ENDED),
                (False, [RUNS, RUNS], 'no', states.ERROR, pod.SANDBOX_ENDED)]:
            self.assertEqual((status, reason), pod.overall(sandbox, members, policy),
                             (sandbox, members, policy))

    def test_broken(self):
        for sandbox, members, policy, expected in [
                (True, [RUNS, RUNS], 'always', False), (True, [RUNS, LOOPS], 'always', False),
                (True, [RUNS, DONE], 'always', True), (True, [RUNS, DONE], 'on-failure', False),
                (True, [RUNS, FAILED], 'on-failure', False),
                (True, [RUNS, GONE], 'on-failure', True), (True, [RUNS, GONE], 'no', False),
                (False, [RUNS], 'on-failure', True), (False, [RUNS], 'no', False)]:
            self.assertEqual(expected, pod.broken(sandbox, members, policy),
                             (sandbox, members, policy))

    def test_wanted(self):
        for part, policy, expected in [
                (RUNS, 'no', True), (DONE, 'always', True), (DONE, 'on-failure', False),
                (FAILED, 'on-failure', True)]:
            self.assertEqual(expected, pod.wanted(part, policy), (part, policy))
