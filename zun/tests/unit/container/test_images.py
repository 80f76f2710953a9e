# SPDX-License-Identifier: Apache-2.0
import doctest

from zun.container.docker import images
from zun.container.docker import layers
from zun.tests import base


def load_tests(_loader, tests, _pattern):
    tests.addTests(doctest.DocTestSuite(layers))
    tests.addTests(doctest.DocTestSuite(images))
    return tests


class LayersTest(base.TestCase):
    def told(self, *messages):
        found = layers.Layers()
        for ident, status, *sizes in messages:
            found.feed({'id': ident, 'status': status, 'progressDetail': dict(
                zip(('current', 'total'), sizes, strict=False))})
        return str(found)

    def test_table(self):
        big = 3 * 10 ** 11
        table = (
            ([], 'pulling 0/0'),
            ([('latest', 'Pulling from a/b'), (None, 'Digest: sha256:1')], 'pulling 0/0'),
            ([('a', 'Pulling fs layer'), ('b', 'Already exists'), ('c', 'Waiting')],
             'pulling 1/3'),
            ([('a', 'Downloading', 1500000, 7000000), ('b', 'Waiting')], 'pulling 0/2, 1/7 MB'),
            ([('a', 'Downloading', 1500000, 7000000), ('a', 'Verifying Checksum'),
              ('a', 'Download complete'), ('a', 'Extracting', 10, 7000000)],
             'pulling 0/1, 7/7 MB'),
            ([('a', 'Downloading', 5, 7000000), ('a', 'Download complete'),
              ('a', 'Pull complete'), ('b', 'Download complete')], 'pulling 1/2, 7/7 MB'),
            ([(str(n), 'Downloading', big, big) for n in range(127)],
             'pulling 0/127, 38100000/38100000 MB'))
        for messages, text in table:
            self.assertEqual(text, self.told(*messages))
            self.assertLessEqual(len(text), 50)


class PlatformTest(base.TestCase):
    def test_runs(self):
        amd, arm = ('linux', 'amd64'), ('linux', 'arm64')
        for host, image, expected in (
                (amd, amd, True), (amd, arm, False), (arm, amd, False),
                (amd, ('linux', '386'), True),
                (arm, ('linux', 'arm'), True), (arm, ('linux', '386'), False),
                (amd, ('windows', 'amd64'), False), (amd, ('', ''), True), (('', ''), arm, True),
                (amd, ('linux', ''), True), (('linux', 's390x'), amd, False)):
            self.assertIs(expected, images.runs(host, image), (host, image))

    def test_registry_without_the_platform(self):
        error = images._failure('a:1', 'no matching manifest for linux/amd64 in the manifest '
                                       'list entries')
        self.assertEqual((400, 'Image a:1 is for other platforms: no matching manifest for '
                               'linux/amd64 in the manifest list entries'),
                         (error.code, error.message))
