# SPDX-License-Identifier: Apache-2.0
"""Fixtures that cannot be had."""

import unittest

import fixtures

from zun.tests import base


class Missing(fixtures.Fixture):
    def _setUp(self):  # noqa: N802
        raise unittest.SkipTest('there is none')


class Broken(fixtures.Fixture):
    def _setUp(self):  # noqa: N802
        raise ValueError


class Needy(base.TestCase):
    def test_missing(self):
        self.useFixture(Missing())

    def test_broken(self):
        self.useFixture(Broken())


def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(FixturesTest)


class FixturesTest(base.TestCase):
    def test_outcome(self):
        result = unittest.TestResult()
        for name in ('test_missing', 'test_broken'):
            Needy(name).run(result)
        self.assertEqual(['there is none'], [reason for _, reason in result.skipped])
        self.assertEqual(1, len(result.errors))
