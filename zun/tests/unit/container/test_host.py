# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json

from zun.container.docker import host
from zun.tests import base
from zun.tests import vectors

MOUNTS = """/dev/vda / ext4 rw 0 0
/dev/vdb /var/lib xfs rw,noquota 0 0
/dev/vdc /var/lib/docker xfs rw,relatime,{option} 0 0
/dev/vdd /var/lib/dockers xfs rw,noquota 0 0
"""


class TestDescribe(base.TestCase):
    def test_recorded(self):
        """A label is split once: before, ``c=d=e`` lost its end, and ``bad`` broke the report."""
        argued = {'["a=b", "c=d=e"]': {'a': 'b', 'c': 'd=e'}, '["bad"]': {'bad': ''}}
        for vector in vectors.recorded('docker_host_info'):
            info = vector['args']['info']
            found = dataclasses.asdict(host.describe(info))
            expected = vector.get('result') or {'cpus': 4, 'runtimes': ['runc', 'kata']}
            expected = {**expected, 'labels': argued.get(json.dumps(info['Labels']), {})}
            expected.pop('docker_root_dir', None)
            expected['runtimes'] = tuple(expected['runtimes'])
            self.assertEqual(expected, {key: found[key] for key in expected})

    def test_runtimes_of_ours_are_not_shown(self):
        info = {**vectors.recorded('docker_host_info')[0]['args']['info'],
                'Runtimes': {'runc': {}, 'zun-runc': {}}, 'MemTotal': 5 << 20}
        found = host.describe(info)
        self.assertEqual((('runc',), 5), (found.runtimes, found.memory))


class TestLimits(base.TestCase):
    def test_limits(self):
        self.assertEqual(host.Limits(cpus=2, disk_quota=False, cgroup2=True),
                         host.limits({'NCPU': 2, 'CgroupVersion': '2', 'Driver': 'overlay2'}))
        self.assertFalse(host.limits({'NCPU': 2, 'CgroupVersion': '1'}).cgroup2)


class TestQuota(base.TestCase):
    def supported(self, driver, backing='xfs', option='prjquota', root='/var/lib/docker'):
        return host.quota_supported(
            {'Driver': driver, 'DriverStatus': [['Backing Filesystem', backing], ['x', 'y']],
             'DockerRootDir': root}, MOUNTS.format(option=option))

    def test_drivers(self):
        for driver, expected in (('btrfs', True), ('zfs', True), ('windowsfilter', True),
                                 ('devicemapper', True), ('overlay2', True), ('vfs', False),
                                 ('overlayfs', False), ('overlay', False)):
            self.assertEqual(expected, self.supported(driver), driver)

    def test_snapshotters_of_containerd_take_a_size_and_ignore_it(self):
        for driver in ('btrfs', 'zfs', 'overlay2', 'overlayfs'):
            self.assertFalse(host.quota_supported(
                {'Driver': driver, 'DockerRootDir': '/var/lib/docker', 'DriverStatus': [
                    ['driver-type', 'io.containerd.snapshotter.v1'],
                    ['Backing Filesystem', 'xfs']]}, MOUNTS.format(option='prjquota')), driver)

    def test_overlay2_needs_project_quotas_where_its_data_lies(self):
        for values, expected in (
                ({'option': 'pquota'}, True), ({'option': 'noquota'}, False),
                ({'backing': 'extfs'}, False), ({'root': '/var/lib/docker/sub'}, True),
                ({'root': '/var/lib/other'}, False), ({'root': '/var/lib/dockers'}, False),
                ({'root': '/srv'}, False)):
            self.assertEqual(expected, self.supported('overlay2', **values), values)

    def test_disk_of_another_machine(self):
        self.assertFalse(host.quota_supported(
            {'Driver': 'overlay2', 'DriverStatus': [['Backing Filesystem', 'xfs']],
             'DockerRootDir': '/var/lib/docker'}, ''))
        self.assertFalse(host.quota_supported({}, ''))
