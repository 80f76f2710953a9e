# SPDX-License-Identifier: Apache-2.0

from zun.common import exception
from zun.common import states
from zun.tests import base
from zun.tests import vectors


class StatesTest(base.TestCase):
    def test_valid_states_vectors(self):
        for args, result, _status in vectors.of('valid_states'):
            self.assertEqual(set(result), states.ACTIONS[args['action']].statuses, args)

    def test_check_vectors(self):
        for args, result, status in vectors.of('validate_container_state'):
            try:
                states.check(args['action'], args['uuid'], args['status'])
            except exception.InvalidStateException as error:
                self.assertEqual(status, error.code, args)
                self.assertEqual(f"Cannot {args['action']} container {args['uuid']} in "
                                 f"{args['status']} state", error.message)
            else:
                self.assertEqual('ok', result, args)

    def test_status_of_a_row_that_has_none(self):
        self.assertRaises(exception.InvalidStateException, states.check, 'start', 'u', None)

    def test_table_uses_known_words(self):
        for action in states.ACTIONS.values():
            self.assertLessEqual(action.statuses, set(states.STATUSES), action.name)
            self.assertTrue(action.statuses, action.name)
            self.assertIn(action.task_state, (None, *states.TASK_STATES), action.name)

    def test_caller_waits_or_the_row_shows_the_task(self):
        for action in states.ACTIONS.values():
            self.assertFalse(action.waits and action.task_state, action.name)

    def test_words_fit_their_columns(self):
        for word in (*states.STATUSES, *states.TASK_STATES):
            self.assertLessEqual(len(word), 20, word)
        self.assertEqual(len(set(states.TASK_STATES)), len(states.TASK_STATES))
        self.assertLess(states.TRANSITIONAL, set(states.STATUSES))
