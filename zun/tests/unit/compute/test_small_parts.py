# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import sys
import threading

import fixtures

from zun.common import exception
from zun.common import failpoints
from zun.compute import heal
from zun.compute import numa
from zun.compute import resources
from zun.compute import timer
from zun.compute import undo
from zun.compute.tasks import create
from zun.container import driver
from zun.db import claims
from zun.placement import ledger
from zun.tests import base


class UndoTest(base.TestCase):
    def test_newest_first_and_all_of_them(self):
        done = []

        def fails():
            raise exception.Conflict('no')

        steps = undo.Undo('uuid')
        steps.push('first', done.append, 1)
        steps.push('second', fails)
        steps.push('third', done.append, 3)
        self.assertEqual(['second'], steps.run())
        self.assertEqual([3, 1], done)
        self.assertEqual([], steps.run())


class BlameTest(base.TestCase):
    def test_table(self):
        for error, blamed in [
                (exception.ResourcesUnavailable(reason='memory'), True),
                (exception.EngineUnavailable(error_msg='refused'), True),
                (exception.EngineGone(container='x'), True),
                (exception.DockerError(error_msg='pull: the registry cannot be reached'), True),
                (exception.MountException(error='no space'), True),
                (exception.OperationNotSupported(driver='Image driver glance', method='x'), True),
                (exception.PoolFull(pool='image-pull'), True),
                (exception.ImageNotFound(image='nope'), False),
                (exception.Invalid('bad parameter'), False),
                (exception.NetworkNotFound(network='n'), False),
                (exception.Conflict('address taken'), False),
                (KeyError('a bug'), False)]:
            with self.subTest(error=error):
                self.assertIs(blamed, create.host_is_to_blame(error))


class LackingTest(base.TestCase):
    def test_table(self):
        room = claims.Amounts(4, 1024, 10)
        for used, wanted, lacks in [
                (claims.Amounts(), claims.Amounts(4, 1024, 10), None),
                (claims.Amounts(3.9, 0, 0), claims.Amounts(0.1, 0, 0), None),
                (claims.Amounts(3.95, 0, 0), claims.Amounts(0.1, 0, 0), 'cpu'),
                (claims.Amounts(0, 1000, 0), claims.Amounts(0, 25, 0), 'memory'),
                (claims.Amounts(0, 0, 9), claims.Amounts(0, 0, 2), 'disk'),
                (claims.Amounts(9, 9999, 99), claims.Amounts(), None)]:
            with self.subTest(used=used, wanted=wanted):
                found = claims.lacking(room, used, wanted)
                self.assertEqual(lacks, found and found.partition(':')[0])

    def test_without_a_limit_all_fits(self):
        self.assertIsNone(claims.lacking(
            claims.UNLIMITED, claims.Amounts(1e6, 1e9, 1e6), claims.Amounts(1, 1, 1)))


class InventoriesTest(base.TestCase):
    info = driver.HostInfo('h', 8, 16000, 100, 0, 0, 0, 0, 'x86_64', 'linux', 'os', 'k', {},
                           ('runc',), True)

    def test_reserve_and_ratio(self):
        self.config(group='compute', reserved_host_cpus=1, cpu_allocation_ratio=2.0,
                    reserved_host_disk_mb=1500)
        offered = resources.inventories(self.info)
        self.assertEqual(ledger.Inventory(8, 1, 2.0), offered[ledger.VCPU])
        self.assertEqual(ledger.Inventory(16000, 512, 1.5), offered[ledger.MEMORY_MB])
        self.assertEqual(ledger.Inventory(80, 2, 1.0), offered[ledger.DISK_GB])
        self.assertEqual(claims.Amounts(14.0, 23232.0, 78.0), resources.offer(self.info).room)

    def test_a_small_host_keeps_nothing_negative(self):
        self.config(group='compute', reserved_host_memory_mb=20000)
        self.assertEqual(0, resources.offer(self.info).room.memory)

    def test_available_memory(self):
        self.assertEqual(2, resources.available_memory(
            'MemTotal: 4096 kB\nMemAvailable:   2050 kB\n'))
        self.assertEqual(0, resources.available_memory(''))


class NumaTest(base.TestCase):
    def test_sysfs(self):
        root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for number, cpus in ((0, '0-1,4'), (1, '2-3')):
            node = root / f'node{number}'
            node.mkdir()
            (node / 'cpulist').write_text(f'{cpus}\n')
            (node / 'meminfo').write_text(f'Node {number} MemTotal:  2097152 kB\n'
                                          f'Node {number} MemFree:   1048576 kB\n')
        (root / 'node2').mkdir()
        found = numa.topology(root)
        self.assertEqual([(0, {0, 1, 4}, 2048, 1024), (1, {2, 3}, 2048, 1024)],
                         [(n.id, n.cpuset, n.mem_total, n.mem_available) for n in found.nodes])

    def test_no_sysfs(self):
        self.assertEqual([], numa.topology(pathlib.Path('/nonexistent')).nodes)


class PauseTest(base.TestCase):
    def test_doubles_and_ends(self):
        self.assertEqual([10.0, 20.0, 40.0], [
            heal.pause([float(i) for i in range(n)], max(n - 1.0, 0.0), 5) for n in range(3)])
        self.assertIsNone(heal.pause([1.0] * 5, 100.0, 5))
        self.assertIsNone(heal.pause([], 0.0, 0))

    def test_forgets_after_an_hour(self):
        self.assertEqual(10.0, heal.pause([1.0] * 5, 4000.0, 5))

    def test_time_passed_counts(self):
        self.assertEqual(0.0, heal.pause([0.0], 100.0, 5))


class TimerTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.timer = timer.Timer()
        self.timer.start()
        self.addCleanup(self.timer.stop)

    def test_in_order_of_time(self):
        done, calls = threading.Event(), []
        self.timer.after(0.05, 'late', lambda: (calls.append('late'), done.set()))
        self.timer.after(0.0, 'soon', calls.append, 'soon')
        self.assertTrue(done.wait(5))
        self.assertEqual(['soon', 'late'], calls)
        self.assertFalse(self.timer.waits('late'))

    def test_one_of_a_key_waits(self):
        done, calls = threading.Event(), []
        self.timer.after(0.05, 'key', lambda: (calls.append(1), done.set()))
        self.timer.after(0.0, 'key', calls.append, 2)
        self.assertTrue(done.wait(5))
        self.assertEqual([1], calls)

    def test_an_error_does_not_end_it(self):
        done = threading.Event()
        self.timer.after(0.0, 'bad', lambda: 1 // 0)
        self.timer.after(0.02, 'good', done.set)
        self.assertTrue(done.wait(5))

    def test_stop_drops_what_waits(self):
        self.timer.after(60, 'key', lambda: None)
        self.timer.stop()
        self.assertFalse(self.timer.waits('key'))


class FailpointsTest(base.TestCase):
    def run_with(self, value):
        code = ('from zun.common import failpoints\n'
                'for _ in range(3): failpoints.hit("a.b"); print("passed", flush=True)')
        env = {**os.environ, failpoints.VARIABLE: value}
        return subprocess.run([sys.executable, '-c', code], env=env, capture_output=True,
                              text=True, check=False)

    def test_first_and_nth_pass(self):
        for value, passed in (('a.b', 0), ('a.b:3', 2)):
            with self.subTest(value=value):
                result = self.run_with(value)
                self.assertEqual((failpoints.EXIT_CODE, passed),
                                 (result.returncode, result.stdout.count('passed')))

    def test_another_point(self):
        self.assertEqual(0, self.run_with('a.c').returncode)
