# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import jsonschema

from zun.api import answers
from zun.api import handler
from zun.api import openapi
from zun.tests import base

FILE = pathlib.Path(__file__).resolve().parents[4] / 'api-ref' / 'openapi.json'


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
