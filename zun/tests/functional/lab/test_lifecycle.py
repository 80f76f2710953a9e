# SPDX-License-Identifier: Apache-2.0
"""The life of a container through every process, and what is left of it."""

import os
import time

from zun.tests.functional.lab import base


class TestLifecycle(base.LabTestCase):
    def test_create_start_exec_stop_delete(self):
        ident = self.post(run=False)['uuid']
        created = self.wait_status(ident, 'Created')
        self.assertTrue(created['addresses'])
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 64},
                         next(iter(self.allocations(ident).values()))['resources'])
        self.act(ident, 'start')
        self.wait_status(ident, 'Running')
        answer = self.act(ident, 'execute', command='echo hello').json()
        self.assertEqual(('hello\n', 0), (answer['output'], answer['exit_code']))
        self.act(ident, 'stop', timeout=5)
        stopped = self.wait_status(ident, 'Stopped')
        self.assertTrue(stopped['status_detail'].startswith('Exited(0)'))
        answer = self.user.http('DELETE', f'/v1/containers/{ident}')
        self.assertEqual(204, answer.status_code)
        self.wait('the end', lambda: self.user.show(ident) is None)
        self.assertEqual([], self.behind(ident))
        self.assertEqual({}, self.allocations(ident))

    def test_both_hosts_serve(self):
        hosts = [h['hostname'] for h in self.admin.http('GET', '/v1/hosts').json()['hosts']]
        self.assertEqual(2, len(hosts))
        for host in hosts:
            answer = self.admin.http('POST', '/v1/containers?run=true', json={
                'image': os.environ['E2E_IMAGE'], 'command': base.FOREVER, 'host': host,
                'memory': '64', 'cpu': 0.1})
            self.assertEqual(202, answer.status_code, answer.text)
            ident = answer.json()['uuid']
            self.made.append(ident)
            found = self.wait(f'{ident} running', lambda i=ident: (
                lambda c: c if c['status'] == 'Running' else None)(self.admin.show(i)))
            self.assertEqual(host, found['host'])

    def test_death_outside_shows_within_a_second(self):
        ident = self.post()['uuid']
        self.wait_status(ident, 'Running')
        self.behind(ident)[0].kill()
        began = time.monotonic()
        self.wait_status(ident, 'Stopped')
        self.assertLess(time.monotonic() - began, 1.0)
