# SPDX-License-Identifier: Apache-2.0
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import time

import fixtures

from zun.common import context as zun_context
from zun.common import exception
from zun.common import transfers
from zun.container.docker import driver as docker_driver
from zun.image import driver
from zun.image import glance as glance_driver
from zun.tests import base
from zun.tests.functional import engine
from zun.tests.functional import glance

VICTIM = 'zun-test/victim:latest'


def saved(names=(VICTIM,), text='one'):
    """A tar as ``docker save`` writes it, which claims names; no other process has the same."""
    layer = engine.tar({'text': text.encode(), 'process': str(os.getpid()).encode()})
    config = json.dumps({
        'architecture': 'amd64', 'os': 'linux', 'config': {'Cmd': ['/text']},
        'rootfs': {'type': 'layers',
                   'diff_ids': [f'sha256:{hashlib.sha256(layer).hexdigest()}']}}).encode()
    name = f'{hashlib.sha256(config).hexdigest()}.json'
    manifest = [{'Config': name, 'RepoTags': list(names), 'Layers': ['1/layer.tar']}]
    return engine.tar({name: config, '1/layer.tar': layer,
                       'manifest.json': json.dumps(manifest).encode(),
                       'repositories': b'{"zun-test/victim": {"latest": "x"}}'})


class GlanceTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.config('docker', api_url=engine.URL)
        self.config('glance', images_directory=self.directory)
        self.behind = self.useFixture(engine.Engine())
        self.glance = self.useFixture(glance.Glance())
        self.engine = docker_driver.DockerDriver()
        self.driver = glance_driver.GlanceImageDriver()
        self.context = zun_context.RequestContext(project_id='project', overwrite=False)
        self.addCleanup(self._forget)

    def _forget(self):
        for image in self.engine.list_images():
            for name in image.names:
                if name.startswith('zun-glance/') and name[11:47] in self.glance.images:
                    self.engine.remove_image(name)

    def plan(self, reference, policy='ifnotpresent', project='project'):
        return self.driver.plan(self.context, self.engine,
                                driver.Wanted(reference, policy, None, project))

    def fetch(self, *args, **kwargs):
        found = self.plan(*args, **kwargs)
        return found if isinstance(found, str) else found.work(transfers.Transfer())


class LoadTest(GlanceTestCase):
    def test_by_id(self):
        ident = self.glance.add(saved())
        found = self.fetch(ident)
        shown = self.behind.api.inspect_image(found)
        tag = self.glance.images[ident]['os_hash_value'][:12]
        self.assertEqual([f'zun-glance/{ident}:{tag}'], shown['RepoTags'])
        self.assertEqual(found, shown['Id'])
        self.assertEqual([], os.listdir(self.directory))

    def test_no_name_of_another_is_taken(self):
        self.behind.api.tag(self.behind.image_id, *VICTIM.split(':'))
        self.addCleanup(self.behind.api.remove_image, VICTIM)
        self.fetch(self.glance.add(saved()))
        self.assertEqual(self.behind.image_id, self.engine.find_image(VICTIM))

    def test_what_is_there_is_not_fetched_again(self):
        ident = self.glance.add(saved())
        found = self.fetch(ident)
        for policy in ('never', 'ifnotpresent', 'always'):
            self.assertEqual(found, self.plan(ident, policy))
        self.assertEqual(1, self.glance.downloads())
        self.assertRaises(exception.ImageNotFound, self.plan, self.glance.add(saved(text='2')),
                          'never')

    def test_by_name(self):
        ident = self.glance.add(saved(), name='My Image (1)')
        found = self.fetch('My Image (1)')
        self.assertEqual(found, self.fetch(ident))
        self.assertRaises(exception.ImageNotFound, self.plan, 'My Image')
        self.glance.add(saved(), name='My Image (1)')
        error = self.assertRaises(exception.Conflict, self.plan, 'My Image (1)')
        self.assertIn('Multiple images exist', error.message)

    def test_by_name_and_tag(self):
        self.glance.add(saved(), name='lab/app', tags=['v1'])
        second = self.glance.add(saved(text='two'), name='lab/app', tags=['v2'])
        self.assertEqual(self.fetch(second), self.fetch('lab/app:v2'))
        self.assertRaises(exception.ImageNotFound, self.plan, 'lab/app:v3')
        self.assertRaises(exception.Conflict, self.plan, 'lab/app')

    def test_only_what_can_be_used(self):
        for values in ({'container_format': 'bare'}, {'status': 'saving'}):
            ident = self.glance.add(saved(), name='x', **values)
            self.assertRaises(exception.ImageNotFound, self.plan, ident)
            self.assertRaises(exception.ImageNotFound, self.plan, 'x')

    def test_images_of_other_projects(self):
        ident = self.glance.add(saved(), owner='other')
        for visibility, seen in (('private', False), ('public', True), ('community', True),
                                 ('shared', False)):
            self.glance.images[ident]['visibility'] = visibility
            with self.subTest(visibility=visibility):
                if seen:
                    self.assertTrue(self.plan(ident))
                else:
                    self.assertRaises(exception.ImageNotFound, self.plan, ident)
        self.glance.members.add((ident, 'project'))
        self.assertTrue(self.plan(ident))
        self.glance.images[ident]['visibility'] = 'private'
        self.assertTrue(self.plan(ident, project=None))

    def test_equal_fetches_are_one(self):
        ident = self.glance.add(saved(), name='app')
        self.assertEqual(self.plan(ident).key, self.plan('app', 'always').key)
        self.assertNotEqual(self.plan(ident).key, self.plan(self.glance.add(saved())).key)

    def test_search(self):
        ident = self.glance.add(saved(), name='lab/app', tags=['v1'])
        self.glance.add(saved(), name='lab/app', owner='other')
        found = self.driver.search(self.context, self.engine, 'app', False)
        self.assertEqual([{'id': ident, 'name': 'lab/app', 'tags': ['v1'],
                           'size': len(self.glance.data[ident]), 'metadata': {}}], found)
        self.assertEqual([], self.driver.search(self.context, self.engine, 'app', True))
        for reference in ('lab/app', 'lab/app:v1', ident):
            self.assertEqual(found, self.driver.search(self.context, self.engine, reference, True))


