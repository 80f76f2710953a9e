# SPDX-License-Identifier: Apache-2.0
import dataclasses
import datetime

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import observation
from zun.container import driver
from zun.tests import base

UUID = '11111111-2222-3333-4444-555555555555'
STARTED = datetime.datetime(2026, 1, 2, 3, 4, 5)

RUNNING = driver.Observed(
    UUID, 'e' * 64, states.RUNNING, status_detail='Up 3 seconds', started_at=STARTED,
    hostname='abc', ports=(80,), runtime='runc', command=('sh',), running=True)


def row(**values):
    values = {'status': states.CREATED, 'hostname': None, **values}
    container = objects.Container(uuid=UUID, **values)
    container.obj_reset_changes()
    return container


class ApplyTest(base.TestCase):
    def test_takes_all_it_tells(self):
        container = row(status_reason='old trouble')
        self.assertTrue(observation.apply(container, RUNNING))
        self.assertEqual(
            (states.RUNNING, None, 'Up 3 seconds', STARTED, [80], 'runc', 'abc', ['sh']),
            (container.status, container.status_reason, container.status_detail,
             container.started_at, container.ports, container.runtime, container.hostname,
             container.effective_command))

    def test_the_same_again_is_no_change(self):
        container = row()
        observation.apply(container, RUNNING)
        container.obj_reset_changes()
        later = dataclasses.replace(RUNNING, status_detail='Up 4 minutes',
                                    started_at=STARTED.replace(microsecond=9))
        self.assertFalse(observation.apply(container, later))
        self.assertEqual(set(), container.obj_what_changed())

    def test_only_what_differs_is_written(self):
        container = row()
        observation.apply(container, RUNNING)
        container.obj_reset_changes()
        observation.apply(container, dataclasses.replace(
            RUNNING, status=states.PAUSED, status_detail='Up 5 seconds (paused)'))
        self.assertEqual({'status', 'status_detail'}, container.obj_what_changed())

    def test_an_open_status_leaves_status_and_reason(self):
        container = row(status=states.ERROR, status_reason='why')
        seen = dataclasses.replace(RUNNING, status=None, running=False)
        observation.apply(container, seen)
        self.assertEqual((states.ERROR, 'why'), (container.status, container.status_reason))

    def test_otherwise_fills_an_open_status(self):
        container = row(status=states.REBUILDING)
        seen = dataclasses.replace(RUNNING, status=None, running=False)
        observation.apply(container, seen, otherwise=states.CREATED)
        self.assertEqual(states.CREATED, container.status)

    def test_a_given_hostname_stays(self):
        container = row(hostname='mine')
        observation.apply(container, RUNNING)
        self.assertEqual('mine', container.hostname)

    def test_what_does_not_run_has_no_health(self):
        container = row()
        observation.apply(container, dataclasses.replace(RUNNING, health='unhealthy'))
        self.assertEqual('unhealthy', container.health)
        observation.apply(container, dataclasses.replace(
            RUNNING, health='unhealthy', running=False, status=states.STOPPED))
        self.assertIsNone(container.health)


class FollowTest(base.TestCase):
    def test_error_stays_unless_it_runs(self):
        container = row(status=states.ERROR, status_reason='why')
        stopped = dataclasses.replace(RUNNING, status=states.STOPPED, running=False)
        self.assertFalse(observation.follow(container, stopped))
        self.assertEqual((states.ERROR, 'why'), (container.status, container.status_reason))
        self.assertTrue(observation.follow(container, RUNNING))
        self.assertEqual((states.RUNNING, None), (container.status, container.status_reason))


    def test_a_reason_stays_until_the_status_changes(self):
        container = row(status=states.RUNNING, status_reason='Stop failed: busy')
        observation.follow(container, RUNNING)
        self.assertEqual('Stop failed: busy', container.status_reason)
        observation.follow(container, dataclasses.replace(
            RUNNING, status=states.STOPPED, running=False))
        self.assertIsNone(container.status_reason)


class ReasonTest(base.TestCase):
    def test_one_line_without_ids(self):
        error = exception.Conflict(f'Container {"4" * 40 + "04" * 12} is\n not  running')
        self.assertEqual('Stop failed: Container is not running',
                         observation.reason('Stop', error))

    def test_an_unexpected_error_tells_no_internals(self):
        self.assertNotIn('secret', observation.reason('Start', KeyError('secret')))

    def test_its_length_is_limited(self):
        self.assertEqual(1000, len(observation.reason('Start', exception.Conflict('x ' * 5000))))
