# SPDX-License-Identifier: Apache-2.0

import threading
import types

import docker as docker_sdk
import fixtures

from zun import objects
from zun.common import context as zun_context
from zun.common import crypt
from zun.common import exception
from zun.common import transfers
from zun.container.docker import driver as docker_driver
from zun.image import docker
from zun.image import driver
from zun.tests import base
from zun.tests.functional import docker_registry
from zun.tests.functional import engine

LONG = 60
MISSING = 'lab/nothing:here'


class PullTestCase(base.TestCase):
    login = False

    def setUp(self):
        super().setUp()
        self.config('docker', api_url=engine.URL)
        self.behind = self.useFixture(engine.Engine())
        self.registry = self.useFixture(docker_registry.Registry(login=self.login))
        self.engine = docker_driver.DockerDriver()
        self.driver = docker.DockerImageDriver()
        self.context = zun_context.get_admin_context()

    def fetch(self, reference, policy=None, registry=None):
        found = self.driver.plan(self.context, self.engine,
                                 driver.Wanted(reference, policy, registry))
        return found if isinstance(found, str) else found.work(transfers.Transfer())

    def local(self, reference):
        try:
            return self.behind.api.inspect_image(reference)['Id']
        except docker_sdk.errors.ImageNotFound:
            return None


class OpenRegistryTest(PullTestCase):
    def test_pull(self):
        self.registry.push('lab/app', text='one')
        name = self.registry.name('lab/app')
        found = self.fetch(name)
        self.assertEqual(self.local(f'{name}:latest'), found)
        self.assertEqual('sha256:', found[:7])

    def test_tag(self):
        self.registry.push('lab/app', text='one')
        self.registry.push('lab/app', 'v2', text='two')
        name = self.registry.name('lab/app')
        self.assertNotEqual(self.fetch(name), self.fetch(f'{name}:v2'))

    def test_digest_wins_over_the_tag(self):
        name = self.registry.name('lab/app')
        old = self.registry.push('lab/app', text='old')
        old_id = self.fetch(name)
        self.registry.push('lab/app', text='new')
        self.assertEqual(old_id, self.fetch(f'{name}:latest@{old}'))
        self.assertEqual(old_id, self.fetch(f'{name}@{old}', 'ifnotpresent'))
        self.assertNotEqual(old_id, self.fetch(name))

    def test_always_takes_the_new_one(self):
        name = self.registry.name('lab/app')
        self.registry.push('lab/app', text='old')
        old = self.fetch(name)
        self.registry.push('lab/app', text='new')
        self.assertEqual(old, self.fetch(name, 'ifnotpresent'))
        self.assertEqual(old, self.fetch(name, 'never'))
        self.assertNotEqual(old, self.fetch(name, 'always'))

    def test_policies_do_not_touch_the_registry_in_vain(self):
        name = self.registry.name('lab/app')
        self.registry.push('lab/app')
        self.assertRaises(exception.ImageNotFound, self.fetch, name, 'never')
        self.assertEqual([], self.registry.requests)
        self.fetch(name, 'ifnotpresent')
        self.assertEqual(1, self.registry.pulls('lab/app'))
        self.registry.requests.clear()
        self.fetch(name, 'ifnotpresent')
        self.fetch(name, 'never')
        self.assertEqual([], self.registry.requests)

    def test_missing_image_names_itself(self):
        name = self.registry.name(MISSING)
        error = self.assertRaises(exception.ImageNotFound, self.fetch, name)
        self.assertEqual(f'Image {name} could not be found.', error.message)
        self.registry.push('lab/nothing', 'other')
        error = self.assertRaises(exception.ImageNotFound, self.fetch, name)
        self.assertEqual(f'Image {name} could not be found.', error.message)

    def test_slow_image_does_not_hold_up_another(self):
        self.registry.push('lab/slow', text='slow')
        self.registry.push('lab/quick', text='quick')
        gate, begun = threading.Event(), threading.Event()
        self.addCleanup(gate.set)

        def hold(_method, path):
            if '/slow/' in path:
                begun.set()
                gate.wait(LONG)

        self.registry.fault = hold
        slow = threading.Thread(target=self.fetch, args=(self.registry.name('lab/slow'),))
        slow.start()
        self.assertTrue(begun.wait(LONG))
        self.assertTrue(self.fetch(self.registry.name('lab/quick')))
        self.assertTrue(slow.is_alive())
        gate.set()
        slow.join(LONG)
        self.assertIsNotNone(self.local(self.registry.name('lab/slow')))

    def test_cancelled_pull_ends_in_the_engine(self):
        self.registry.push('lab/slow', text='endless')
        gate, asked = threading.Event(), threading.Event()
        self.addCleanup(gate.set)

        def hold(method, path):
            if '/blobs/' in path and method == 'GET':
                asked.set()
                gate.wait(LONG)

        self.registry.fault = hold
        name, transfer, seen, ended = self.registry.name('lab/slow'), transfers.Transfer(), [], []
        transfer.progressed = seen.append
        found = self.driver.plan(self.context, self.engine, driver.Wanted(name))
        thread = threading.Thread(target=lambda: ended.append(
            self.assertRaises(exception.Conflict, found.work, transfer)))
        thread.start()
        self.assertTrue(asked.wait(LONG))
        engine.wait_for('the progress', lambda: seen)
        transfer.cancel()
        thread.join(10)
        self.assertEqual('Nobody waits for the image any more.', ended[0].message)
        self.assertRegex(seen[-1], '^pulling 0/1')
        gate.set()
        self.registry.fault = lambda method, path: None
        self.assertTrue(self.fetch(name), 'it can be pulled again')

    def test_registry_that_limits(self):
        self.useFixture(fixtures.MonkeyPatch('zun.image.docker._FIRST_PAUSE', 0.05))
        self.registry.push('lab/app')
        self.registry.fault = docker_registry.temporarily(
            1, docker_registry.refusal(429, 'TOOMANYREQUESTS'), '/manifests/')
        self.assertTrue(self.fetch(self.registry.name('lab/app')))

    def test_registry_that_limits_for_good(self):
        self.useFixture(fixtures.MonkeyPatch('zun.image.docker._FIRST_PAUSE', 0.01))
        self.registry.push('lab/app')
        self.registry.fault = docker_registry.temporarily(
            999, docker_registry.refusal(429, 'TOOMANYREQUESTS'), '/manifests/')
        name = self.registry.name('lab/app')
        error = self.assertRaises(exception.DockerError, self.fetch, name)
        self.assertIn(f'pull of {name}:latest: the registry limits the rate', error.message)

    def test_registry_that_fails_at_first(self):
        self.useFixture(fixtures.MonkeyPatch('zun.image.docker._FIRST_PAUSE', 0.05))
        self.registry.push('lab/app')
        self.registry.fault = docker_registry.temporarily(
            1, (503, [], b'try later'), '/manifests/')
        self.assertTrue(self.fetch(self.registry.name('lab/app')))

    def test_corrupt_layer_is_a_failure(self):
        self.registry.push('lab/app', text='to be broken')
        broken = []

        def corrupt(method, path):
            if '/blobs/' in path and method == 'GET' and not broken:
                broken.append(path)
                return 200, [], b'nonsense'
            return None

        self.registry.fault = corrupt
        name = self.registry.name('lab/app')
        error = self.assertRaises(exception.ZunException, self.fetch, name)
        self.assertIn(name, error.message)
        self.assertEqual(1, len(broken))
        self.assertIsNone(self.local(name))

    def test_nobody_at_the_address(self):
        name = f'{docker_registry.HOST}:{docker_registry.free_port()}/lab/app'
        error = self.assertRaises(exception.DockerError, self.fetch, name)
        self.assertIn(f'pull of {name}:latest: the registry cannot be reached', error.message)

    def test_default_registry(self):
        self.config('docker', default_registry=self.registry.address)
        self.registry.push('lab/app')
        self.assertEqual(self.fetch('lab/app'), self.local(self.registry.name('lab/app')))

    def test_stalled_pull_ends(self):
        self.config('docker', pull_idle_timeout=1, pull_timeout=3)
        self.registry.push('lab/app')
        gate = threading.Event()
        self.addCleanup(gate.set)

        def stall(_method, path):
            if '/manifests/' in path:
                gate.wait(LONG)

        self.registry.fault = stall
        self.assertRaises(exception.EngineUnavailable, self.fetch,
                          self.registry.name('lab/app'))


