# SPDX-License-Identifier: Apache-2.0
"""Creates that race for the last room of a quota."""

import concurrent.futures
import json

import testscenarios
import webob

from zun.api import app
from zun.db import quotas
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios

ROOM = 5
_MEMBER = {'X-Project-Id': 'project', 'X-User-Id': 'user', 'X-Roles': 'member,reader'}


class TestRace(world.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wsgi = app.make_app()

    def _post(self, _number: int) -> int:
        request = webob.Request.blank('/v1/containers', method='POST')
        request.headers.update({**_MEMBER, 'OpenStack-API-Version': 'container 1.40'})
        request.content_type = 'application/json'
        request.body = json.dumps({'image': 'busybox', 'cpu': 1, 'memory': '64'}).encode()
        return request.get_response(self.wsgi).status_int

    def _race(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            statuses = list(pool.map(self._post, range(20)))
        self.assertEqual([202] * ROOM + [403] * (20 - ROOM), sorted(statuses))
        self.assertEqual(ROOM, quotas.usage('project')['containers'])
        self.assertEqual(ROOM, len(self.scheduler.asked))

    def test_number_of_containers(self) -> None:
        self.config('quota', containers=ROOM)
        self._race()

    def test_cpu(self) -> None:
        self.config('quota', cpu=ROOM)
        self._race()
