# SPDX-License-Identifier: Apache-2.0
from zun.placement import audit
from zun.tests import base

AMOUNTS = {'VCPU': 1, 'MEMORY_MB': 512}


def row(host='here', status='Running', task_state=None, **values):
    return {'host': host, 'status': status, 'task_state': task_state, 'cpu': 1.0,
            'memory': '512', 'disk': 0, **values}


class CompareTest(base.TestCase):
    def _kinds(self, held, known):
        return [finding.kind for finding in audit.compare('here', held, known)]

    def test_decisions(self):
        held = {'c': AMOUNTS}
        for allocations, known, kinds in (
                (held, {'c': row()}, []),
                (held, {'c': row(cpu=2.0)}, [audit.DIFFERS]),
                ({}, {'c': row()}, [audit.MISSING]),
                (held, {'c': row(host='there')}, [audit.ELSEWHERE]),
                (held, {'c': row(host=None, status='Error')}, [audit.ELSEWHERE]),
                ({}, {'c': row(host=None, status='Error')}, []),
                (held, {}, [audit.ORPHAN]),
                ({'c': {**AMOUNTS, 'DISK_GB': 1}}, {'c': row()}, [audit.DIFFERS])):
            self.assertEqual(kinds, self._kinds(allocations, known), (allocations, known))

    def test_what_is_under_way_is_left_alone(self):
        for values in ({'host': None, 'status': 'Creating'}, {'status': 'Creating'},
                       {'status': 'Deleting'}, {'status': 'Rebuilding'},
                       {'status': 'Deleted'}, {'task_state': 'container_deleting'}):
            self.assertEqual([], self._kinds({'c': {'VCPU': 9}}, {'c': row(**values)}))
            self.assertEqual([], self._kinds({}, {'c': row(**values)}))


class ExcessTest(base.TestCase):
    def test_decisions(self):
        held = {'c': AMOUNTS, 'd': {**AMOUNTS, 'DISK_GB': 5}}
        for capacity, found in (
                ({'VCPU': 2, 'MEMORY_MB': 1024, 'DISK_GB': 5}, {}),
                ({'VCPU': 1, 'MEMORY_MB': 1024, 'DISK_GB': 5}, {'VCPU': (2, 1)}),
                ({'VCPU': 2, 'MEMORY_MB': 1000}, {'DISK_GB': (5, 0), 'MEMORY_MB': (1024, 1000)})):
            self.assertEqual(found, audit.excess(held, capacity))
        self.assertEqual({}, audit.excess({}, {}))
