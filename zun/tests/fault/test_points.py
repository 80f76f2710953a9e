# SPDX-License-Identifier: Apache-2.0
"""No fail point is left out of the table or of the tests, and none is in it that nothing passes."""

import ast
import inspect

from zun.compute import operations
from zun.tests import base
from zun.tests.fault import points
from zun.tests.fault import table
from zun.tests.fault import test_kill


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

    def test_each_line_of_the_table_is_in_a_test(self):
        """That each of its points was reached, the table at the end of all tests tells."""
        used = []
        for node in ast.walk(ast.parse(inspect.getsource(test_kill))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (
                    node.value.id == 'points'):
                found = getattr(points, node.attr)
                used += found if isinstance(found, tuple) else [found]
        self.assertEqual([], [line.name for line in points.TABLE if line not in used])

    def test_missing(self):
        noted = [[line.name, point, 'Running'] for line in points.TABLE for point in line.points]
        self.assertEqual([], table.missing(noted))
        self.assertEqual([f'{name} at {point}' for name, point, _ in noted], table.missing([]))
        self.assertEqual(['run at create.begun'], table.missing(noted[1:]))

    def test_each_operation_is_in_the_table(self):
        self.assertEqual(set(operations.OPERATIONS),
                         {killed.operation for killed in points.TABLE} - {None})
