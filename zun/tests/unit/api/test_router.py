# SPDX-License-Identifier: Apache-2.0

from webob import exc

from zun.api import controllers  # noqa: F401  (declares the operations)
from zun.api import router
from zun.tests import base

SHOW = 'containers.show'
START = 'containers.start'


class RouterTest(base.TestCase):
    def assert_found(self, identifier, idents, method, path, suffixed=None):
        match = router.match(method, path)
        self.assertEqual((identifier, idents, suffixed),
                         (match.operation.id, match.idents, match.suffixed), path)

    def test_paths_of_one_container(self):
        for path in ('/v1/containers/web', '/containers/web', '/v1/containers/web/',
                     '/v1/containers//web', '/containers///web//'):
            self.assert_found(SHOW, {'container_ident': 'web'}, 'GET', path)

    def test_suffix_is_kept_beside_the_ident(self):
        self.assert_found(SHOW, {'container_ident': 'web'}, 'GET', '/v1/containers/web.json',
                          'web.json')
        self.assert_found(START, {'container_ident': 'web'}, 'POST',
                          '/v1/containers/web/start.json')
        self.assert_found(SHOW, {'container_ident': 'web.txt'}, 'GET', '/v1/containers/web.txt')
        self.assert_found('containers.list', {}, 'GET', '/v1/containers.json')

    def test_containers_may_be_called_like_actions_and_versions(self):
        for name in ('logs', 'start', 'v1', 'containers'):
            self.assert_found(SHOW, {'container_ident': name}, 'GET', f'/v1/containers/{name}')
        self.assert_found(START, {'container_ident': 'start'}, 'POST',
                          '/v1/containers/start/start')

    def test_root_and_version(self):
        for path in ('/', ''):
            self.assert_found('root', {}, 'GET', path)
        for path in ('/v1', '/v1/', '/v1.json'):
            self.assert_found('v1', {}, 'GET', path)

    def test_names_of_images_have_slashes(self):
        for name in ('nginx', 'library/nginx', 'reg.example:5000/a/b', 'search'):
            self.assert_found('images.search', {'image': name}, 'GET',
                              f'/v1/images/{name}/search')

    def test_nothing_there(self):
        for path in ('/v2', '/v1/foo', '/foo', '/v1//containers', '//containers', '/.json',
                     '/v1/.json', '/v1/containers/a/b', '/v1/containers/a/start/c', '/v1/quotas',
                     '/v1/containers/a\0b', '/v1/v1/containers'):
            self.assertRaises(exc.HTTPNotFound, router.match, 'GET', path)

    def test_actions_with_the_other_method_are_not_there(self):
        self.assertRaises(exc.HTTPNotFound, router.match, 'GET', '/containers/a/start')
        self.assertRaises(exc.HTTPNotFound, router.match, 'POST', '/containers/a/logs')

    def test_other_methods(self):
        for method, path, allowed in (
                ('PUT', '/v1/containers', 'GET, POST'),
                ('PUT', '/v1/containers/a', 'DELETE, GET, PATCH'),
                ('PUT', '/v1/containers/a/start', 'POST'),
                ('HEAD', '/v1/containers', 'GET, POST'),
                ('DELETE', '/', 'GET, HEAD, OPTIONS')):
            error = self.assertRaises(exc.HTTPMethodNotAllowed, router.match, method, path)
            self.assertEqual(allowed, error.headers['Allow'], path)

    def test_known_collection_without_items(self):
        for path in ('/v1/services/x', '/v1/availability_zones/x', '/v1/quotas/defaults'):
            self.assertRaises(exc.HTTPMethodNotAllowed, router.match, 'GET', path)