class TroubleTest(GlanceTestCase):
    def assert_refused(self, kind, ident, text=''):
        error = self.assertRaises(kind, self.fetch, ident)
        self.assertIn(text, error.message)
        self.assertEqual([], os.listdir(self.directory))
        self.assertEqual([], [name for image in self.engine.list_images() for name in image.names
                              if ident in name])

    def test_checksum(self):
        ident = self.glance.add(saved())
        self.glance.data[ident] = saved(text='forged')
        self.assert_refused(exception.Invalid, ident, 'sha512')
        self.glance.images[ident].update(os_hash_algo=None, os_hash_value=None)
        self.assert_refused(exception.Invalid, ident, 'md5')
        self.glance.fill(ident, saved())
        self.glance.images[ident].update(os_hash_algo=None, os_hash_value=None)
        self.assertTrue(self.fetch(ident))

    def test_hash_without_md5(self):
        self.assertTrue(self.fetch(self.glance.add(saved(), checksum=None)))
        nothing = self.glance.add(saved(), checksum=None, os_hash_value=None)
        self.assertRaises(exception.Invalid, self.fetch, nothing)

    def test_transfer_that_breaks_off(self):
        ident = self.glance.add(saved())
        self.glance.cut = 5000
        self.assert_refused(exception.ZunException, ident, 'broke off')

    def test_too_large(self):
        self.useFixture(fixtures.MonkeyPatch('zun.image.glance_store._GIB', 500))
        self.config('glance', max_image_size=10)
        ident = self.glance.add(saved())
        self.assert_refused(exception.RequestTooLarge, ident, '5000')
        self.glance.images[ident]['size'] = None  # what Glance says is not what counts
        self.assert_refused(exception.RequestTooLarge, ident, '5000')

    def test_no_tar_of_an_image(self):
        for data in (b'nothing of the kind', engine.tar({'etc/passwd': b'x'}),
                     saved()[:4000] + bytes(3000)):
            self.assert_refused(exception.Invalid, self.glance.add(data))

    def test_layer_that_is_missing(self):
        stream = io.BytesIO(saved())
        with tarfile.open(fileobj=stream) as archive:
            kept = {member.name: archive.extractfile(member).read() for member in archive
                    if 'layer' not in member.name}
        self.assert_refused(exception.ZunException, self.glance.add(engine.tar(kept)))

    def test_service_that_fails(self):
        ident = self.glance.add(saved())
        self.glance.fault = lambda method, path: 503
        self.assertRaises(exception.ServiceUnavailable, self.plan, ident)
        error = self.assertRaises(exception.ServiceUnavailable, self.driver.search, self.context,
                                  self.engine, 'app', False)
        self.assertEqual((503, 'The image service answers 503.'), (error.code, error.message))
        self.glance.fault = lambda method, path: 500 if path.endswith('/file') else None
        self.assert_refused(exception.ZunException, ident, '500')

    def test_what_a_crash_left_is_removed(self):
        old, new = (os.path.join(self.directory, name) for name in ('a.part', 'b.part'))
        for path in (old, new):
            with open(path, 'w'):
                os.utime(path)
        os.utime(old, (time.time() - 4000,) * 2)
        self.fetch(self.glance.add(saved()))
        self.assertEqual(['b.part'], os.listdir(self.directory))


class MemoryTest(GlanceTestCase):
    def test_an_image_is_never_whole_in_memory(self):
        mib = 64
        small, large = self.glance.add(saved()), self.glance.add(
            saved(text=os.urandom(mib << 19).hex()))
        targets = [self.glance.record(), self.glance.record()]
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'zun.tests.functional.image.streamed',
             self.glance.url, small, targets[0], large, targets[1]],
            capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, 'ZUN_TEST_ENGINE': engine.URL})
        self.assertEqual(0, done.returncode, done.stderr)
        sent = self.glance.images[targets[1]]
        self.assertEqual('active', sent['status'])
        self.assertGreater(sent['size'], mib << 20)
        self.assertLess(int(done.stdout), 16 << 10, f'{mib} MiB in and out')
