# SPDX-License-Identifier: Apache-2.0

import uuid

import fixtures

from zun.api.controllers import containers as controllers
from zun.common import exception
from zun.db import engine
from zun.tests.unit.api import base

PATH = '/v1/containers'
UUID = '11111111-1111-4111-8111-111111111111'


class RequestTest(base.ApiTest):
    def test_text_that_is_not_utf8(self):
        self.assert_error(self.call(PATH, environ={'QUERY_STRING': 'name=%ff'}), 400,
                          'bad-request')
        self.assert_error(self.call('/', environ={'PATH_INFO': '/v1/containers/\xff'}), 400,
                          'bad-request')

    def test_nul_in_query_and_body(self):
        self.assert_error(self.call(f'{PATH}?name=a%00'), 400, 'schema-validation-error')
        self.assert_error(self.call(PATH, 'POST', body={'image': 'busybox', 'workdir': '/a\0'}),
                          400, 'schema-validation-error')

    def test_body_too_large(self):
        response = self.call(PATH, 'POST', body=b'{}', Content_Length=str(1 << 40))
        self.assert_error(response, 413, 'request-too-large')

    def test_body_of_unknown_length_too_large(self):
        self.useFixture(fixtures.MonkeyPatch('zun.api.request.Request.content_length', None))
        body = b'{"image": "' + b'a' * (33 << 20) + b'"}'
        self.assert_error(self.call(PATH, 'POST', body=body,
                                    environ={'wsgi.input_terminated': True}),
                          413, 'request-too-large')

    def test_body_of_an_action(self):
        """No command, and no message to a node, is that long."""
        body = b'{"command": "' + b'a' * (1 << 20) + b'"}'
        for verb, status in (('execute', 413), ('put_archive', 400)):
            response = self.call(f'{PATH}/x/{verb}', 'POST', body=body)
            self.assertEqual(status, response.status_int, verb)

    def test_deep_body_counts_as_absent(self):
        self.assert_error(self.call(PATH, 'POST', body=b'[' * 200000), 400,
                          'schema-validation-error')

    def test_broken_form(self):
        response = self.call(f'{PATH}/x/stop', 'POST', body=b'x',
                             Content_Type='multipart/form-data')
        self.assert_error(response, 400, 'bad-request')

    def test_form(self):
        response = self.call(f'{PATH}/x/stop', 'POST', body=b'timeout=abc',
                             Content_Type='application/x-www-form-urlencoded')
        self.assert_error(response, 400, 'schema-validation-error')


class HeadersTest(base.ApiTest):
    def assert_versions(self, response, version):
        self.assertEqual(
            (f'container {version}', 'container 1.1', 'container 1.43', 'OpenStack-API-Version'),
            tuple(response.headers[name] for name in (
                'OpenStack-API-Version', 'OpenStack-API-Minimum-Version',
                'OpenStack-API-Maximum-Version', 'Vary')))

    def test_versions_on_every_answer(self):
        for path, method in ((PATH, 'GET'), ('/v1/nope', 'GET'), (PATH, 'PUT'),
                             ('/v1/hosts', 'GET'), (f'{PATH}/x', 'GET')):
            response = self.call(path, method, OpenStack_API_Version='container 1.3')
            self.assert_versions(response, '1.3')

    def test_no_versions_at_the_root(self):
        self.assertNotIn('OpenStack-API-Version', self.call('/').headers)

    def test_root_answers_load_balancers(self):
        for method, has_body in (('OPTIONS', True), ('HEAD', False)):
            response = self.call('/', method, identity={})
            self.assertEqual((200, has_body), (response.status_int, bool(response.body)), method)

    def test_request_id_on_errors(self):
        self.assertIn('x-openstack-request-id', self.call('/v1/nope').headers)

    def test_unexpected_failure(self):
        self.useFixture(fixtures.MockPatchObject(
            controllers.Container, 'list', side_effect=RuntimeError('secret')))
        response = self.call(PATH)
        self.assertNotIn(b'secret', response.body)
        self.assertEqual((500, 'container.'), (response.status_int,
                                               response.json['errors'][0]['code']))
        self.assert_versions(response, '1.43')


class MountedTest(base.ApiTest):
    def test_behind_a_prefix(self):
        base.insert_container(UUID, name='web')
        for path in ('/v1/containers/web', '/containers/web'):
            response = self.call('/', environ={'SCRIPT_NAME': '/container', 'PATH_INFO': path})
            self.assertEqual(UUID, response.json['uuid'])
            self.assertEqual(f'http://localhost/v1/containers/{UUID}',
                             response.json['links'][0]['href'])
        response = self.call('/', environ={'SCRIPT_NAME': '/container', 'PATH_INFO': ''})
        self.assertEqual('v1', response.json['versions'][0]['id'])

    def test_links_follow_the_host_header(self):
        response = self.call('/v1', Host='cloud.example:8443')
        self.assertEqual('http://cloud.example:8443/v1/', response.json['links'][0]['href'])


