# SPDX-License-Identifier: Apache-2.0
import datetime
import json

from zun.common import states
from zun.container.docker import state
from zun.tests import base
from zun.tests import vectors

NOW = datetime.datetime(2026, 3, 10, 12)
STARTED, FINISHED = '2026-03-10T11:30:00.123456789Z', '2026-03-10T11:45:00.5Z'
ZERO = '0001-01-01T00:00:00Z'
UUID = '11111111-1111-4111-8111-111111111111'


def _recorded_detail_and_status(found, previous):
    """What a row would hold that had 'old detail' and this status before."""
    return (found.status or previous,
            found.detail if found.detail is not None else 'old detail')


class TestRecorded(base.TestCase):
    """The old driver's results hold, but for what is argued here."""

    def _argued(self, args, result):
        """What ours gives instead, or None."""
        known = args['state']
        if args['task_state'] and not args['force']:
            # A driver reports what is. Whether a row takes it while an operation is under way is
            # its owner's decision.
            return 'not asked'
        if isinstance(known, dict) and known.get('Error') and known['Status'] == 'created':
            # A start that failed made the row Created again; it is Error, with the engine's text.
            # No age is told of an end that never came.
            return {'status': states.ERROR, 'status_reason': 'oops',
                    'status_detail': 'Exited(127) (error)'}
        if isinstance(known, dict) and known.get('Error'):
            # The engine's text is the reason; before, it was lost.
            return {**result, 'status_reason': 'oops'}
        return None

    def test_by_state(self):
        for vector in vectors.recorded('docker_state_mapping'):
            args, result = vector['args'], vector['result']
            if isinstance(args['state'], str):
                continue
            expected = self._argued(args, result) or result
            if expected == 'not asked':
                continue
            found = state.by_state(args['state'], args['previous_status'], NOW)
            status, detail = _recorded_detail_and_status(found, args['previous_status'])
            if not args['state']:
                detail = found.detail
            self.assertEqual(
                (expected['status'], expected['status_detail'], expected['status_reason']),
                (status, detail, found.reason or 'old reason'), json.dumps(vector))

    def test_by_word(self):
        for vector in vectors.recorded('docker_state_mapping'):
            args, result = vector['args'], vector['result']
            if not isinstance(args['state'], str) or self._argued(args, result) == 'not asked':
                continue
            found = state.by_word(args['state'], args['previous_status'])
            self.assertEqual(
                (result['status'], result['status_reason'], result['status_detail']),
                (found.status or args['previous_status'], found.reason or 'old reason',
                 found.detail), json.dumps(vector))

    def test_all_are_covered(self):
        recorded = vectors.recorded('docker_state_mapping')
        self.assertEqual(226, len(recorded))
        argued = [vector for vector in recorded if self._argued(vector['args'], vector['result'])]
        self.assertEqual(3 + 4 * 12, len(argued))

    def test_age(self):
        for vector in vectors.recorded('format_status_detail'):
            moment = state.parse_time(vector['args']['time'])
            now = datetime.datetime.fromisoformat(vector['args']['now'])
            expected = vector['result']
            if moment is None:
                self.assertIn(expected, ('', None))
            elif expected in (None, '-1 days'):
                # The first second had no age, and a clock that was set back gave a negative one.
                self.assertEqual('0 seconds', state.age(moment, now))
            else:
                self.assertEqual(expected, state.age(moment, now))

    def test_hostname_and_ports(self):
        for vector in vectors.recorded('docker_hostname_and_ports'):
            args = vector['args']
            found = state.observed({'Id': 'x', 'Config': args['config']}, UUID, None,
                                   args['previous_hostname'], NOW)
            self.assertEqual(vector['result'],
                             {'hostname': found.hostname, 'ports': list(found.ports)})

    def test_names(self):
        for vector in vectors.recorded('docker_names_to_uuids'):
            self.assertEqual(vector['result'], list(state.listed(vector['args']['containers'])))


