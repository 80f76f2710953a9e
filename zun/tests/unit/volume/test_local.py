# SPDX-License-Identifier: Apache-2.0

import base64
import os
import stat
import types

import fixtures
from oslo_utils import uuidutils

from zun.common import context as zun_context
from zun.common import exception
from zun.tests import base
from zun.volume import local


def _mapping(data=b'hello\n', contents=None):
    if contents is None:
        contents = base64.b64encode(data).decode()
    return types.SimpleNamespace(
        volume=types.SimpleNamespace(uuid=uuidutils.generate_uuid()), contents=contents,
        container_path='/etc/motd')


class LocalDriverTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.base = os.path.join(self.useFixture(fixtures.TempDir()).path, 'state', 'mnt')
        self.config('volume', volume_dir=self.base, max_injected_file_size=64)
        self.context = zun_context.get_admin_context()
        self.driver = local.LocalDriver()

    def _attach(self, mapping):
        return self.driver.attach(self.context, mapping)

    def _directory(self, mapping):
        return os.path.join(self.base, mapping.volume.uuid)

    def _mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def _read(self, path):
        with open(path, 'rb') as stream:
            return stream.read()

    def test_attach_writes_the_file(self):
        data = bytes(range(64))
        mapping = _mapping(data)
        mount = self._attach(mapping)
        self.assertEqual('/etc/motd', mount.destination)
        self.assertFalse(mount.read_only)
        self.assertEqual(data, self._read(mount.source))
        self.assertEqual(os.path.dirname(mount.source), self._directory(mapping))
        self.assertEqual(0o644, self._mode(mount.source))
        self.assertEqual(0o700, self._mode(self._directory(mapping)))
        self.assertEqual([mapping.volume.uuid], os.listdir(self._directory(mapping)))

    def test_mode_does_not_depend_on_umask(self):
        self.addCleanup(os.umask, os.umask(0o077))
        self.assertEqual(0o644, self._mode(self._attach(_mapping()).source))

    def test_attach_again_keeps_what_the_container_wrote(self):
        mapping = _mapping()
        source = self._attach(mapping).source
        with open(source, 'wb') as stream:
            stream.write(b'changed inside')
        before = os.stat(source).st_ino
        self.assertEqual(source, self._attach(mapping).source)
        self.assertEqual(b'changed inside', self._read(source))
        self.assertEqual(before, os.stat(source).st_ino)

    def test_attach_after_a_crash_in_the_middle(self):
        mapping = _mapping()
        os.makedirs(self._directory(mapping))
        with open(os.path.join(self._directory(mapping), mapping.volume.uuid + '.part'),
                  'wb') as stream:
            stream.write(b'hel')
        self.assertEqual(b'hello\n', self._read(self._attach(mapping).source))
        self.assertEqual([mapping.volume.uuid], os.listdir(self._directory(mapping)))

    def test_empty_file(self):
        self.assertEqual(b'', self._read(self._attach(_mapping(b'')).source))

    def test_bad_base64(self):
        for contents in ('no base64!', 'YQ', 'YQ==\n', 'ä'):
            mapping = _mapping(contents=contents)
            self.assertRaises(exception.Base64Exception, self._attach, mapping)
            self.assertFalse(os.path.exists(
                os.path.join(self._directory(mapping), mapping.volume.uuid)))

    def test_too_large(self):
        self.assertRaises(exception.RequestTooLarge, self._attach, _mapping(b'x' * 65))

    def _victim(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'victim')
        with open(path, 'wb') as stream:
            stream.write(b'precious')
        return path

    def test_link_in_place_of_the_file_is_replaced(self):
        victim, mapping = self._victim(), _mapping()
        for name in (mapping.volume.uuid, mapping.volume.uuid + '.part'):
            os.makedirs(self._directory(mapping), exist_ok=True)
            os.symlink(victim, os.path.join(self._directory(mapping), name))
        source = self._attach(mapping).source
        self.assertFalse(os.path.islink(source))
        self.assertEqual(b'hello\n', self._read(source))
        self.assertEqual(b'precious', self._read(victim))

    def test_link_in_place_of_the_directory_is_refused(self):
        victim, mapping = self._victim(), _mapping()
        os.makedirs(self.base)
        os.symlink(os.path.dirname(victim), self._directory(mapping))
        self.assertRaises(exception.MountException, self._attach, mapping)
        self.assertEqual(['victim'], os.listdir(os.path.dirname(victim)))

    def test_detach_leaves_nothing(self):
        mapping = _mapping()
        self._attach(mapping)
        self.driver.detach(self.context, mapping)
        self.assertEqual([], os.listdir(self.base))

    def test_detach_again_or_without_attach(self):
        mapping = _mapping()
        self.driver.detach(self.context, mapping)
        self._attach(mapping)
        self.driver.detach(self.context, mapping)
        self.driver.detach(self.context, mapping)
        self.assertEqual([], os.listdir(self.base))

    def test_detach_does_not_follow_links(self):
        victim, mapping = self._victim(), _mapping()
        os.makedirs(self.base)
        os.rename(victim, os.path.join(os.path.dirname(victim), mapping.volume.uuid))
        os.symlink(os.path.dirname(victim), self._directory(mapping))
        self.driver.detach(self.context, mapping)
        self.assertEqual([mapping.volume.uuid], os.listdir(os.path.dirname(victim)))
        self.assertEqual([], os.listdir(self.base))

    def test_detach_says_what_is_in_the_way(self):
        mapping = _mapping()
        self._attach(mapping)
        with open(os.path.join(self._directory(mapping), 'foreign'), 'wb'):
            pass
        error = self.assertRaises(exception.UnmountException, self.driver.detach,
                                  self.context, mapping)
        self.assertIn('not empty', str(error))
