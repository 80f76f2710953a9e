# SPDX-License-Identifier: Apache-2.0

import json
import threading

from oslo_context import context as oslo_context

from zun.common import context as zun_context
from zun.tests import base


def _context(**kwargs):
    return zun_context.RequestContext(**{
        'user_id': 'u', 'user_name': 'User', 'project_id': 'p', 'project_name': 'Project',
        'user_domain_id': 'd1', 'user_domain_name': 'D1', 'project_domain_id': 'd2',
        'project_domain_name': 'D2', 'roles': ['member', 'reader'], 'auth_token': 'secret-token',
        'overwrite': False, **kwargs})


class ContextTest(base.TestCase):
    def _in_thread(self, function):
        """Run it where no context was set yet."""
        results = []
        thread = threading.Thread(target=lambda: results.append(function()))
        thread.start()
        thread.join(30)
        return results[0]

    def test_round_trip(self):
        context = _context(is_admin=True, all_projects=True, global_request_id='req-' + 'a' * 36)
        values = json.loads(json.dumps(context.to_dict()))
        self.assertNotIn('secret-token', json.dumps(values))
        found = zun_context.RequestContext.from_dict(values)
        self.assertEqual(context.to_dict(), found.to_dict())
        self.assertEqual(context.request_id, found.request_id)
        self.assertIsNone(found.auth_token)
        for name, value in values.items():
            self.assertEqual(value, getattr(found, name), name)

    def test_every_value_is_kept(self):
        self.assertEqual(
            {'user_id', 'user_name', 'project_id', 'project_name', 'user_domain_id',
             'user_domain_name', 'project_domain_id', 'project_domain_name', 'roles', 'is_admin',
             'all_projects', 'request_id', 'global_request_id'}, set(_context().to_dict()))

    def test_unknown_keys_are_ignored(self):
        found = zun_context.RequestContext.from_dict(
            {'user_id': 'u', 'trust_id': 't', 'auth_token': 'x'})
        self.assertEqual(('u', None), (found.user_id, found.auth_token))

    def test_roles_are_not_shared(self):
        context = _context()
        context.elevated().roles.append('admin')
        self.assertEqual(['member', 'reader'], context.roles)

    def test_elevated(self):
        context = _context()
        self.assertFalse(context.sees_all)
        found = context.elevated()
        self.assertTrue(found.sees_all)
        self.assertEqual((context.request_id, 'p', 'secret-token'),
                         (found.request_id, found.project_id, found.auth_token))
        self.assertFalse(context.elevated(all_projects=False).sees_all)
        self.assertFalse(context.is_admin)

    def test_all_projects_is_for_administrators(self):
        self.assertFalse(_context(all_projects=True).sees_all)
        self.assertFalse(_context(is_admin=True).sees_all)

    def test_admin_context(self):
        context = zun_context.get_admin_context()
        self.assertTrue(context.sees_all)
        self.assertIsNone(context.project_id)
        self.assertFalse(zun_context.get_admin_context(all_projects=False).sees_all)

    def test_nothing_is_stored_unasked(self):
        def make():
            _context().elevated()
            zun_context.get_admin_context()
            return oslo_context.get_current()

        self.assertIsNone(self._in_thread(make))

    def test_stored_when_asked(self):
        def make():
            first = _context(overwrite=True)
            seen = [oslo_context.get_current() is first]
            second = _context()
            seen.append(oslo_context.get_current() is first)
            second.update_store()
            return [*seen, oslo_context.get_current() is second]

        self.assertEqual([True, True, True], self._in_thread(make))

    def test_log_has_no_token(self):
        self.assertNotIn('secret-token', str(_context().get_logging_values()))
