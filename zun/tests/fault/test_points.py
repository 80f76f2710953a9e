# SPDX-License-Identifier: Apache-2.0
"""No fail point is left out of the table, and none is in it that nothing passes."""

from zun.compute import operations
from zun.tests import base
from zun.tests.fault import points


class PointsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.covered = {point for killed in points.TABLE for point in killed.points}
        self.source = points.of_source()

    def expanded(self, point):
        """The points that an operation's name in it makes; those with steps of their own aside."""
        if '{}' not in point:
            return {point}
        if point == '{}.done':
            return {point.format(name) for name in (
                'start', 'stop', 'reboot', 'pause', 'unpause', 'kill')}
        return {point.format(name) for name in operations.OPERATIONS
                if f'{name}.begun' not in self.source}

    def test_each_point_of_the_source_is_in_the_table(self):
        wanted = set().union(*map(self.expanded, self.source))
        self.assertEqual(set(), wanted - self.covered)

    def test_each_point_of_the_table_is_in_the_source(self):
        known = set().union(*map(self.expanded, self.source))
        self.assertEqual(set(), self.covered - known)

    def test_each_operation_is_in_the_table(self):
        self.assertEqual(set(operations.OPERATIONS),
                         {killed.operation for killed in points.TABLE} - {None})
