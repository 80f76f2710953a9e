# SPDX-License-Identifier: Apache-2.0

import datetime

from zun.common import units
from zun.tests import base
from zun.tests import vectors


class UnitsTest(base.TestCase):
    def test_memory_mib(self):
        cases = {None: 0, '': 0, 0: 0, '0': 0, '512': 512, 512: 512, ' 64 ': 64, '512m': 512,
                 '512M': 512, '1g': 1024, '0.5g': 512, '1.5': 2, '512.0': 512, '1k': 1,
                 '1025k': 2, '1048576b': 1, '1048577b': 2, '1b': 1, '100000': 100000}
        for text, expected in cases.items():
            self.assertEqual(expected, units.memory_mib(text), text)

    def test_memory_that_is_none(self):
        for text in ('x', 'm', '1x', '-1', '1e3', 'inf', 'nan', '1 g', '²', '1.2.3', 'g1'):
            self.assertRaises(ValueError, units.memory_mib, text)

    def test_vcpus(self):
        cases = {None: 0.0, 0: 0.0, 0.1 + 0.2: 0.3, 1: 1.0, 1.23456: 1.235}
        for amount, expected in cases.items():
            self.assertEqual(expected, units.vcpus(amount))

    def test_age_vectors(self):
        for args, result, _status in vectors.of('format_status_detail'):
            try:
                since = datetime.datetime.fromisoformat(args['time']).replace(tzinfo=None)
            except ValueError:
                continue  # the engine's driver says nothing then
            now = datetime.datetime.fromisoformat(args['now'])
            if since.year == 1 or since > now:
                continue  # never begun; and a clock that was set back: -1 days when recorded
            self.assertEqual(result, units.age(since, now), args)

    def test_age_of_what_is_to_come_is_no_number(self):
        now = datetime.datetime(2026, 3, 10, 12)
        for ahead in (datetime.timedelta(seconds=1), datetime.timedelta(days=2)):
            self.assertIsNone(units.age(now + ahead, now))
