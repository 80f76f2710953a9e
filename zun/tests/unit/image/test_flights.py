# SPDX-License-Identifier: Apache-2.0
from zun.image import flights
from zun.tests import base


class FlightsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.flights, self.got = flights.Flights(), []

    def _join(self, key='image', name='one'):
        return self.flights.join(key, name, lambda *result: self.got.append((name, *result)))

    def test_one_does_the_work_and_all_get_the_result(self):
        flight, *others = [self._join(name=name) for name in 'abc']
        self.assertEqual([None, None], others)
        self.assertEqual(['a', 'b', 'c'], self.flights.waiting(flight))
        self.assertEqual([], self.got)
        self.flights.end(flight, 'the id')
        self.assertEqual([(name, 'the id', None) for name in 'abc'], self.got)

    def test_failure_is_shared(self):
        error = ValueError()
        flight = self._join(name='a')
        self._join(name='b')
        self.flights.end(flight, None, error)
        self.assertEqual([('a', None, error), ('b', None, error)], self.got)

    def test_the_next_one_begins_anew(self):
        flight = self._join()
        self.flights.end(flight, None, ValueError())
        self.assertIsNotNone(self._join())

    def test_keys_are_apart(self):
        one, two = self._join('one'), self._join('two')
        self.flights.end(one, 'x')
        self.assertEqual(([], ['one']), (self.flights.waiting(one), self.flights.waiting(two)))

    def test_who_joins_while_results_are_handed_out_is_first(self):
        flight = self.flights.join(
            'image', 'a', lambda *_result: self.got.append(self._join(name='late')))
        self.flights.end(flight, 'x')
        self.assertIsNot(flight, self.got[0])
        self.assertIsNotNone(self.got[0])

    def test_who_leaves_is_told_and_gets_no_result(self):
        error = ValueError()
        flight = self._join(name='a')
        self._join(name='b')
        self.flights.leave('a', error)
        self.assertEqual([('a', None, error)], self.got)
        self.assertFalse(flight.transfer.cancelled)
        self.flights.end(flight, 'x')
        self.assertEqual(('b', 'x', None), self.got[-1])

    def test_without_anybody_it_is_cancelled(self):
        flight = self._join(name='a')
        self._join('other', name='a')
        self.flights.leave('nobody', ValueError())
        self.assertFalse(flight.transfer.cancelled)
        self.flights.leave('a', ValueError())
        self.assertTrue(flight.transfer.cancelled)
        self.assertEqual(2, len(self.got), 'all that it waited for')

    def test_the_end_of_a_cancelled_one_is_not_that_of_the_next(self):
        old = self._join(name='a')
        self.flights.leave('a', ValueError())
        new = self._join(name='b')
        self.assertIsNot(old, new)
        self.flights.end(old, None, ValueError())
        self.assertEqual(['b'], self.flights.waiting(new))
