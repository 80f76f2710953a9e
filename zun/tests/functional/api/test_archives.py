# SPDX-License-Identifier: Apache-2.0
"""Archives pass through the API in pieces."""

import subprocess
import sys
import threading

import testscenarios

from zun.api import handler
from zun.tests import base
from zun.tests.functional.api import cloud

load_tests = testscenarios.load_tests_apply_scenarios

MIB = 16
COUNT = 8


class MemoryTest(base.TestCase):
    scenarios = [(version, {'version': version}) for version in ('1.24', '1.25', '1.40')]

    def test_many_at_once_take_less_than_they_hold(self):
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'zun.tests.functional.api.archives',
             str(MIB), str(COUNT), self.version], capture_output=True, text=True, timeout=300,
            check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        grown = int(done.stdout)
        self.assertLess(grown, MIB * COUNT * 1024, f'{COUNT} of {MIB} MiB took {grown} KiB')


class PlacesTest(cloud.CloudTest):
    def test_only_so_many_at_a_time(self):
        self.config(group='api', max_archives=1)
        begun, go_on, answers = threading.Event(), threading.Event(), []
        self.addCleanup(go_on.set)

        def wait(*_args):
            begun.set()
            go_on.wait(60)
            return {'data': '', 'stat': {}}

        self.nodes.container_get_archive = wait
        first = threading.Thread(target=lambda: answers.append(self.get()))
        first.start()
        self.assertTrue(begun.wait(60))
        refused = self.get()
        self.assertEqual((503, 'Too much work is waiting (archives).'),
                         (refused.status_int, refused.json['errors'][0]['detail']))
        go_on.set()
        first.join(60)
        self.assertEqual([200, 200], [answers[0].status_int, self.get().status_int])

    def get(self):
        operation, = (found for found in handler.all_operations()
                      if found.id == 'containers.get_archive')
        return self.call(operation, cloud.MEMBER)

    def test_failure_frees_the_place(self):
        self.config(group='api', max_archives=1)
        self.host_down()
        for _ in range(3):
            self.assertNotIn('archives', self.get().json['errors'][0]['detail'])
