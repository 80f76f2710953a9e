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


#: What the lab, from which the samples are, has no service for; or what has another's answer.
WITHOUT_SAMPLE = {'containers.commit', 'images.search', 'networks.create', 'root.head',
                  'root.options'}


class ReferenceTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.samples = {path.name: path for path in (SOURCE / 'samples').iterdir()}
        self.files = reference.files(self.samples)

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

    def test_every_sample_is_shown(self):
        text = ''.join(self.files.values())
        for name in self.samples:
            self.assertIn(f'.. literalinclude:: samples/{name}\n', text)

    def test_samples_are_as_described(self):
        components = openapi.document()['components']
        for path in openapi.document()['paths'].values():
            for operation in path.values():
                name = operation['operationId'].replace('.', '-').replace('_', '-')
                success = next(iter(operation['responses']))
                for part, where in (('request', operation.get('requestBody', {})),
                                    ('response', operation['responses'][success])):
                    sample = self.samples.get(f'{name}-{part}.json')
                    content = where.get('content', {}).get('application/json')
                    if sample and content:
                        jsonschema.Draft202012Validator(
                            {**content['schema'], 'components': components}).validate(
                                json.loads(sample.read_text()))

    def test_every_document_has_a_sample(self):
        for path in openapi.document()['paths'].values():
            for operation in path.values():
                name = operation['operationId'].replace('.', '-').replace('_', '-')
                success = next(iter(operation['responses']))
                content = operation['responses'][success].get('content', {})
                answer = content.get('application/json', {}).get('schema', {})
                if answer and answer != answers.ref('null') \
                        and operation['operationId'] not in WITHOUT_SAMPLE:
                    self.assertIn(f'{name}-response.json', self.samples)
