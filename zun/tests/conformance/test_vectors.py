# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the API's pure functions."""

import datetime

from webob import exc

from zun.api import handler
from zun.api import microversions
from zun.api import paging
from zun.api.controllers import actions as controllers
from zun.api.schemas import actions
from zun.api.schemas import capsules
from zun.api.schemas import containers
from zun.api.schemas import images
from zun.api.schemas import networks
from zun.api.schemas import quotas
from zun.api.schemas import registries
from zun.api.schemas import services
from zun.api.schemas import validation
from zun.api.views import fields
from zun.api.views import links
from zun.common import exception
from zun.common import states
from zun.tests import base
from zun.tests import vectors
from zun.tests.conformance import deviations

LATEST = microversions.parse(deviations.NEWEST.recorded)
HOST = 'http://api:9517'

#: Name in the recording -> schema and version.
SCHEMAS = {
    'container_create_legacy': (containers.CREATE, microversions.Version(1, 19)),
    'container_create': (containers.CREATE, microversions.Version(1, 38)),
    'container_create_1_39': (containers.CREATE, microversions.Version(1, 39)),
    'container_create_1_40': (containers.CREATE, LATEST),
    **{found.name: (found, LATEST) for found in (
        containers.UPDATE, containers.QUERY_CREATE, containers.QUERY_DELETE, actions.TIMEOUT,
        actions.KILL, actions.LOGS, actions.EXECUTE, actions.EXECUTE_RESIZE, actions.RESIZE,
        actions.TOP, actions.COMMIT, actions.RENAME, actions.SECURITY_GROUP,
        actions.NETWORK_ATTACH, actions.NETWORK_DETACH, capsules.CREATE, images.CREATE,
        images.SEARCH, networks.CREATE, services.ENABLE, services.DISABLE,
        services.FORCE_DOWN, quotas.UPDATE, registries.CREATE, registries.UPDATE)},
}

#: Instances that ours refuses although the reference accepts them, and why.
REFUSED = (
    ('container_create_1_40', {'image': 'busybox', 'environment': {'': 1}},
     'values of the environment are texts, whatever their name is'),
)

#: Statuses that ours answers instead of 500, as clients can act on them. Classes of the reference
#: that ours never raises are not compared.
STATUSES = {
    'ContainerHostNotUp': 503, 'OperationNotSupported': 501, 'ResourcesUnavailable': 409,
    'FailedParseStringToJson': 400, 'InvalidCapsuleTemplate': 400,
    'ReferenceInvalidFormat': 400, 'NameEmpty': 400, 'NameTooLong': 400,
}


class VectorsTest(base.TestCase):
    def check(self, name, function):
        """Compare what a function makes of the recorded arguments."""
        number = 0
        for args, result, status in vectors.of(name):
            number += 1
            try:
                got, code = function(**args), None
            except exception.ZunException as error:
                got, code = None, error.code
            except exc.HTTPException as error:
                got, code = None, error.status_int
            self.assertEqual(status, code, args)
            if status is None:
                self.assertEqual(result, got, args)
        self.assertGreater(number, 0)

    def test_parse_version_header(self):
        newest = {microversions.MAX: LATEST}

        def negotiated(header):
            found = microversions.negotiate(header)
            return list(newest.get(found, found))
        self.check('parse_version_header', negotiated)

    def test_version_matches(self):
        def known(version, min, max):
            operation = handler.Operation(
                '', '', '', lambda: None, '', since=microversions.parse(min),
                until=microversions.parse(max))
            return operation.known_at(microversions.parse(version))
        self.check('version_matches', known)

    def test_validate_limit(self):
        def limit(limit, max_limit):
            self.config('api', max_limit=max_limit)
            return paging.parse_limit(limit)
        self.check('validate_limit', limit)

    def test_validate_sort_dir(self):
        self.check('validate_sort_dir', _by_position(paging.parse_direction))

    def test_collection_next(self):
        def next_url(items, limit, url, sort_key, sort_dir):
            page = paging.Page(limit, None, sort_key, sort_dir)
            return paging.next_url(HOST, url or 'things', page,
                                   [f'u{number}' for number in range(items)])
        self.check('collection_next', next_url)

    def test_build_url(self):
        self.check('build_url', lambda resource, args, bookmark, host_url: links.url(
            host_url, resource, args, bookmark))

    def test_is_all_projects(self):
        self.check('is_all_projects',
                   lambda all_projects: handler.parse_boolean(all_projects, 'all_projects'))

    def test_string_or_none(self):
        self.check('string_or_none',
                   lambda value: None if value is None else actions.none_text(value))

    def test_legacy_command_split(self):
        self.check('legacy_command_split', _by_position(containers.split_command))

    def test_validate_image_driver(self):
        def check(image_driver):
            controllers.check_image_driver(image_driver)
            return 'ok'
        self.check('validate_image_driver', check)

    def test_strtime(self):
        self.check('strtime', lambda datetime: fields.time_t(_time(datetime)))

    def test_error_code(self):
        # Errors of nodes arrive as classes of our own, without the suffix of the bus.
        self.check('error_code', lambda class_name: exception.error_code(
            class_name.removesuffix('_Remote')))

    def test_error_http_status(self):
        for args, result, _status in vectors.of('error_http_status'):
            name = args['class_name']
            found = exception.by_name(name)
            if found.__name__ == name:
                self.assertEqual(STATUSES.get(name, result), found.code, name)

    def test_valid_states(self):
        for args, result, _status in vectors.of('valid_states'):
            self.assertEqual(set(result), states.ACTIONS[args['action']].statuses, args)

    def test_validate_container_state(self):
        def check(action, status, uuid):
            states.check(action, uuid, status)
            return 'ok'
        self.check('validate_container_state', check)

    def test_validate_schema(self):
        for args, result, _status in vectors.of('validate_schema'):
            schema, version = SCHEMAS[args['schema']]
            error = validation.first_error(schema.at(version).validator, args['instance'])
            refused = any((args['schema'], args['instance']) == entry[:2] for entry in REFUSED)
            self.assertEqual(result['valid'] and not refused, error is None, (args, error))
            if error is not None and 'field' in result:
                self.assertEqual(result['field'], validation.field_of(error), args)


def _time(text):
    return datetime.datetime.fromisoformat(text)


def _by_position(function):
    return lambda **args: function(*args.values())
