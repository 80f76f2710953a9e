# SPDX-License-Identifier: Apache-2.0
import io
import json
import pathlib
import tarfile
import tracemalloc

import fixtures

from zun.common import exception
from zun.image import tarball
from zun.tests import base

HEX = 'c' * 64
OLD = {'manifest.json': [{'Config': f'{HEX}.json', 'RepoTags': ['nginx:latest', 'reg:5000/x:1'],
                          'Layers': ['1/layer.tar']}],
       'repositories': {'nginx': {'latest': HEX}}, f'{HEX}.json': {'os': 'linux'},
       '1/layer.tar': 'x' * 70000}
OCI = {'manifest.json': [{'Config': f'blobs/sha256/{HEX}', 'RepoTags': ['nginx:latest'],
                          'Layers': ['blobs/sha256/1']}],
       'index.json': {'manifests': [{'digest': 'sha256:1', 'annotations': {
           'io.containerd.image.name': 'docker.io/library/nginx:latest',
           'org.opencontainers.image.ref.name': 'latest', 'own': 'kept'}}]},
       f'blobs/sha256/{HEX}': {'os': 'linux'}, 'blobs/sha256/1': 'layer'}


def _bytes(content):
    return content.encode() if isinstance(content, str) else json.dumps(content).encode()


class NamelessTest(base.TestCase):
    def _file(self, members, mode='w', links=()):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'image.tar'
        with tarfile.open(path, mode) as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(_bytes(content))
                archive.addfile(info, io.BytesIO(_bytes(content)))
            for name, target in links:
                info = tarfile.TarInfo(name)
                info.type, info.linkname = tarfile.SYMTYPE, target
                archive.addfile(info)
        return path

    def _result(self, path, limit=0):
        data = b''.join(tarball.nameless(str(path), limit))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return {member.name: archive.extractfile(member).read() if member.isreg()
                    else member.linkname for member in archive}

    def test_names_are_gone(self):
        found = self._result(self._file(OLD, links=[('2/layer.tar', '../1/layer.tar')]))
        manifest = json.loads(found.pop('manifest.json'))
        self.assertEqual([{**OLD['manifest.json'][0], 'RepoTags': None}], manifest)
        self.assertEqual('../1/layer.tar', found.pop('2/layer.tar'))
        self.assertEqual({name: _bytes(OLD[name]) for name in (f'{HEX}.json', '1/layer.tar')},
                         found)

    def test_layout_of_newer_engines(self):
        found = self._result(self._file(OCI))
        self.assertIsNone(json.loads(found['manifest.json'])[0]['RepoTags'])
        self.assertEqual({'own': 'kept'},
                         json.loads(found['index.json'])['manifests'][0]['annotations'])
        self.assertNotIn(b'nginx', b''.join(found.values()))

    def test_chunks_are_small(self):
        chunks = tarball.nameless(str(self._file({**OLD, 'big': 'y' * 1000000})), 0)
        self.assertLessEqual(max(map(len, chunks)), 1 << 16)

    def test_size(self):
        self._result(self._file(OLD), 80000)
        error = self.assertRaises(exception.RequestTooLarge, self._result, self._file(OLD), 70000)
        self.assertIn('70000', error.message)

    def test_what_has_no_place_there(self):
        two = {**OLD, 'manifest.json': OLD['manifest.json'] * 2}
        for members in ({**OLD, '/etc/passwd': ''}, {**OLD, 'a/../../b': ''}, two,
                        {**OLD, 'manifest.json': []}, {**OLD, 'manifest.json': {'a': 1}},
                        {**OLD, 'manifest.json': 'no json'}, {'layer.tar': 'x'}):
            self.assertRaises(exception.Invalid, self._result, self._file(members))

    def test_bombs(self):
        """What is small and becomes large is refused before it is in memory, or read at all."""
        many = self._file({**OLD, **{f'{number}': '' for number in range(3000)}}, 'w:gz')
        with tarfile.open(large := many.with_name('large'), 'w:gz', compresslevel=1) as archive:
            archive.addfile(info := tarfile.TarInfo('zeros'))
            info.size = 1 << 40
            archive.addfile(info)
        with tarfile.open(header := many.with_name('header'), 'w:gz', compresslevel=1) as archive:
            info = tarfile.TarInfo('x')
            info.pax_headers = {'comment': 'y' * (32 << 20)}
            archive.addfile(info)
        nested = self._file({**OLD, 'manifest.json': '[' * 100000})
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for path, kind, word in ((many, exception.Invalid, 'too many files'),
                                 (large, exception.RequestTooLarge, '1000000'),
                                 (header, exception.Invalid, 'header'),
                                 (nested, exception.Invalid, 'damaged')):
            error = self.assertRaises(kind, self._result, path, 1000000)
            self.assertIn(word, error.message)
        self.assertLess(tracemalloc.get_traced_memory()[1], 16 << 20)

    def test_ways_of_compression(self):
        for mode in ('w', 'w:gz', 'w:bz2'):
            self.assertIn(b'linux', self._result(self._file(OLD, mode))[f'{HEX}.json'])
        error = self.assertRaises(exception.Invalid, self._result, self._file(OLD, 'w:xz'))
        self.assertIn('xz', error.message)

    def test_damaged(self):
        path = self._file(OLD)
        path.write_bytes(path.read_bytes()[:70000])
        self.assertRaises(exception.Invalid, self._result, path)
        path.write_bytes(b'no tar at all')
        self.assertRaises(exception.Invalid, self._result, path)