class LookupTest(base.ApiTest):
    def test_name_with_suffix_comes_first(self):
        base.insert_container(UUID, name='web')
        self.assertEqual('web', self.call(f'{PATH}/web.json').json['name'])
        base.insert_container(str(uuid.uuid4()), name='web.json')
        self.assertEqual('web.json', self.call(f'{PATH}/web.json').json['name'])
        self.assertEqual('web', self.call(f'{PATH}/web').json['name'])

    def test_missing_beats_policy(self):
        self.useFixture(fixtures.MockPatch(
            'zun.common.policy.enforce',
            side_effect=exception.PolicyNotAuthorized(action='x')))
        self.assert_error(self.call(f'{PATH}/nope'), 404, 'container-not-found')

    def test_admin_reads_every_project(self):
        base.insert_container(UUID, name='web')
        self.assertEqual(200, self.call(f'{PATH}/web', identity=base.ADMIN).status_int)
        self.assertEqual([], self.call(PATH, identity=base.ADMIN).json['containers'])
        self.assertEqual(1, len(self.call(f'{PATH}?all_projects=yes',
                                          identity=base.ADMIN).json['containers']))


class StatementsTest(base.ApiTest):
    def statements(self, path, identity=base.MEMBER):
        with engine.statement_counter(all_threads=True) as counter:
            self.assertEqual(200, self.call(path, identity=identity).status_int)
        return counter.count

    def test_lists_do_not_grow_with_their_rows(self):
        registry = base.insert('registry', uuid=UUID, domain='d', project_id=base.PROJECT)
        uuids = [str(uuid.uuid4()) for _ in range(30)]
        for number, one in enumerate(uuids):
            base.insert_container(one, registry_id=registry if number % 2 else None)
        self.assertLessEqual(self.statements(f'{PATH}?limit=20'), 2)
        self.assertLessEqual(self.statements(f'{PATH}?limit=20&marker={uuids[3]}'), 3)
        self.assertLessEqual(self.statements(f'{PATH}/{uuids[1]}'), 2)

    def test_capsules_come_with_their_members(self):
        for _ in range(5):
            capsule = base.insert_container(str(uuid.uuid4()), container_type=1)
            for kind in (2, 2, 3):
                base.insert_container(str(uuid.uuid4()), container_type=kind,
                                      capsule_id=capsule)
        self.assertLessEqual(self.statements('/v1/capsules'), 3)
        members = self.call('/v1/capsules').json['capsules'][0]
        self.assertEqual((2, 1), (len(members['containers']), len(members['init_containers'])))


class FieldPoliciesTest(base.ApiTest):
    def test_evaluated_once_for_a_page(self):
        for _ in range(20):
            base.insert_container(str(uuid.uuid4()))
        allowed = self.useFixture(fixtures.MockPatch(
            'zun.common.policy.allowed', return_value=True)).mock
        self.assertEqual(20, len(self.call(PATH).json['containers']))
        rules = [call.args[1] for call in allowed.call_args_list]
        self.assertEqual(len(set(rules)), len(rules))

    def test_hidden_from_members(self):
        base.insert_container(UUID, host='compute-1', runtime='runc')
        for path in (f'{PATH}/{UUID}', PATH):
            view = self.call(path).json
            view = view.get('containers', [view])[0]
            self.assertEqual(set(), {'host', 'runtime', 'privileged', 'image_pull_policy'}
                             & view.keys())
        view = self.call(f'{PATH}/{UUID}', identity=base.ADMIN).json
        self.assertEqual(('compute-1', 'runc', False, None), tuple(
            view[name] for name in ('host', 'runtime', 'privileged', 'image_pull_policy')))


class PagingTest(base.ApiTest):
    def test_next_is_followed_to_the_end(self):
        uuids = [str(uuid.uuid4()) for _ in range(5)]
        for one in uuids:
            base.insert_container(one, name='a', status='Running')
        base.insert_container(str(uuid.uuid4()), name='other')
        found, path = [], f'{PATH}?limit=2&name=a&name=b&status=Running&sort_dir=desc'
        while path:
            page = self.call(path).json
            found += [container['uuid'] for container in page['containers']]
            path = page['next'] and page['next'].removeprefix('http://localhost')
        self.assertEqual(uuids[::-1], found)

    def test_internal_columns_are_no_sort_keys(self):
        for name in ('websocket_token', 'container_type', 'cni_metadata'):
            self.assert_error(self.call(f'{PATH}?sort_key={name}'), 400,
                              'invalid-parameter-value')
        self.assert_error(self.call('/v1/registries?sort_key=password'), 400,
                          'invalid-parameter-value')