class PrivateRegistryTest(PullTestCase):
    login = True

    def setUp(self):
        super().setUp()
        self.registry.push('lab/secret')

    def _registry(self, domain=None, password=docker_registry.PASSWORD):
        row = objects.Registry(domain=domain or self.registry.address,
                               username=docker_registry.USERNAME, password=crypt.encrypt(password))
        row.obj_reset_changes()
        return row

    def test_right_password(self):
        found = self.fetch('lab/secret', registry=self._registry())
        self.assertEqual(self.local(self.registry.name('lab/secret')), found)

    def test_wrong_password(self):
        error = self.assertRaises(exception.ImageNotFound, self.fetch, 'lab/secret',
                                  registry=self._registry(password='wrong'))
        self.assertIn('authentication with the registry failed', error.message)
        self.assertIn(self.registry.name('lab/secret'), error.message)
        self.assertNotIn('wrong', error.message)

    def test_no_password(self):
        error = self.assertRaises(exception.ImageNotFound, self.fetch,
                                  self.registry.name('lab/secret'))
        self.assertIn('authentication with the registry failed', error.message)

    def test_password_of_another_registry_is_not_sent(self):
        seen = []

        def record(_method, _path):
            seen.append(1)

        self.registry.fault = record
        self.assertRaises(exception.ImageNotFound, self.fetch, self.registry.name('lab/secret'),
                          registry=self._registry(domain='127.0.0.1:1'))
        self.assertTrue(seen)

    def test_right_password_after_a_wrong_one(self):
        name = 'lab/secret'
        self.assertRaises(exception.ImageNotFound, self.fetch, name,
                          registry=self._registry(password='wrong'))
        self.assertTrue(self.fetch(name, registry=self._registry()))

    def test_right_and_wrong_at_once(self):
        results, start = {}, threading.Barrier(2)

        def fetch(password):
            start.wait(LONG)
            try:
                results[password] = self.fetch('lab/secret',
                                               registry=self._registry(password=password))
            except exception.ImageNotFound as error:
                results[password] = error

        threads = [threading.Thread(target=fetch, args=(word,))
                   for word in (docker_registry.PASSWORD, 'wrong')]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        self.assertIsInstance(results['wrong'], exception.ImageNotFound)
        self.assertEqual(self.local(self.registry.name('lab/secret')),
                         results[docker_registry.PASSWORD])

    def test_default_registry_with_a_login(self):
        self.config('docker', default_registry=self.registry.address,
                    default_registry_username=docker_registry.USERNAME,
                    default_registry_password=docker_registry.PASSWORD)
        self.assertTrue(self.fetch('lab/secret'))

    def test_copy_in_the_engine_needs_no_login(self):
        self.fetch('lab/secret', registry=self._registry())
        self.assertTrue(self.fetch(self.registry.name('lab/secret'), 'ifnotpresent'))


class SearchTest(PullTestCase):
    def test_registry_that_has_no_search(self):
        # The engine asks its own default registry, which cannot be reached from a test.
        fake = types.SimpleNamespace(search_images=lambda term: self.fail('asked'))
        self.assertRaises(exception.OperationNotSupported, self.driver.search, self.context,
                          fake, self.registry.name('lab/app'), False)
