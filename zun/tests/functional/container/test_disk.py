# SPDX-License-Identifier: Apache-2.0
"""Disk limits on engines whose storage can enforce them."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import fixtures

from zun.tests.functional import private_engine
from zun.tests.functional.container import base

_SIZE = 4 << 30  # of a sparse file


class DiskTest(base.DriverTestCase):
    """Btrfs limits a container wherever it is."""

    kind, storage, options = 'btrfs', 'btrfs', 'loop'

    def setUp(self):
        if os.geteuid() != 0 or not shutil.which(f'mkfs.{self.kind}'):
            self.skipTest(f'it takes root and mkfs.{self.kind}')
        engine = self.useFixture(private_engine.PrivateEngine(
            '--data-root', f'{self.mounted()}/data', '--storage-driver', self.storage))
        self.useFixture(fixtures.MonkeyPatch('zun.tests.functional.engine.URL', engine.url))
        super().setUp()

    def mounted(self):
        """A file system of its own."""
        root = pathlib.Path(tempfile.mkdtemp(prefix='zun-disk-', dir='/var/tmp'))
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        disk, path = root / 'disk', root / 'mounted'
        path.mkdir()
        with open(disk, 'wb') as file:
            file.truncate(_SIZE)
        subprocess.run([f'mkfs.{self.kind}', '-q', disk], check=True, timeout=60)
        done = subprocess.run(['mount', '-o', self.options, disk, path], check=False,
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            self.skipTest(f'this kernel cannot: {done.stderr}')
        self.addCleanup(subprocess.run, ['umount', '--lazy', path], check=True, timeout=60)
        return path

    def test_the_process_meets_its_limit(self):
        self.assertTrue(self.driver.host_info().disk_quota_supported)
        names = [name for item in self.engine.api.containers(all=True) for name in item['Names']]
        self.assertEqual([], names)
        limited, free = self.create(disk=1), self.create(disk=0)
        for container, size, fits in ((limited, '700M', True), (limited, '1100M', False),
                                      (free, '1100M', True)):
            self.driver.start(container)
            output, code = self.driver.execute(container, f'fallocate -l {size} /sauce')
            self.assertEqual(fits, code == 0, output)


class ProjectQuotaTest(DiskTest):
    """Overlay2 does on XFS with project quotas."""

    kind, storage, options = 'xfs', 'overlay2', 'loop,prjquota'
