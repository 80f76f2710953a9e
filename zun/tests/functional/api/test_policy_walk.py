# SPDX-License-Identifier: Apache-2.0
"""Policy before effect, on every route: who is refused has changed nothing and told nobody."""

import typing as ty

from zun import policies
from zun.api import controllers  # noqa: F401  (declares the operations)
from zun.api import handler
from zun.tests.conformance import recorded
from zun.tests.functional.api import cloud

_ALL = {'all_projects': 'true'}
_OUTSIDE = [{'network': 'outside'}]

#: (operation, rule) beside its own -> what makes a request need it: query, body
_FURTHER: dict[tuple[str, str], tuple[dict[str, str], cloud.Json]] = {
    ('containers.list', 'container:get_all_all_projects'): (_ALL, {}),
    ('containers.list', 'container:get_one:host'): ({'host': 'node1'}, {}),
    ('containers.show', 'container:get_one_all_projects'): (_ALL, {}),
    ('containers.create', 'container:create:runtime'): ({}, {'runtime': 'runc'}),
    ('containers.create', 'container:create:privileged'): ({}, {'privileged': True}),
    ('containers.create', 'container:create:image_pull_policy'):
        ({}, {'image_pull_policy': 'always'}),
    ('containers.create', 'container:create:requested_destination'): ({}, {'host': 'node1'}),
    ('containers.create', 'network:attach_external_network'): ({}, {'nets': _OUTSIDE}),
    ('containers.network_attach', 'network:attach_external_network'):
        ({'network': 'outside'}, {}),
    ('containers.delete', 'container:delete_all_projects'): (_ALL, {}),
    ('containers.delete', 'container:delete_force'): ({'force': 'true'}, {}),
    ('containers.delete', 'container:stop'): ({'stop': 'true'}, {}),
    ('capsules.list', 'capsule:get_all_all_projects'): (_ALL, {}),
    ('capsules.delete', 'capsule:delete_all_projects'): (_ALL, {}),
    ('registries.list', 'registry:get_all_all_projects'): (_ALL, {}),
    ('registries.list', 'registry:get_one:name'): ({'name': 'registry'}, {}),
}
#: Rules that refuse nothing, and why.
_NO_REFUSAL = {
    ('container_actions.show', 'container:action:events'): 'hides the traceback of an event',
    ('capsules.create', 'container:create:image_pull_policy'): 'the member is dropped',
    ('capsules.create', 'network:attach_external_network'):
        'an external network is never the default of a project',
}
_PUBLIC = {'root', 'root.head', 'root.options', 'v1'}
#: Rules that others refer to.
_STRUCTURE = {'context_is_admin', 'admin_or_owner', 'admin_api', 'deny_everybody'}
#: An operation that changes nothing has one of these methods.
_READS = {'GET'}


def _operations() -> list[handler.Operation]:
    return [operation for operation in handler.all_operations()
            if operation.id not in _PUBLIC]


def _open() -> dict[str, str]:
    """Every rule allows everybody."""
    return {rule.name: '@' for rule in policies.list_rules() if rule.name not in _STRUCTURE}


def _recorded_pairs() -> set[tuple[str, str]]:
    filters = {'container:get_one:<filter>': 'container:get_one:host',
               'registry:get_one:<filter>': 'registry:get_one:name'}
    return {(route['id'], filters.get(rule, rule))
            for route in recorded.routes() for rule, _when in route['policies']}


class TableTest(cloud.CloudTest):
    def test_every_recorded_rule_is_walked(self):
        walked = {(operation.id, operation.policy) for operation in _operations()}
        self.assertEqual(set(), _recorded_pairs() - walked - set(_FURTHER) - set(_NO_REFUSAL))

    def test_every_operation_has_a_rule(self):
        self.assertEqual([], [operation.id for operation in _operations()
                              if not operation.policy])


class AllowedTest(cloud.CloudTest):
    """That the requests of the walk do what they say when nothing forbids it."""

    scenarios: ty.ClassVar = [
        (operation.id, {'backend': 'sqlite', 'operation': operation})
        for operation in _operations()]
    operation: handler.Operation

    def test_has_effect(self):
        self.allow(_open())
        self.put_in_state(self.operation)
        before = self.effects()
        answer = self.call(self.operation, cloud.MEMBER)
        self.assertEqual(self.operation.status, answer.status_int, answer.body)
        if self.operation.method not in _READS:
            self.assertNotEqual(before, self.effects())


class FurtherAllowedTest(cloud.CloudTest):
    scenarios: ty.ClassVar = [
        (' '.join(pair), {'backend': 'sqlite', 'pair': pair}) for pair in _FURTHER]
    pair: tuple[str, str]

    def test_is_answered(self):
        operation = next(o for o in _operations() if o.id == self.pair[0])
        self.allow({**_open(), self.pair[1]: '@'})
        self.put_in_state(operation)
        answer = self.call(operation, cloud.MEMBER, *_FURTHER[self.pair])
        self.assertEqual(operation.status, answer.status_int, answer.body)


class ForbiddenTest(cloud.CloudTest):
    def assert_refused(self, operation: handler.Operation, identity: dict[str, str],
                       statuses: tuple[int, ...], query: ty.Any = None,
                       body: ty.Any = None) -> None:
        self.put_in_state(operation)
        before = self.effects()
        answer = self.call(operation, identity, query, body)
        self.assertIn(answer.status_int, statuses, (operation.id, answer.body))
        error, = answer.json['errors']
        self.assertEqual(answer.status_int, error['status'])
        self.assertEqual(before, self.effects(), operation.id)

    def test_rule_of_each_operation(self):
        for operation in _operations():
            self.allow({**_open(), ty.cast(str, operation.policy): '!'})
            for identity in (cloud.MEMBER, cloud.ADMIN):
                self.assert_refused(operation, identity, (403,))

    def test_further_rules(self):
        operations = {operation.id: operation for operation in _operations()}
        for (ident, rule), (query, body) in _FURTHER.items():
            self.allow({**_open(), rule: '!'})
            self.assert_refused(operations[ident], cloud.MEMBER, (403,), query, body)

    def test_things_of_another_project(self):
        """They do not exist for others, whatever may be done to them."""
        for operation in _operations():
            if operation.find or operation.id.startswith('container_actions'):
                # The recorded status of an image that is not there is 400.
                missing = 400 if operation.path.startswith('images') else 404
                self.assert_refused(operation, cloud.STRANGER, (403, missing))

    def test_members_do_not_administrate(self):
        collections = {'hosts', 'services', 'networks', 'quota_classes'}
        walked = 0
        for operation in _operations():
            if operation.path.split('/')[0] in collections \
                    or operation.id in ('quotas.update', 'quotas.delete', 'images.create',
                                        'images.delete'):
                self.assert_refused(operation, cloud.MEMBER, (403,))
                walked += 1
        self.assertEqual(15, walked)