class TestByState(base.TestCase):
    """Situations as a real engine describes them."""

    def check(self, expected, previous=states.RUNNING, **engine):
        found = state.by_state({
            'Status': 'running', 'Running': False, 'Paused': False, 'Restarting': False,
            'OOMKilled': False, 'Dead': False, 'ExitCode': 0, 'Error': '', 'StartedAt': STARTED,
            'FinishedAt': ZERO, **engine}, previous, NOW)
        self.assertEqual(expected, (found.status, found.detail, found.reason))

    def test_out_of_memory(self):
        self.check((states.STOPPED, 'Exited(137) 15 mins ago (out of memory)',
                    'The container ran out of memory.'),
                   Status='exited', OOMKilled=True, ExitCode=137, FinishedAt=FINISHED)

    def test_unhealthy(self):
        for health, suffix in (('unhealthy', ' (unhealthy)'), ('healthy', ''), ('starting', ''),
                               ('none', '')):
            self.check((states.RUNNING, f'Up 30 mins{suffix}', None), Running=True,
                       Health={'Status': health, 'FailingStreak': 0, 'Log': []})

    def test_running_again_after_an_error(self):
        """What runs is Running, whatever an earlier start said."""
        self.check((states.RUNNING, 'Up 30 mins', None), Running=True, Error='oops')

    def test_restart_loop(self):
        self.check((states.RESTARTING, 'Restarting', None), Status='restarting', Running=True,
                   Restarting=True, ExitCode=4, FinishedAt=FINISHED, Error='oops')

    def test_in_removal(self):
        """It ended; that it goes, the event of its end will tell."""
        self.check((states.STOPPED, 'Exited(137) 15 mins ago ', None), Status='removing',
                   Dead=True, ExitCode=137, FinishedAt=FINISHED)

    def test_dead(self):
        self.check((states.DEAD, 'Dead', None), Status='dead', Dead=True, FinishedAt=FINISHED)
        self.check((states.DEAD, 'Exited(1) 15 mins ago (error)', 'busy'), Status='dead',
                   Dead=True, ExitCode=1, Error='busy', FinishedAt=FINISHED)

    def test_in_its_first_second(self):
        self.check((states.RUNNING, 'Up 0 seconds', None), Running=True,
                   StartedAt='2026-03-10T12:00:00.5Z')
        self.check((states.STOPPED, 'Exited(3) 0 seconds ago ', None), Status='exited',
                   ExitCode=3, FinishedAt='2026-03-10T12:00:00.5Z')

    def test_both_views_agree(self):
        for word, engine in (
                ('paused', {'Paused': True, 'Running': True}), ('running', {'Running': True}),
                ('restarting', {'Restarting': True, 'Running': True}),
                ('exited', {'FinishedAt': FINISHED}), ('dead', {'Dead': True}),
                ('removing', {'Dead': True, 'FinishedAt': FINISHED})):
            for previous in states.STATUSES:
                seen = state.by_state({'Status': word, 'StartedAt': STARTED, **engine}, previous,
                                      NOW)
                self.assertEqual(seen.status, state.by_word(word, previous).status, word)


class TestObserved(base.TestCase):
    def observe(self, **values):
        return state.observed({'Id': 'abc', 'Name': f'/zun-{UUID}', **values}, UUID,
                              states.RUNNING, None, NOW)

    def test_labels(self):
        found = self.observe(Config={'Labels': {
            'zun.generation': '7', 'zun.op': 'req-1', 'zun.host': 'h1'}})
        self.assertEqual((7, 'req-1', 'h1'), (found.generation, found.operation, found.host))
        found = self.observe(Config={'Labels': {'zun.generation': 'x'}})
        self.assertEqual((0, '', None), (found.generation, found.operation, found.host))

    def test_times_are_as_rows_hold_them(self):
        found = self.observe(State={'Status': 'exited', 'StartedAt': STARTED, 'ExitCode': 3,
                                    'FinishedAt': '2026-03-10T13:45:00.999+02:00'})
        self.assertEqual(datetime.datetime(2026, 3, 10, 11, 30), found.started_at)
        self.assertEqual(datetime.datetime(2026, 3, 10, 11, 45), found.finished_at)
        self.assertEqual(3, found.exit_code)

    def test_exit_code_is_of_an_end(self):
        for engine, code in (
                ({'Running': True, 'StartedAt': STARTED, 'ExitCode': 3}, None),
                ({'StartedAt': ZERO, 'ExitCode': 0}, None),
                ({'StartedAt': ZERO, 'ExitCode': 127, 'Error': 'oops'}, 127),
                ({'StartedAt': STARTED, 'FinishedAt': FINISHED, 'ExitCode': 0}, 0)):
            self.assertEqual(code, self.observe(State=engine).exit_code)

    def test_runtime_is_the_users(self):
        for runtime, shown in (('zun-kata', 'kata'), ('runc', 'runc'), ('', None)):
            self.assertEqual(shown, self.observe(HostConfig={'Runtime': runtime}).runtime)

    def test_published_ports(self):
        found = self.observe(
            Config={'ExposedPorts': {'80/tcp': {}, '53/udp': {}}},
            NetworkSettings={'Ports': {'80/tcp': [{'HostIp': '127.0.0.1', 'HostPort': '49153'}],
                                       '53/udp': None}})
        self.assertEqual((49153, 53), found.ports)

    def test_reason_has_no_ids(self):
        found = self.observe(State={'Status': 'created', 'StartedAt': ZERO, 'ExitCode': 128,
                                    'Error': f'cannot join network of {"4" * 64}: not running'})
        self.assertEqual('cannot join network of not running', found.status_reason)


class TestListed(base.TestCase):
    def test_only_exact_names(self):
        names = (f'/zun-{UUID}', f'/zun-{UUID}-old-x', f'/my-zun-{UUID}', '/zun-x',
                 f'/other/zun-{UUID}', f'/zun-sandbox-{UUID}')
        found = [name for name in names if state.listed([{'Names': [name], 'State': 'running'}])]
        self.assertEqual([f'/zun-{UUID}'], found)

    def test_what_runs(self):
        for word, running in (('running', True), ('paused', True), ('restarting', True),
                              ('exited', False), ('created', False), ('removing', False)):
            item = state.listed([{'Id': 'abc', 'Names': [f'/zun-{UUID}'], 'State': word}])[UUID]
            self.assertEqual((running, 'abc'), (item.running, item.engine_id))

    def test_name_beside_a_link(self):
        item = {'Names': [f'/web/zun-{UUID}', f'/zun-{UUID}'], 'State': 'exited', 'Labels': None}
        self.assertEqual([UUID], list(state.listed([item])))
