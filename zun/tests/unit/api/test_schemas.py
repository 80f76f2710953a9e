# SPDX-License-Identifier: Apache-2.0

from zun.api import microversions
from zun.api.schemas import actions
from zun.api.schemas import capsules
from zun.api.schemas import containers
from zun.api.schemas import registries
from zun.common import exception
from zun.tests import base

Version = microversions.Version
LATEST = microversions.MAX


def message(schema, instance, queried=(), version=LATEST):
    """What a schema says about an instance."""
    try:
        schema.at(version).check(instance, queried)
    except exception.SchemaValidationError as error:
        return error.message
    return None


class MessagesTest(base.TestCase):
    def test_body_and_query(self):
        self.assertEqual("Invalid input for field 'cpu'.Value: '99'. It must be at most 16.0.",
                         message(containers.UPDATE, {'cpu': 99}))
        self.assertEqual("Invalid input for query parameters 'cpu'. Value: '99'. "
                         'It must be at most 16.0.',
                         message(containers.UPDATE, {'cpu': '99'}, ['cpu']))

    def test_top_object_is_not_named(self):
        self.assertEqual("'image' is a required property", message(containers.CREATE, {}))

    def test_value_of_the_environment_that_is_none(self):
        for value in (None, 5, True, ['x']):
            self.assertIsNotNone(message(containers.CREATE, {
                'image': 'busybox', 'environment': {'A': value}}))

    def test_long_values_are_cut(self):
        text = message(containers.CREATE, {'image': 'busybox', 'name': 'x' * 100000})
        self.assertLess(len(text), 300)

    def test_no_password(self):
        for registry in ({'domain': 'd', 'password': 5555}, {'domain': 5, 'password': 'sesame'},
                         {'password': 'sesame'}, {'domain': 'd', 'password': 's' * 5000},
                         {'domain': 'd', 'password': 'sesame', 'x': 1}):
            text = message(registries.CREATE, {'registry': registry})
            self.assertIsNotNone(text)
            self.assertNotIn('5555', text)
            self.assertNotIn('sesame', text)

    def test_bounds_are_read_when_used(self):
        self.assertIsNotNone(message(containers.UPDATE, {'memory': 16384}))
        self.config(maximum_memory=32768)
        self.assertIsNone(message(containers.UPDATE, {'memory': 16384}))
        self.config(image_driver_list=['docker'])
        self.assertIsNotNone(message(containers.CREATE,
                                     {'image': 'busybox', 'image_driver': 'glance'}))


class ActionsTest(base.TestCase):
    def test_time_to_end(self):
        for timeout in (0, '0', '', 3600, '3600'):
            self.assertIsNone(message(actions.TIMEOUT, {'timeout': timeout}), timeout)
        for timeout in (-1, 3601, '3601', '99999999999999999999'):
            self.assertIsNotNone(message(actions.TIMEOUT, {'timeout': timeout}), timeout)


class VersionsTest(base.TestCase):
    def test_compiled_once(self):
        self.assertIs(containers.CREATE.at(LATEST), containers.CREATE.at(LATEST))

    def test_every_version_compiles(self):
        for minor in range(microversions.MIN.minor, LATEST.minor + 1):
            schema = containers.CREATE.at(Version(1, minor))
            schema.check({'image': 'busybox'})

    def test_fields_have_their_versions(self):
        def known(minor):
            return set(containers.CREATE.at(Version(1, minor)).document['properties'])
        self.assertEqual({'host'}, known(39) - known(38))
        self.assertEqual({'entrypoint'}, known(40) - known(39))
        self.assertEqual(known(1), known(38))

    def test_gates(self):
        for name, value, since in (
                ('auto_remove', False, 3), ('runtime', 'runc', 5), ('hostname', 'h', 9),
                ('mounts', [{'source': 's', 'destination': '/d'}], 11),
                ('privileged', False, 21), ('healthcheck', {'cmd': 'x'}, 22),
                ('exposed_ports', {}, 24), ('registry', 'reg', 31)):
            instance = {'image': 'busybox', name: value}
            self.assertRaises(exception.InvalidParamInVersion,
                              containers.CREATE.at(Version(1, since - 1)).convert, instance)
            self.assertIn(name, containers.CREATE.at(Version(1, since)).convert(instance))

    def test_empty_values_pass_two_gates(self):
        values = containers.CREATE.at(microversions.MIN).convert(
            {'image': 'busybox', 'mounts': [], 'healthcheck': {}})
        self.assertEqual({'image', 'mounts', 'healthcheck'}, values.keys())


