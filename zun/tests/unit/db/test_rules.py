# SPDX-License-Identifier: Apache-2.0
"""Decisions of the data layer that need no database."""

import doctest
import ipaddress
import unittest

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from zun.common import exception
from zun.db import columns
from zun.db import embedded_networks
from zun.db import models
from zun.db import quotas
from zun.db import rows
from zun.tests import base


def load_tests(_loader: unittest.TestLoader, tests: unittest.TestSuite,
               _pattern: str) -> unittest.TestSuite:
    tests.addTests(doctest.DocTestSuite(quotas))
    return tests


class TestQuota(base.TestCase):
    def test_exceeded(self) -> None:
        for limit, wanted, over in (
                (1, 2, True), (2, 1, False), (1, 1, False), (1.0, 1.0000001, False),
                (1.0, 1.1, True), (20, 20.0000001, False), (20, 20.1, True), (0, 0.0, False),
                (0, 1, True), (-1, 0, False), (-1, 10 ** 9, False)):
            self.assertIs(over, quotas.exceeded(limit, wanted), (limit, wanted))


class TestJson(base.TestCase):
    def test_stored_text(self) -> None:
        for kind, value, text in (
                (list, ['a', 'b c'], '["a", "b c"]'), (list, None, '[]'), (dict, None, '{}'),
                (dict, {'A': 'é', 'b': [1, None]}, '{"A": "\\u00e9", "b": [1, null]}'),
                (None, None, None), (None, [1], '[1]'), (None, 'x', '"x"')):
            column = columns.Json(kind)
            self.assertEqual(text, column.process_bind_param(value, sqlite.dialect()))

    def test_null_beside_an_empty_value(self) -> None:
        self.assertIsNone(columns.Json(list, nullable=True).process_bind_param(
            None, sqlite.dialect()))

    def test_any_valid_json_is_read(self) -> None:
        for text, value in ((None, None), ('{"a":1}', {'a': 1}), ('[ ]', []),
                            ('{"a": "é"}', {'a': 'é'})):
            self.assertEqual(value, columns.Json(dict).process_result_value(
                text, sqlite.dialect()))


class TestConditions(base.TestCase):
    def test_matches(self) -> None:
        column = models.container.c.name
        for value, text in (
                ('a', "container.name = 'a'"), (None, 'container.name IS NULL'),
                (['a', 'b'], "container.name IN ('a', 'b')"),
                (('a', None), "container.name IN ('a') OR container.name IS NULL"),
                ({'a'}, "container.name IN ('a')")):
            compiled = rows.matches(column, value).compile(
                dialect=sqlite.dialect(), compile_kwargs={'literal_binds': True})
            self.assertEqual(text, str(compiled))

    def test_every_table_has_the_columns_of_its_indexes(self) -> None:
        for table in models.metadata.sorted_tables:
            self.assertTrue(table.primary_key.columns, table.name)
            names = [index.name for index in table.indexes]
            self.assertEqual(len(names), len(set(names)), table.name)

    def test_names_of_indexes_are_unique(self) -> None:
        """On PostgreSQL and SQLite they live in one name space with tables."""
        names = [index.name for table in models.metadata.sorted_tables for index in table.indexes]
        names += list(models.metadata.tables)
        names += [c.name for table in models.metadata.sorted_tables for c in table.constraints
                  if isinstance(c, sa.UniqueConstraint) and c.name]
        self.assertEqual(len(names), len(set(names)))


class TestAddress(base.TestCase):
    def _choose(self, taken: dict[str, str], wanted: str | None = None) -> str:
        return embedded_networks.choose_address('10.0.0.0/29', '10.0.0.1', taken, 'me', wanted)

    def test_choice(self) -> None:
        for taken, wanted, address in (
                ({}, None, '10.0.0.2'), ({}, '', '10.0.0.2'), ({'10.0.0.2': 'you'}, None,
                                                               '10.0.0.3'),
                ({'10.0.0.2': 'you', '10.0.0.5': 'me'}, None, '10.0.0.5'),
                ({'10.0.0.2': 'me'}, '10.0.0.4', '10.0.0.4'),
                ({'10.0.0.4': 'me'}, '10.0.0.4', '10.0.0.4')):
            self.assertEqual(address, self._choose(taken, wanted))

    def test_refusals(self) -> None:
        full = {str(address): 'you' for address in ipaddress.ip_network('10.0.0.0/29').hosts()}
        for error, taken, wanted in (
                (exception.Conflict, full, None), (exception.Conflict, full, '10.0.0.3'),
                (exception.Conflict, {}, '10.0.0.1'), (exception.InvalidValue, {}, '10.0.0.0'),
                (exception.InvalidValue, {}, '10.0.0.7'), (exception.InvalidValue, {}, '::1'),
                (exception.InvalidValue, {}, 'nonsense')):
            self.assertRaises(error, self._choose, taken, wanted)
