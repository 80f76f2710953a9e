# SPDX-License-Identifier: Apache-2.0
"""Large answers go over the bus in parts, and through the memory of a node in parts."""

import os
import subprocess
import sys

import fixtures

from zun.common import exception
from zun.compute import manager
from zun.compute import parcels as node_parcels
from zun.rpc import compute as rpc_compute
from zun.rpc import parcels
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

MIB = 1 << 20


class _Bus(rpc_compute.Client):
    """Calls the manager of this process.

    :ivar longest: characters of the longest text in a message
    """

    def __init__(self, node_manager):
        self._manager, self.longest, self.calls = node_manager, 0, []

    def _call(self, context, host, method, _extra_time=0, **args):
        answer = getattr(self._manager, method)(context, **args)
        self.calls.append(method)
        texts = [*args.values(), answer, *(answer.values() if isinstance(answer, dict) else ())]
        self.longest = max(self.longest, *(len(text) for text in texts if isinstance(text, str)))
        return answer


class PartsTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.container = self.created()
        self.bus = _Bus(manager.Manager(self.node))
        self.uuid = self.container.uuid

    def put(self, data):
        self.bus.container_put_archive(self.context, base.HOST, self.uuid, '/x',
                                       [parcels.encoded(data)])

    def get(self):
        return b''.join(map(parcels.decoded, self.bus.container_get_archive(
            self.context, base.HOST, self.uuid, '/x')['data']))

    def test_small_ones_are_one_message(self):
        for data in (b'', b'x', bytes(range(256)) * 1024, os.urandom(parcels.PART)):
            self.bus.calls.clear()
            self.put(data)
            self.assertEqual(data, self.get())
            self.assertEqual(['container_put_archive', 'container_get_archive'], self.bus.calls)

    def test_large_ones_are_several(self):
        data = os.urandom(16 * MIB - 1)
        self.put(data)
        self.assertEqual(data, self.get())
        self.assertEqual(21, self.bus.calls.count('parcel_put'))
        self.assertEqual(21, self.bus.calls.count('parcel_get'))
        self.assertEqual(MIB, self.bus.longest)
        self.assertEqual({}, self.node.parcels._held)

    def test_limit(self):
        for size in (16 * MIB + 1, 30 * MIB):
            error = self.assertRaises(exception.RequestTooLarge, self.put, bytes(size))
            self.assertEqual((413, f'The archive is larger than the limit of {16 * MIB} bytes.'),
                             (error.code, error.message))
        self.put(bytes(16 * MIB))
        self.assertEqual({}, self.node.parcels._held)

    def test_no_base64(self):
        for text in ('#', 'YWJ', 'A' * parcels.PART_TEXT + '#'):
            self.assertRaises(exception.Base64Exception, self.bus.container_put_archive,
                              self.context, base.HOST, self.uuid, '/x', [text])

    def test_logs(self):
        text = 'zwölf Boxkämpfer \U0001f94a jagen\n' * 200000
        self.engine.write(self.uuid, text)
        self.assertEqual(text, ''.join(self.bus.container_logs(
            self.context, base.HOST, self.uuid, True, True, False, None, None)))
        self.assertLessEqual(self.bus.longest, MIB)
        self.assertEqual('jagen\n', self.bus.container_logs(
            self.context, base.HOST, self.uuid, True, True, False, 1, None)[-6:])

    def test_output_of_a_command(self):
        text = '\x01\ufffd\U0001f94a' * 100000
        self.useFixture(fixtures.MonkeyPatch('zun.container.fake.FakeDriver.execute',
                                             lambda *_args: (text, 3)))
        answer = self.bus.container_exec(self.context, base.HOST, self.uuid, 'x', True, False)
        self.assertEqual((text, 3), (answer['output'], answer['exit_code']))
        self.assertLessEqual(self.bus.longest, MIB)
        self.assertEqual({}, self.node.parcels._held)

    def test_token_of_another_container(self):
        token = self.node.parcels.receive(self.uuid, None, 'YWJj', 10)
        self.assertRaises(exception.NotFound, self.node.parcels.take, 'other', token)
        self.assertEqual(3, self.node.parcels.take(self.uuid, token).tell())
        self.assertRaises(exception.NotFound, self.node.parcels.take, self.uuid, token)

    def test_too_long_between_two_parts(self):
        self.useFixture(base.Quick(node_parcels, '_PATIENCE', -1.0))
        token = self.node.parcels.receive(self.uuid, None, 'YWJj', 10)
        self.assertRaises(exception.NotFound, self.node.parcels.take, self.uuid, token)

    def test_only_so_many_wait(self):
        self.config(group='compute', stream_workers=2)
        for _ in range(2):
            self.node.parcels.receive(self.uuid, None, 'YWJj', 10)
        self.assertRaises(exception.PoolFull, self.node.parcels.receive, self.uuid, None,
                          'YWJj', 10)


class MemoryTest(base.NodeTestCase):
    driver = 'docker'

    def test_a_file_is_never_whole_in_memory(self):
        container = self.created(networks=[], memory='128')
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'zun.tests.functional.compute.transfer',
             container.uuid, '16'], capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, 'ZUN_TEST_ENGINE': real.URL})
        self.assertEqual(0, done.returncode, done.stderr)
        grown, size = map(int, done.stdout.split())
        self.assertGreater(size, 16 * MIB)
        self.assertLess(grown, 12 * 1024, f'16 MiB both ways took {grown} KiB')
