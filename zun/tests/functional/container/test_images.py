# SPDX-License-Identifier: Apache-2.0
"""Images of a real engine, from a registry in this process."""

import contextlib
import time

from docker import errors as docker_errors
from oslo_utils import uuidutils

from zun.common import exception
from zun.tests.functional import engine
from zun.tests.functional import registry
from zun.tests.functional.container import base


class TestPull(base.DriverTestCase):
    def setUp(self):
        super().setUp()
        self.registry = self.useFixture(registry.Registry())
        self.addCleanup(self._forget, f'{self.registry.domain}/good:latest')
        self.addCleanup(self._forget, f"{self.registry.domain}/good@"
                                      f"{self.registry.digest('good')}")

    def _forget(self, reference):
        with contextlib.suppress(docker_errors.NotFound):
            self.engine.api.remove_image(reference, force=True)

    def pull(self, name, tag='latest', **login):
        return self.driver.pull_image(f'{self.registry.domain}/{name}', tag, **login)

    def test_by_tag(self):
        reference = f'{self.registry.domain}/good:latest'
        self.assertIsNone(self.driver.find_image(reference))
        found = self.pull('good')
        self.assertEqual(self.engine.api.inspect_image(reference)['Id'], found)
        self.assertEqual(found, self.driver.find_image(reference))
        self.assertEqual(found, self.driver.find_image(found))
        info = self.driver.image_info(reference)
        self.assertEqual(found, info['image_id'])
        self.assertGreater(info['size'], 100000)
        self.assertEqual(found, self.pull('good'))

    def test_by_digest(self):
        digest = self.registry.digest('good')
        found = self.pull('good', digest)
        self.assertEqual(found, self.driver.find_image(f'{self.registry.domain}/good@{digest}'))

    def test_behind_a_password(self):
        name = f'{self.useFixture(registry.Registry(locked=True)).domain}/good'
        self.addCleanup(self._forget, f'{name}:latest')
        for login in ((), (registry.USER, 'wrong')):
            error = self.assertRaises(exception.ImageNotFound, self.driver.pull_image, name,
                                      'latest', *login)
            self.assertIn(f'{name}:latest', error.message)
            self.assertRegex(error.message, 'unauthorized|no basic auth')
        self.driver.pull_image(name, 'latest', registry.USER, registry.PASSWORD)

    def test_no_such_image(self):
        for name, tag in (('nothing', 'latest'), ('good', 'nothing')):
            error = self.assertRaises(exception.ImageNotFound, self.pull, name, tag)
            self.assertIn(f'{self.registry.domain}/{name}:{tag}', error.message)

    def test_layer_that_is_corrupt(self):
        """The engine says so in the middle of an answer that began with 200."""
        error = self.assertRaises(exception.DockerError, self.pull, 'corrupt')
        self.assertIn('/corrupt:latest', error.message)
        self.assertNotIsInstance(error, exception.EngineUnavailable)

    def test_layer_that_never_comes(self):
        self.config(group='docker', pull_idle_timeout=1)
        begun = time.monotonic()
        self.assertRaises(exception.EngineUnavailable, self.pull, 'stalled')
        self.assertLess(time.monotonic() - begun, 10)

    def test_too_many_requests(self):
        error = self.assertRaises(exception.DockerError, self.pull, 'limited')
        self.assertIn('toomanyrequests', error.message)

    def test_no_registry(self):
        error = self.assertRaises(exception.DockerError, self.driver.pull_image,
                                  '127.0.0.1:1/x', 'latest')
        self.assertIn('connection refused', error.message)

    def test_search_of_what_cannot_be_searched(self):
        self.assertRaises(exception.OperationNotSupported, self.driver.search_images,
                          f'{self.registry.domain}/good')


class TestImages(base.DriverTestCase):
    def test_not_there(self):
        self.assertIsNone(self.driver.find_image('zun-test/nothing:latest'))
        self.assertRaises(exception.ImageNotFound, self.driver.image_info,
                          'zun-test/nothing:latest')
        self.driver.remove_image('zun-test/nothing:latest')

    def test_remove(self):
        name = f'zun-test/{uuidutils.generate_uuid(dashed=False)}'
        self.engine.api.tag(engine.IMAGE, name, 'one')
        self.driver.remove_image(f'{name}:one')
        self.assertIsNone(self.driver.find_image(f'{name}:one'))
        self.assertIsNotNone(self.driver.find_image(engine.IMAGE))

    def test_remove_of_what_a_container_uses(self):
        self.create(image=self.engine.image(engine.RICH_IMAGE))
        self.assertRaises(exception.Conflict, self.driver.remove_image, engine.RICH_IMAGE)
