# SPDX-License-Identifier: Apache-2.0
from zun.common import exception
from zun.control import actions
from zun.tests import base


class MomentTest(base.TestCase):
    TABLE = (
        (None, None), ('', None), (0, '0'), ('1700000000', '1700000000'),
        ('2026-01-02 03:04:05,123', '1767323045.123'), ('2026-01-02 03:04:05,5', '1767323045.5'),
        ('2026-01-02T03:04:05Z', '1767323045'), ('2026-01-02T04:04:05+01:00', '1767323045'),
        ('2026-01-02T03:04:05.25', '1767323045.25'),
    )

    def test_table(self):
        for given, expected in self.TABLE:
            self.assertEqual(expected, actions.moment(given), given)

    def test_refused(self):
        for given in ('yesterday', '-1', '2026-13-01T00:00:00', '2026-01-02 03:04:05,x'):
            self.assertRaises(exception.InvalidValue, actions.moment, given)
