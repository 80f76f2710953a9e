# SPDX-License-Identifier: Apache-2.0
import base64

from zun.common import exception
from zun.control import mounts
from zun.tests import base


def _file(size):
    return base64.b64encode(b'x' * size).decode()


class MountsTest(base.TestCase):
    TABLE = (
        ({'source': 'data', 'destination': '/d'}, ('cinder', '/d', 'data', None)),
        ({'type': 'volume', 'source': 'data', 'size': 5, 'destination': '/d/'},
         ('cinder', '/d', 'data', None)),
        ({'size': '3', 'destination': '//d'}, ('cinder', '/d', None, 3)),
        ({'source': '', 'size': 3, 'destination': '/d/../e'}, ('cinder', '/e', None, 3)),
        ({'type': 'bind', 'source': 'aGVsbG8=', 'destination': '/etc/motd'},
         ('local', '/etc/motd', 'aGVsbG8=', None)),
        ({'type': 'bind', 'source': 'aGVs\r\nbG8=\n', 'destination': '/etc/motd'},
         ('local', '/etc/motd', 'aGVsbG8=', None)),
    )
    REFUSED = (
        {'type': 'tmpfs', 'source': 'x', 'destination': '/d'},
        {'source': 'x', 'destination': 'relative'},
        {'source': 'x', 'destination': ''},
        {'source': 'x', 'destination': '/'},
        {'source': 'x', 'destination': '/..'},
        {'source': 'x', 'destination': '/a\0b'},
        {'source': 'x', 'destination': '/' + 'a' * 255},
        {'size': '0', 'destination': '/d'},
        {'size': '-1', 'destination': '/d'},
        {'size': 'big', 'destination': '/d'},
        {'size': True, 'destination': '/d'},
        {'type': 'bind', 'size': 5, 'destination': '/d'},
        {'type': 'bind', 'source': 'not base64', 'destination': '/d'},
        {'type': 'bind', 'source': 'é', 'destination': '/d'},
    )

    def test_table(self):
        self.assertEqual([], mounts.parse(None))
        for given, expected in self.TABLE:
            self.assertEqual([mounts.Mount(*expected)], mounts.parse([given]), given)

    def test_refused(self):
        for given in self.REFUSED:
            self.assertRaises(exception.InvalidValue, mounts.parse, [given])

    def test_one_place_once(self):
        twice = [{'source': 'a', 'destination': '/d'}, {'source': 'b', 'destination': '/d/'}]
        self.assertRaises(exception.InvalidValue, mounts.parse, twice)

    def test_limits_of_files(self):
        self.config(group='volume', max_injected_file_size=10)
        file = {'type': 'bind', 'source': _file(10), 'destination': '/d'}
        self.assertEqual(1, len(mounts.parse([file])))
        self.assertRaises(exception.InvalidValue, mounts.parse,
                          [{**file, 'source': _file(11)}])
        many = [{**file, 'destination': f'/{number}'} for number in range(17)]
        self.assertEqual(16, len(mounts.parse(many[:16])))
        self.assertRaises(exception.InvalidValue, mounts.parse, many)
