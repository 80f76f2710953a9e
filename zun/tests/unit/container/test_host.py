# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import types

from zun.container.docker import disk
from zun.container.docker import errors
from zun.container.docker import host
from zun.tests import base
from zun.tests import vectors


class Engine:
    """Answers the create of a container with an error."""

    def __init__(self, status, message):
        self.refusal = errors.Refusal(status, message)
        self.removed = []

    def request(self, method, path, **kwargs):
        if path == '/images/create':
            return types.SimpleNamespace(text='{"status":"sha256:abc"}\n')
        raise self.refusal

    def remove(self, path):
        self.removed.append(path)


class TestDescribe(base.TestCase):
    def test_recorded(self):
        """A label is split once: before, ``c=d=e`` lost its end, and ``bad`` broke the report."""
        argued = {'["a=b", "c=d=e"]': {'a': 'b', 'c': 'd=e'}, '["bad"]': {'bad': ''}}
        for vector in vectors.recorded('docker_host_info'):
            info = vector['args']['info']
            found = dataclasses.asdict(host.describe(info, False))
            expected = vector.get('result') or {'cpus': 4, 'runtimes': ['runc', 'kata']}
            expected = {**expected, 'labels': argued.get(json.dumps(info['Labels']), {})}
            expected.pop('docker_root_dir', None)
            expected['runtimes'] = tuple(expected['runtimes'])
            self.assertEqual(expected, {key: found[key] for key in expected})

    def test_runtimes_of_ours_are_not_shown(self):
        info = {**vectors.recorded('docker_host_info')[0]['args']['info'],
                'Runtimes': {'runc': {}, 'zun-runc': {}}, 'MemTotal': 5 << 20}
        found = host.describe(info, False)
        self.assertEqual((('runc',), 5), (found.runtimes, found.memory))


class TestLimits(base.TestCase):
    def test_limits(self):
        self.assertEqual(host.Limits(cpus=2, disk_quota=True, cgroup2=True),
                         host.limits({'NCPU': 2, 'CgroupVersion': '2'}, True))
        self.assertFalse(host.limits({'NCPU': 2, 'CgroupVersion': '1'}, True).cgroup2)


class TestDisk(base.TestCase):
    def possible(self, driver, *status):
        return disk.is_possible({'Driver': driver, 'DriverStatus': [*status, ['x', 'y']]})

    def test_drivers(self):
        for driver, on_xfs, elsewhere in (
                ('btrfs', True, True), ('zfs', True, True), ('windowsfilter', True, True),
                ('devicemapper', True, True), ('overlay2', True, False), ('vfs', True, False)):
            self.assertEqual(
                (on_xfs, elsewhere),
                tuple(self.possible(driver, ['Backing Filesystem', kind])
                      for kind in ('xfs', 'extfs')), driver)
        self.assertFalse(disk.is_possible({}))

    def test_snapshotters_of_containerd_take_a_size_and_ignore_it(self):
        for driver in ('btrfs', 'zfs', 'overlay2', 'overlayfs'):
            self.assertFalse(self.possible(
                driver, ['driver-type', 'io.containerd.snapshotter.v1'],
                ['Backing Filesystem', 'xfs']), driver)

    def test_refusals(self):
        for status, message, expected in (
                (500, "--storage-opt is supported only for overlay over xfs with 'pquota' mount "
                      'option', False),
                (409, 'Conflict. The container name "/zun-disk-probe-x" is already in use by '
                      'container "y"', True)):
            engine = Engine(status, message)
            self.assertEqual(expected, disk.is_accepted(engine), message)
            self.assertEqual([f'/containers/zun-disk-probe-{self.CONF.host}?force=1',
                              '/images/sha256:abc'], engine.removed)

    def test_full_disk_says_nothing(self):
        engine = Engine(500, 'mkdir /var/lib/docker/x: no space left on device')
        self.assertRaises(errors.Refusal, disk.is_accepted, engine)
        self.assertEqual(2, len(engine.removed))
