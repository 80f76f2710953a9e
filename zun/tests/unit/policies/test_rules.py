# SPDX-License-Identifier: Apache-2.0
"""The defaults: upstream's decisions, the stricter ones, and the operator's file."""

import json
import pathlib

from zun import policies
from zun.common import context as zun_context
from zun.common import exception
from zun.common import policies as entry_point
from zun.common import policy
from zun.tests import base
from zun.tests import vectors

_OWN = {'project_id': 'p1', 'user_id': 'u1'}
#: role -> rule -> allowed on a target of the caller's project, with and without the old defaults
_EXPECTED = {
    'admin': {'container:create': (True, True), 'container:get_one': (True, True),
              'container:delete_force': (True, True), 'network:create': (True, True),
              'container:create:privileged': (False, False), 'container:logs': (True, True)},
    'member': {'container:create': (True, True), 'container:get_one': (True, True),
               'container:delete_force': (False, False), 'container:network_list': (True, True),
               'quota:get': (True, True), 'quota:update': (False, False)},
    'reader': {'container:create': (True, False), 'container:stop': (True, False),
               'container:get_one': (True, True), 'container:network_list': (True, True),
               'registry:delete': (True, False), 'capsule:get_all': (True, True),
               'image:pull': (False, False), 'container:execute': (True, False)},
    'stranger': {'container:create': (True, False), 'container:get_one': (True, False)},
}


def _context(*roles, project_id='p1', user_id='u1'):
    context = zun_context.RequestContext(
        roles=list(roles), project_id=project_id, user_id=user_id, overwrite=False)
    context.is_admin = policy.context_is_admin(context)
    return context


class RulesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        policy.reset()
        self.addCleanup(policy.reset)

    def _roles(self, role):
        return {'admin': ('admin', 'member', 'reader'), 'member': ('member', 'reader'),
                'reader': ('reader',), 'stranger': ('dancer',)}[role]

    def test_personas(self):
        for strict in (False, True):
            self.config(group='oslo_policy', enforce_new_defaults=strict)
            policy.reset()
            for role, rules in _EXPECTED.items():
                context = _context(*self._roles(role))
                for rule, expected in rules.items():
                    self.assertEqual(expected[strict], policy.allowed(context, rule, _OWN),
                                     (role, rule, strict))

    def test_old_defaults_hold_unless_told_otherwise(self):
        self.assertTrue(policy.allowed(_context('reader'), 'container:create'))
        self.assertFalse(self.CONF.oslo_policy.enforce_new_defaults)

    def test_other_project(self):
        other = _context('member', 'reader', project_id='p2')
        self.assertFalse(policy.allowed(other, 'container:get_one', _OWN))
        self.assertTrue(policy.allowed(other, 'container:get_one'))
        self.assertTrue(policy.allowed(_context('admin', project_id='pa'),
                                       'container:get_one', _OWN))

    def test_recorded_decisions(self):
        rules = set()
        for args, expected, _status in vectors.of('policy_check'):
            credentials = args['credentials']
            context = _context(*credentials['roles'], project_id=credentials['project_id'],
                               user_id=credentials['user_id'])
            self.assertEqual(expected, policy.allowed(context, args['rule'], args['target']), args)
            rules.add(args['rule'])
        self.assertEqual(82, len(rules))

    def test_refusal(self):
        error = self.assertRaises(exception.PolicyNotAuthorized, policy.enforce,
                                  _context('member'), 'container:delete_force')
        self.assertEqual("Policy doesn't allow container:delete_force to be performed.",
                         error.message)
        self.assertIsNone(policy.enforce(_context('member'), 'container:delete'))

    def test_administrator(self):
        self.assertTrue(policy.context_is_admin(_context('admin')))
        context = _context('member')
        context.is_admin = True
        self.assertFalse(policy.context_is_admin(context))

    def test_every_rule_names_its_operations(self):
        names = [rule.name for rule in policies.list_rules()]
        self.assertEqual(len(names), len(set(names)))
        for rule in policies.list_rules():
            if ':' in rule.name:
                self.assertTrue(rule.operations, rule.name)
                self.assertEqual(['project'], rule.scope_types, rule.name)
        self.assertIs(policies.list_rules, entry_point.list_rules)


class PolicyFileTest(base.TestCase):
    def setUp(self):
        super().setUp()
        policy.reset()
        self.addCleanup(policy.reset)
        self.path = pathlib.Path(self.create_tempfiles([('policy', '{}')], ext='.yaml')[0])
        self.config(group='oslo_policy', policy_file=str(self.path))

    def _write(self, rules):
        self.path.write_text(json.dumps(rules))
        policy.reset()

    def test_override_replaces_both_defaults(self):
        self._write({'container:stop': 'role:operator'})
        self.assertFalse(policy.allowed(_context('member'), 'container:stop'))
        self.assertTrue(policy.allowed(_context('operator'), 'container:stop'))
        self.assertTrue(policy.allowed(_context('member'), 'container:start'))

    def test_rules_of_the_file_alone(self):
        self.assertFalse(policy.exists('container:get_one:image'))
        self.assertTrue(policy.exists('container:get_one:host'))
        self._write({'container:get_one:image': 'role:admin'})
        self.assertTrue(policy.exists('container:get_one:image'))
        self.assertFalse(policy.allowed(_context('member'), 'container:get_one:image'))
        self.assertTrue(policy.allowed(_context('admin'), 'container:get_one:image'))

    def test_another_role_is_administrator(self):
        self._write({'context_is_admin': 'role:boss'})
        self.assertTrue(policy.context_is_admin(_context('boss')))
        self.assertTrue(policy.allowed(_context('boss'), 'container:delete_force'))
        self.assertFalse(policy.allowed(_context('admin'), 'container:delete_force'))
