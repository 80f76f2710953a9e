# SPDX-License-Identifier: Apache-2.0
from zun.image import flights
from zun.tests import base


class FlightsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.flights, self.got = flights.Flights(), []

    def _join(self, key='image', name='one'):
        return self.flights.join(key, lambda *result: self.got.append((name, *result)))

    def test_one_does_the_work_and_all_get_the_result(self):
        self.assertEqual([True, False, False], [self._join(name=name) for name in 'abc'])
        self.assertEqual(3, self.flights.waiting('image'))
        self.assertEqual([], self.got)
        self.flights.end('image', 'the id')
        self.assertEqual([(name, 'the id', None) for name in 'abc'], self.got)

    def test_failure_is_shared(self):
        error = ValueError()
        self._join(name='a')
        self._join(name='b')
        self.flights.end('image', None, error)
        self.assertEqual([('a', None, error), ('b', None, error)], self.got)

    def test_the_next_one_begins_anew(self):
        self._join()
        self.flights.end('image', None, ValueError())
        self.assertTrue(self._join())

    def test_keys_are_apart(self):
        self.assertTrue(self._join('one'))
        self.assertTrue(self._join('two'))
        self.flights.end('one', 'x')
        self.assertEqual((0, 1), (self.flights.waiting('one'), self.flights.waiting('two')))

    def test_who_joins_while_results_are_handed_out_is_first(self):
        self.flights.join('image', lambda *_result: self.got.append(self._join(name='late')))
        self.flights.end('image', 'x')
        self.assertEqual([True], self.got)
