# SPDX-License-Identifier: Apache-2.0
"""Files as text: base64 from 1.25 on, below each character is a byte."""

import base64
import types

import fixtures

from zun.api import microversions
from zun.api.controllers import actions
from zun.common import exception
from zun.rpc import parcels
from zun.tests import base

ALL_BYTES = bytes(range(256))


class ArchiveTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.put = []
        self.useFixture(fixtures.MonkeyPatch(
            'zun.api.controllers.actions.control', types.SimpleNamespace(
                get_archive=lambda *_args: {
                    'data': iter([base64.b64encode(part).decode() for part in (
                        ALL_BYTES[:96], ALL_BYTES[96:])]), 'stat': {}},
                put_archive=lambda _context, _container, _path, data: self.put.append(
                    b''.join(map(parcels.decoded, parcels.parts(data)))))))

    def _call(self, minor, **values):
        return types.SimpleNamespace(version=microversions.Version(1, minor), context=None,
                                     values={'path': '/x', **values})

    def test_out(self):
        found = actions._get_archive(self._call(25), None)['data']
        self.assertEqual(ALL_BYTES, b''.join(map(base64.b64decode, found)))
        found = actions._get_archive(self._call(24), None)['data']
        self.assertEqual(ALL_BYTES, ''.join(found).encode('latin-1'))

    def test_in(self):
        actions._put_archive(self._call(25, data='YWJj'), None)
        long = ALL_BYTES * 2000
        actions._put_archive(self._call(24, data=long.decode('latin-1')), None)
        self.assertEqual([b'abc', long], self.put)

    def test_lines(self):
        """Encoders break base64 into lines."""
        actions._put_archive(self._call(25, data='YW\r\nJj\n'), None)
        self.assertEqual([b'abc'], self.put)

    def test_characters_that_are_no_bytes(self):
        self.assertRaises(exception.InvalidValue, actions._put_archive,
                          self._call(24, data='smile \U0001f600'), None)
        self.assertEqual([], self.put)
