# SPDX-License-Identifier: Apache-2.0

from zun import objects
from zun.api import microversions
from zun.api.views import images
from zun.tests import base

UUID = '16000000-0000-4000-8000-000000000001'


class ViewTest(base.TestCase):
    def test_status_shows_from_1_42_on(self):
        image = objects.Image(uuid=UUID, image_id=None, repo='nginx', tag='latest', size=None,
                              project_id='p', host='node', status='Error',
                              status_reason='Pull failed: the disk is full')
        old = images.show(image, 'http://x', microversions.Version(1, 41))
        self.assertEqual({'uuid', 'image_id', 'repo', 'tag', 'size', 'project_id', 'host',
                          'links'}, old.keys())
        new = images.show(image, 'http://x', microversions.Version(1, 42))
        self.assertEqual({**old, 'status': 'Error',
                          'status_reason': 'Pull failed: the disk is full'}, new)
