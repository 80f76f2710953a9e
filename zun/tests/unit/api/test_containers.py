# SPDX-License-Identifier: Apache-2.0

import datetime

from zun import objects
from zun.api.views import containers
from zun.tests import base

STARTED = datetime.datetime(2026, 3, 10, 9)
FINISHED = datetime.datetime(2026, 3, 10, 11, 45)
NOW = datetime.datetime(2026, 3, 10, 12)


class StatusDetailTest(base.TestCase):
    def test_age_is_that_of_the_moment(self):
        for written, shown in (
                ('Up 0 seconds', 'Up 3 hours'), ('Up 5 mins (paused)', 'Up 3 hours (paused)'),
                ('Up 1 days (unhealthy)', 'Up 3 hours (unhealthy)'),
                ('Exited(0) 1 seconds ago ', 'Exited(0) 15 mins ago '),
                ('Exited(137) 1 seconds ago (out of memory)',
                 'Exited(137) 15 mins ago (out of memory)'),
                ('Exited(127) (error)', 'Exited(127) (error)'), ('Restarting', 'Restarting'),
                ('Created', 'Created'), ('Pulling 3 of 7 layers', 'Pulling 3 of 7 layers'),
                ('', ''), (None, None)):
            self.assertEqual(shown, self.shown(written, STARTED, FINISHED), written)

    def test_unknown_times_leave_it_as_it_was_written(self):
        for written in ('Up 5 mins', 'Exited(0) 2 mins ago '):
            self.assertEqual(written, self.shown(written, None, None))

    def test_clock_of_a_host_that_is_ahead(self):
        late = NOW + datetime.timedelta(seconds=3)
        self.assertEqual('Up 0 seconds', self.shown('Up 5 mins', late, None))

    def shown(self, written, started, finished):
        container = objects.Container(status_detail=written, started_at=started,
                                      finished_at=finished)
        return containers.status_detail(container, NOW)