class ValuesTest(base.TestCase):
    def convert(self, version=LATEST, **members):
        schema = containers.CREATE.at(version)
        schema.check({'image': 'busybox', **members})
        values = schema.convert({'image': 'busybox', **members})
        del values['image']
        return values

    def test_numbers_and_booleans_from_text(self):
        self.assertEqual(
            {'cpu': 0.5, 'memory': '512', 'disk': 20, 'tty': False, 'auto_heal': True},
            self.convert(cpu='.5', memory=512, disk='20', tty='False', auto_heal='true'))

    def test_null_means_absent(self):
        self.assertEqual({}, self.convert(cpu=None, memory=None, nets=None, mounts=None,
                                          restart_policy=None, runtime=None, command=None))
        self.assertEqual({'restart_policy': {'Name': 'no'}}, self.convert(
            restart_policy={'Name': 'no', 'MaximumRetryCount': None}))

    def test_none_as_text_is_the_default_driver(self):
        self.assertEqual({'image_driver': None}, self.convert(image_driver='None'))

    def test_words(self):
        self.assertEqual({'command': ['sleep', '10', 'True', '1.5']},
                         self.convert(command=['sleep', 10, True, 1.5]))
        self.assertEqual({'command': ['sh', '-c', 'echo a b']},
                         self.convert(Version(1, 1), command='sh -c "echo a b"'))
        self.assertRaises(exception.InvalidValue, self.convert, Version(1, 1), command='"a')

    def test_labels_are_texts(self):
        self.assertEqual({'labels': {'a': '1', 'b': 'True', 'c': 'x'}},
                         self.convert(labels={'a': 1, 'b': True, 'c': 'x'}))

    def test_health_check_command_is_its_test(self):
        self.assertEqual({'healthcheck': {'test': 'ls', 'interval': None}},
                         self.convert(healthcheck={'cmd': 'ls', 'interval': None}))

    def test_start_period_of_a_health_check(self):
        check = {'cmd': 'ls', 'start_period': 9}
        self.assertEqual({'healthcheck': {'test': 'ls', 'start_period': 9}},
                         self.convert(Version(1, 43), healthcheck=check))
        self.assertRaises(exception.ZunException, self.convert, Version(1, 42), healthcheck=check)

    def test_pull_policy_in_lower_case(self):
        self.assertEqual({'image_pull_policy': 'ifnotpresent'},
                         self.convert(image_pull_policy='IfNotPresent'))

    def test_final_newline_is_part_of_a_text(self):
        for members in ({'name': 'ab\n'}, {'hostname': 'h\n'}, {'memory': '512\n'}):
            self.assertIsNotNone(message(containers.CREATE, {'image': 'busybox', **members}))


class CapsuleTest(base.TestCase):
    TEMPLATE = {'kind': 'capsule', 'metadata': {'labels': {'n': 1}, 'x': 'dropped'},
                'spec': {'containers': [{'image': 'nginx', 'tty': 'False', 'resources': {
                    'requests': {'cpu': '1', 'memory': 512}}}]}}
    VALUES = {'kind': 'capsule', 'metadata': {'labels': {'n': '1'}},
              'spec': {'containers': [{'image': 'nginx', 'tty': False, 'resources': {
                  'requests': {'cpu': 1.0, 'memory': '512'}}}]}}

    def convert(self, template):
        schema = capsules.CREATE.at(LATEST)
        schema.check({'template': template})
        return schema.convert({'template': template})['template']

    def test_object_and_text(self):
        self.assertEqual(self.VALUES, self.convert(self.TEMPLATE))
        text = ('{"kind": "capsule", "metadata": {"labels": {"n": 1}}, "spec": {"containers": '
                '[{"image": "nginx", "tty": "False", "resources": {"requests": {"cpu": "1", '
                '"memory": 512}}}]}}')
        self.assertEqual(self.VALUES, self.convert(text))

    def test_other_texts(self):
        self.assertRaises(exception.FailedParseStringToJson, self.convert, 'kind: capsule')
        for text in ('[]', 'null', '5', '{"kind": "capsule"}', '"{}"'):
            self.assertRaises(exception.SchemaValidationError, self.convert, text)

    def test_ports_and_sizes(self):
        for port in (0, 65536, '', '-1', 1.5):
            self.assertIsNotNone(message(capsules.CREATE, {'template': {
                **self.TEMPLATE, 'spec': {'containers': [
                    {'image': 'nginx', 'ports': [{'containerPort': port}]}]}}}), port)
        for size in (0, -1, 1.5, '1'):
            self.assertIsNotNone(message(capsules.CREATE, {'template': {
                **self.TEMPLATE, 'spec': {'containers': [{'image': 'nginx'}], 'volumes': [
                    {'name': 'vol', 'cinder': {'size': size}}]}}}), size)
