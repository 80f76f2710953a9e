# SPDX-License-Identifier: Apache-2.0
"""The declared operations are the recorded routes."""

import re

from zun.api import controllers  # noqa: F401  (declares the operations)
from zun.api import handler
from zun.api import microversions
from zun.tests import base
from zun.tests.conformance import deviations
from zun.tests.conformance import recorded

#: Operations of ours that the reference does not have.
OURS = {'root.head', 'root.options'}
#: Rules of ours that the reference does not have.
RULES_OF_OURS = {'containers.network_list': 'container:network_list'}
_NOTE = re.compile(r' \(.*\)')


def _versioned(operation):
    return bool(operation.path)


class RoutesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.operations = {operation.id: operation for operation in handler.all_operations()}
        self.routes = {route['id']: route for route in recorded.routes()}

    def pairs(self):
        return [(self.operations[name], route) for name, route in self.routes.items()]

    def test_all_are_there(self):
        self.assertEqual(self.routes.keys() | OURS, self.operations.keys())

    def test_method_path_and_status(self):
        for operation, route in self.pairs():
            path = route['path'].removeprefix('/').removeprefix('v1/')
            self.assertEqual(
                (route['method'], path, route['success']),
                (operation.method, operation.path, operation.status), operation.id)

    def test_versions(self):
        for operation, route in self.pairs():
            if _versioned(operation):
                self.assertEqual(
                    (route['min_version'], route['max_version']),
                    (str(operation.since), str(operation.until or deviations.NEWEST.recorded)),
                    operation.id)

    def test_media_type(self):
        for operation, route in self.pairs():
            self.assertEqual(bool(route['content_type_enforced']), operation.json_only,
                             operation.id)

    def test_query_parameters(self):
        for operation, route in self.pairs():
            version = operation.until or microversions.MAX
            known = set(operation.parameters)
            for schema in (operation.query, operation.arguments):
                known |= {field.name for field in schema.at(version).fields} if schema else set()
            listed = {_NOTE.sub('', name) for name in route['query']
                      if 'must not exist' not in name}
            self.assertEqual(set(), listed - known, operation.id)

    def test_rules(self):
        for operation, route in self.pairs():
            rules = [rule for rule, _condition in route['policies']]
            if operation.id in RULES_OF_OURS:
                rules = [RULES_OF_OURS[operation.id]]
            declared = {operation.policy, operation.all_projects} - {None}
            self.assertLessEqual(declared, set(rules), operation.id)
            self.assertEqual(bool(rules), operation.policy is not None, operation.id)
