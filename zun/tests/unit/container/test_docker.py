# SPDX-License-Identifier: Apache-2.0
"""The smaller pure parts of the Docker driver."""

import io
import json
import struct

from zun.common import exception
from zun.container import driver
from zun.container.docker import events
from zun.container.docker import images
from zun.container.docker import logs
from zun.container.docker import streams
from zun.container.docker import top
from zun.container.docker import versions
from zun.tests import base

UUID = '11111111-2222-4333-8444-555555555555'


class TestVersions(base.TestCase):
    def test_negotiation(self):
        for lowest, highest, wanted, expected in (
                ('1.12', '1.41', None, '1.41'), ('1.24', '1.47', None, '1.47'),
                ('1.44', '1.52', None, '1.52'), ('1.44', '1.60', None, '1.52'),
                ('1.24', '1.47', '1.44', '1.44'), ('1.24', '1.47', '1.50', '1.47'),
                ('1.44', '1.52', '1.40', '1.44'), ('1.12', '1.41', '1.40', '1.41'),
                ('1.9', '1.100', '1.50', '1.50')):
            self.assertEqual(expected, versions.negotiate(lowest, highest, wanted))

    def test_nothing_in_common(self):
        for lowest, highest in (('1.12', '1.40'), ('1.53', '1.60')):
            error = self.assertRaises(exception.ConfigInvalid, versions.negotiate, lowest, highest,
                                      None)
            for part in (lowest, highest, versions.LOWEST, versions.HIGHEST):
                self.assertIn(part, error.message)

    def test_choice_that_is_no_version(self):
        self.assertRaises(exception.ConfigInvalid, versions.negotiate, '1.12', '1.41', 'auto')


class TestDemultiplexer(base.TestCase):
    def test_any_cut(self):
        """Frames come apart alike wherever the stream was cut."""
        frames = [(1, b'out'), (2, b'err'), (1, b''), (1, bytes(300)), (2, b'x')]
        data = b''.join(struct.pack('>BxxxL', stream, len(part)) + part for stream, part in frames)
        for size in (1, 2, 7, 8, 9, 100, len(data)):
            splitter, found = streams.Demultiplexer(), {1: b'', 2: b''}
            for start in range(0, len(data), size):
                for stream, part in splitter.feed(data[start:start + size]):
                    found[stream] += part
            self.assertEqual({1: b'out' + bytes(300), 2: b'errx'}, found, size)

    def test_order_is_kept(self):
        data = b''.join(struct.pack('>BxxxL', stream, 1) + part
                        for stream, part in ((1, b'a'), (2, b'b'), (1, b'c')))
        self.assertEqual([(1, b'a'), (2, b'b'), (1, b'c')],
                         list(streams.Demultiplexer().feed(data)))


class TestTail(base.TestCase):
    def text(self, limit, *parts):
        tail = logs.Tail(limit, io.BytesIO())
        for part in parts:
            tail.add(part)
        return b''.join(tail.pieces()).decode(errors='replace')

    def test_newest_in_whole_lines(self):
        for limit, parts, expected in (
                (100, (b'one\n', b'two\n'), 'one\ntwo\n'), (8, (b'one\n', b'two\n'), 'one\ntwo\n'),
                (7, (b'one\n', b'two\n'), 'two\n'), (5, (b'one\ntwo\n',), 'two\n'),
                (4, (b'one\n', b'two\n'), 'two\n'), (3, (b'abcdef',), 'def'),
                (3, (b'abcdef\n',), 'ef\n'), (10, (), ''), (10, (b'',), ''),
                (6, (b'one\ntw', b'o\nthree\n'), 'three\n'), (3, (b'abcdefghi',), 'ghi'),
                (5, (b'abc', b'de', b'\nfg', b'hij'), 'fghij')):
            self.assertEqual(expected, self.text(limit, *parts), (limit, parts))

    def test_cut_inside_a_character(self):
        self.assertEqual('\ufffdz', self.text(2, 'öz'.encode()))

    def test_holds_no_more_than_the_limit(self):
        file = io.BytesIO()
        tail = logs.Tail(1000, file)
        for _ in range(10000):
            tail.add(b'0123456789' * 11)
        self.assertEqual(1000, len(file.getvalue()))
        self.assertEqual(b'0123456789' * 100, b''.join(tail.pieces()))


class TestEvents(base.TestCase):
    def parse(self, action='die', name=f'zun-{UUID}', **fields):
        return events.parse(json.dumps({
            'Type': 'container', 'Action': action, 'time': 5, 'timeNano': 5500000000,
            'Actor': {'ID': 'x', 'Attributes': {'name': name, 'zun.uuid': UUID}},
            **fields}).encode())

    def test_kinds(self):
        for action, kind in (('die', 'changed'), ('start', 'changed'), ('destroy', 'gone'),
                             ('health_status: unhealthy', 'changed'), ('oom', 'changed')):
            self.assertEqual(driver.Event(UUID, kind, 5.5), self.parse(action))

    def test_old_members_are_not_needed(self):
        """Before API 1.52 status, id and from were there too."""
        self.assertEqual(self.parse(), self.parse(status='die', id='x', **{'from': 'image'}))

    def test_names(self):
        for name in (f'zun-{UUID}-old-1', f'my-zun-{UUID}', 'web', ''):
            self.assertIsNone(self.parse(name=name))


class TestTop(base.TestCase):
    def test_allowed(self):
        for arguments in ('-ef', 'aux', '-o pid,comm', '-opid,comm', '-eo pid,%cpu,args', 'ax',
                          'axo pid,user', '--format pid', '--format=pid,tty', '-ef --forest',
                          '-o pid -o comm', '-e --sort=-%cpu,pid', '-eL', ''):
            self.assertEqual(arguments, top.check(arguments))

    def test_refused(self):
        for arguments in ('e', 'axe', 'aux e', 'eo pid', '-o environ', '-o pid,environ', '-o',
                          '-p 1', '--foo', '-o pid=x', '-F /etc/passwd', '/etc/passwd', '-u root',
                          '-o "pid comm"', '-o pid comm', '--pid=1', '-C sh', '--context', '-V',
                          'aux;id', 'E', '-N'):
            self.assertRaises(exception.Invalid, top.check, arguments)


class TestPullMessages(base.TestCase):
    def test_lines_are_put_together(self):
        data = b'{"a": 1}\r\n{"b": 2}\n\n{"c": 3}'
        for size in (1, 3, len(data)):
            chunks = iter([data[i:i + size] for i in range(0, len(data), size)])
            self.assertEqual([{'a': 1}, {'b': 2}, {'c': 3}], list(images.messages(chunks)))

    def test_failures(self):
        for text, kind in (
                ('manifest for x:y not found: manifest unknown', exception.ImageNotFound),
                ('pull access denied for x, repository does not exist or may require '
                 "'docker login'", exception.ImageNotFound),
                ('Get "https://r/v2/": no basic auth credentials', exception.ImageNotFound),
                ('unauthorized: incorrect username or password', exception.ImageNotFound),
                ('toomanyrequests: You have reached your pull rate limit', exception.DockerError),
                ('dial tcp 127.0.0.1:1: connect: connection refused', exception.DockerError),
                ('filesystem layer verification failed for digest', exception.DockerError)):
            found = images._failure('x:y', text)
            self.assertIs(kind, type(found), text)
            self.assertIn('x:y', found.message)
            self.assertIn(text, found.message)
