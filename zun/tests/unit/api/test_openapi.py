# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import jsonschema

from zun.api import answers
from zun.api import handler
from zun.api import microversions
from zun.api import openapi
from zun.api import reference
from zun.tests import base

FILE = pathlib.Path(__file__).resolve().parents[4] / 'api-ref' / 'openapi.json'
SOURCE = FILE.parent / 'source'


class DocumentTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.document = openapi.document()

    def test_file_is_current(self):
        """Otherwise: tools/openapi"""
        self.assertEqual(json.loads(FILE.read_text()),
                         json.loads(json.dumps(self.document)))

    def test_every_operation_is_there_once(self):
        found = [operation['operationId'] for path in self.document['paths'].values()
                 for operation in path.values()]
        self.assertEqual(sorted(operation.id for operation in handler.all_operations()),
                         sorted(found))

    def test_answers_exist(self):
        for operation in handler.all_operations():
            if operation.answer:
                self.assertIn(operation.answer, answers.SCHEMAS, operation.id)

    def test_schemas_are_schemas(self):
        for name, schema in answers.SCHEMAS.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertTrue(schema, name)
        for path in self.document['paths'].values():
            for operation in path.values():
                for parameter in operation['parameters']:
                    jsonschema.Draft202012Validator.check_schema(parameter.get('schema', {}))
                body = operation.get('requestBody', {}).get('content', {})
                for content in body.values():
                    jsonschema.Draft202012Validator.check_schema(content['schema'])


class ReferenceTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.files = reference.files()

    def test_files_are_current(self):
        """Otherwise: tools/openapi"""
        for name, text in self.files.items():
            self.assertEqual((SOURCE / name).read_text(), text, name)

    def test_every_operation_is_there_once(self):
        found = [line.removeprefix('.. rest_method:: ') for text in self.files.values()
                 for line in text.splitlines() if line.startswith('.. rest_method:: ')]
        self.assertEqual(sorted(
            f'{method.upper()} {path}' for path, operations in
            openapi.document()['paths'].items() for method in operations), sorted(found))

    def test_every_file_is_included(self):
        index = (SOURCE / 'index.rst').read_text()
        for path in SOURCE.glob('*.inc'):
            self.assertIn(f'.. include:: {path.name}\n', index)

    def test_every_version_is_in_the_history(self):
        history = (SOURCE / 'microversions.inc').read_text()
        for minor in range(microversions.MIN.minor, microversions.MAX.minor + 1):
            self.assertIn(f'\n1.{minor:<5} ', history)

    def test_everything_is_described(self):
        self.assertNotIn('description: ""', self.files['parameters.yaml'])
