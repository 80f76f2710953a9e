# SPDX-License-Identifier: Apache-2.0

from zun.api import documents
from zun.common import exception
from zun.tests import base


class LoadsTest(base.TestCase):
    def test_plain(self):
        self.assertEqual({'a': [1, 2.5, None, True, 'ü\U0001f600']}, documents.loads(
            '{"a": [1, 2.5, null, true, "\\u00fc\\ud83d\\ude00"]}'))

    def test_last_of_repeated_members_counts(self):
        self.assertEqual({'a': 2}, documents.loads('{"a": 1, "a": 2}'))

    def test_no_json(self):
        for text in ('', '{', '{bad', b'\xff\xfe\x00', '[' * 100000):
            self.assertRaises(ValueError, documents.loads, text)

    def test_what_json_does_not_know(self):
        for text in ('NaN', '{"a": Infinity}', '[-Infinity]', '1e999', '"\\ud800"',
                     '{"\\udc00": 1}'):
            self.assertRaises(exception.SchemaValidationError, documents.loads, text)


class NulTest(base.TestCase):
    def test_anywhere(self):
        for value in ('a\0', ['a\0'], {'a': {'b': '\0'}}, {'\0': 1}):
            self.assertRaises(exception.SchemaValidationError, documents.refuse_nul, value)

    def test_none(self):
        documents.refuse_nul({'a': ['b', 1, None, {'c': 'd'}]})
