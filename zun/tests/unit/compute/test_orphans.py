# SPDX-License-Identifier: Apache-2.0
"""What engine and rows disagree on."""

from zun import objects
from zun.common import states
from zun.compute import orphans
from zun.container import driver
from zun.tests import base


def row(uuid, host='here', status=states.RUNNING, task_state=None, made=True):
    return objects.Container(uuid=uuid, host=host, status=status, task_state=task_state,
                             container_id='id' if made else None)


def seen(host='here'):
    return driver.Observed(uuid='u', engine_id='id', status=states.RUNNING, host=host)


class CompareTest(base.TestCase):
    def test_table(self):
        for name, listed, known, expected in [
                ('both', seen(), row('u'), None),
                ('imported', seen(None), row('u'), None),
                ('no row', seen(), None, orphans.ORPHAN),
                ('no row, no label', seen(None), None, orphans.ORPHAN),
                ("another agent's", seen('there'), None, None),
                ('moved', seen(), row('u', 'there'), orphans.ELSEWHERE),
                ('moves', seen(), row('u', 'there', states.CREATING), None),
                ('without a label, of another host', seen(None), row('u', 'there'), None),
                ('gone', None, row('u'), orphans.MISSING),
                ('gone, and known', None, row('u', status=states.ERROR), None),
                ('is deleted', None, row('u', status=states.DELETING), None),
                ('is rebuilt', None, row('u', task_state=states.CONTAINER_REBUILDING), None),
                ('never made', None, row('u', made=False), None)]:
            found = orphans.compare('here', {'u': listed} if listed else {},
                                    {'u': known} if known else {})
            self.assertEqual([expected] if expected else [], [item.kind for item in found], name)
