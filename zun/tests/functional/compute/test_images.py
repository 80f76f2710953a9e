# SPDX-License-Identifier: Apache-2.0
"""Fetching of images for containers, and images of administrators."""

import threading
import types

import fixtures
from oslo_utils import uuidutils

from zun import objects
from zun.common import crypt
from zun.common import exception
from zun.common import pools
from zun.common import states
from zun.common import transfers
from zun.compute import manager
from zun.compute import operations
from zun.compute.tasks import images
from zun.image import flights
from zun.tests.functional import docker_registry
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base


class _Held(base.NodeTestCase):
    """Pulls wait for a gate."""

    def setUp(self):
        super().setUp()
        self.gate, self.begun, self.pulled = threading.Event(), threading.Semaphore(0), []
        self.addCleanup(self.gate.set)
        genuine = self.engine.pull_image

        def pull(name, tag, username=None, password=None, transfer=None):
            self.pulled.append(f'{name}:{tag}')
            self.begun.release()
            transfer = transfer or transfers.Transfer()
            with transfer.stopped_by(self.gate.set):
                transfer.progressed('pulling 1/3')
                self.gate.wait(30)
            return genuine(name, tag)

        self.useFixture(fixtures.MonkeyPatch('zun.container.fake.FakeDriver.pull_image',
                                             lambda _self, *args: pull(*args)))

    def start(self, image, **columns):
        container = self.placed(image=image, image_pull_policy='always', networks=[], **columns)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        return container

    def pull_with(self, workers):
        self.node.pulls = pools.KeyedPool('image-pull', workers, 500)
        self.addCleanup(self.node.pulls.shutdown, 5)

    def wait_for_task(self, container, task_state):
        real.wait_for(task_state, lambda: self.row(container).task_state == task_state)


class OnePullTest(_Held):
    def test_those_who_wait_hold_no_thread(self):
        self.pull_with(2)
        slow = [self.start('slow') for _ in range(8)]
        real.wait_for('all to wait', lambda: sum(
            len(flight.waiting) for flight in self.node.flights._flights.values()) == 8)
        self.assertTrue(self.begun.acquire(timeout=30))
        for container in slow:
            self.wait_for_task(container, states.IMAGE_PULLING)
            self.assertTrue(self.node.busy(container.uuid))
        quick = self.start('quick')
        self.assertTrue(self.begun.acquire(timeout=30))  # a second worker is free
        self.gate.set()
        for container in [*slow, quick]:
            self.assertEqual(states.RUNNING, self.settled(container).status)
            self.assertFalse(self.node.busy(container.uuid))
        self.assertEqual(['quick:latest', 'slow:latest'], sorted(self.pulled))
        self.assertEqual({}, dict(self.node.away))

    def test_image_that_is_there_waits_for_no_pull(self):
        self.pull_with(1)
        self.gate.set()
        self.settled(self.start('here'))
        self.gate.clear()
        self.assertTrue(self.begun.acquire(timeout=30))
        self.start('slow')
        self.assertTrue(self.begun.acquire(timeout=30))
        container = self.placed(image='here', image_pull_policy='ifnotpresent', networks=[])
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.assertEqual(states.RUNNING, self.settled(container).status)

    def test_failure_is_shared(self):
        self.engine.missing.add('no/such')
        containers = [self.start('no/such') for _ in range(3)]
        self.gate.set()
        for container in containers:
            row = self.settled(container)
            self.assertEqual(states.ERROR, row.status)
            self.assertIn('no/such:latest could not be found', row.status_reason)
        self.assertEqual({}, dict(self.node.away))

    def test_delete_does_not_wait_for_the_pull(self):
        container, other = self.start('slow'), self.start('slow')
        self.wait_for_task(container, states.IMAGE_PULLING)
        context = self.accept(container, 'delete', states.DELETING, force=False, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=False, stop=False)
        real.wait_for('the delete', lambda: self.row(container) is None)
        self.gate.set()
        self.assertEqual(states.RUNNING, self.settled(other).status)
        real.wait_for('the end', lambda: not self.node.busy(container.uuid))
        self.assertNotIn(container.uuid, self.engine.list())

    def accept_delete(self, container):
        context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=True, stop=False)
        real.wait_for('the delete', lambda: self.row(container) is None)

    def test_pull_that_nobody_waits_for_is_ended(self):
        one, two = self.start('slow'), self.start('slow')
        self.wait_for_task(one, states.IMAGE_PULLING)
        self.wait_for_task(two, states.IMAGE_PULLING)
        self.accept_delete(one)
        self.assertFalse(self.gate.is_set(), 'the other one waits still')
        self.accept_delete(two)
        self.assertTrue(self.gate.wait(30))
        real.wait_for('the end', lambda: not (self.node.busy(one.uuid)
                                              or self.node.busy(two.uuid)))
        self.assertIsNone(self.engine.find_image('slow:latest'))
        self.assertEqual(({}, {}, []), (self.node.flights._flights, dict(self.node.away),
                                        list(self.engine.list())))
        self.gate.set()
        self.assertEqual(states.RUNNING, self.settled(self.start('slow')).status)

    def test_pull_for_nobody_does_not_begin(self):
        self.pull_with(1)
        self.start('slow')
        self.assertTrue(self.begun.acquire(timeout=30))
        container = self.start('later')
        self.wait_for_task(container, states.IMAGE_PULLING)
        self.accept_delete(container)
        self.gate.set()
        real.wait_for('the end', lambda: not self.node.busy(container.uuid))
        self.assertEqual(['slow:latest'], self.pulled)

    def test_rows_say_how_far_it_is(self):
        self.useFixture(base.Quick(images, '_TELLING_INTERVAL', 0.0))
        container, other = self.start('slow'), self.start('slow')
        self.assertTrue(self.begun.acquire(timeout=30))
        real.wait_for('the progress', lambda: self.row(container).status_detail)
        self.assertEqual('pulling 1/3', self.row(container).status_detail)
        self.gate.set()
        for row in (self.settled(container), self.settled(other)):
            self.assertEqual(states.RUNNING, row.status)
            self.assertNotEqual('pulling 1/3', row.status_detail)

    def test_failed_pull_says_no_more_how_far_it_was(self):
        self.useFixture(base.Quick(images, '_TELLING_INTERVAL', 0.0))
        self.engine.missing.add('no/such')
        container = self.start('no/such')
        real.wait_for('the progress', lambda: self.row(container).status_detail)
        self.gate.set()
        self.assertIsNone(self.settled(container).status_detail)

    def test_full_queue(self):
        self.node.pulls.shutdown(5)
        container = self.start('slow')
        self.settled(container)
        self.assertEqual([(container.uuid, 1)], self.scheduler.asked)


class ImageRowTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.manager = manager.Manager(self.node)

    def image(self, repo='a/b', tag='1'):
        row = objects.Image(self.context, uuid=uuidutils.generate_uuid(), repo=repo, tag=tag,
                            host=base.HOST, project_id='project', user_id='user')
        row.pull(self.context)
        return row

    def pulled(self, row):
        self.manager.image_pull(self.context, row.uuid)
        real.wait_for('the pull', lambda: not self.node.pulls.busy(row.uuid))
        return objects.Image.get_by_uuid(self.admin, row.uuid)

    def test_size_and_id(self):
        found = self.pulled(self.image())
        self.assertEqual((self.engine.find_image('a/b:1'), str(1 << 20), states.AVAILABLE, None),
                         (found.image_id, found.size, found.status, found.status_reason))

    def test_failure_shows_in_the_row(self):
        self.engine.missing.add('a/b')
        found = self.pulled(self.image())
        self.assertEqual(
            (None, states.ERROR, 'Pull failed: Image a/b:1 could not be found.'),
            (found.image_id, found.status, found.status_reason))
        self.engine.missing.clear()
        found = self.pulled(found)
        self.assertIsNotNone(found.image_id)
        self.assertEqual((states.AVAILABLE, None), (found.status, found.status_reason))

    def test_name_that_is_none(self):
        found = self.pulled(self.image('A B'))
        self.assertEqual(states.ERROR, found.status)
        self.assertIn('Pull failed: ', found.status_reason)

    def test_full_queue(self):
        self.node.pulls.shutdown(5)
        found = self.pulled(self.image())
        self.assertEqual((states.ERROR, 'Pull failed: Too much work is waiting (image-pull).'),
                         (found.status, found.status_reason))

    def test_delete_ends_the_pull(self):
        begun, ended = threading.Event(), threading.Event()

        def pull(_engine, name, tag, username, password, transfer):
            with transfer.stopped_by(ended.set):
                begun.set()
                ended.wait(30)

        self.useFixture(fixtures.MonkeyPatch('zun.container.fake.FakeDriver.pull_image', pull))
        row = self.image()
        self.manager.image_pull(self.context, row.uuid)
        self.assertTrue(begun.wait(30))
        self.deleted(row)
        self.assertTrue(ended.is_set())

    def test_start_of_the_agent(self):
        """What is there is left alone, all else is fetched."""
        rows = {status: self.image(repo) for repo, status in (
            ('a', states.PULLING), ('b', states.ERROR), ('c', states.AVAILABLE))}
        for status, row in rows.items():
            row.status, row.image_id = status, 'of old'
            row.save()
        images.resume(self.node)
        for row in rows.values():
            real.wait_for('the pull', lambda row=row: not self.node.pulls.busy(row.uuid))
        found = {row.repo: row for row in objects.Image.list(self.admin)}
        self.assertEqual([states.AVAILABLE] * 3, [row.status for row in found.values()])
        self.assertEqual([False, False, True], [found[repo].image_id == 'of old'
                                                for repo in 'abc'])

    def deleted(self, row):
        self.manager.image_delete(self.context, row.uuid)
        real.wait_for('the delete', lambda: not self.node.pulls.busy(row.uuid))
        self.assertEqual([], objects.Image.list(self.admin, filters={'repo': row.repo}))

    def test_delete(self):
        self.deleted(self.pulled(self.image()))
        self.assertIsNone(self.engine.find_image('a/b:1'))

    def test_delete_takes_its_own_name_only(self):
        self.config(group='docker', default_registry='reg.x')
        row = self.pulled(self.image())
        self.engine.pull_image('a/b', '1')
        self.deleted(row)
        self.assertIsNone(self.engine.find_image('reg.x/a/b:1'))
        self.assertIsNotNone(self.engine.find_image('a/b:1'))

    def test_delete_of_what_a_container_uses(self):
        row = self.pulled(self.image())
        self.engine.fail('remove_image', exception.Conflict('a container uses it'))
        self.deleted(row)
        self.assertIn(row.image_id, self.node.usage.fetched())
        self.assertIsNotNone(self.engine.find_image('a/b:1'))

    def test_delete_of_a_name_that_a_container_is_made_of(self):
        """An engine takes it away when the image has another one, and a rebuild needs it."""
        row = self.pulled(self.image())
        container = self.created(image='a/b:1', networks=[])
        self.node.usage._wanted.clear()
        self.deleted(row)
        self.assertIsNotNone(self.engine.find_image('a/b:1'))
        self.run_operation(container, 'delete', force=True, stop=False)
        self.deleted(self.pulled(self.image()))
        self.assertIsNone(self.engine.find_image('a/b:1'))

    def test_delete_of_what_a_container_wanted_just_now(self):
        row = self.pulled(self.image())
        self.node.usage.want(row.image_id)
        self.deleted(row)
        self.assertIsNotNone(self.engine.find_image('a/b:1'))

    def test_engine_fails_at_the_delete(self):
        row = self.pulled(self.image())
        self.engine.fail('remove_image', exception.EngineUnavailable(error_msg='x'))
        self.manager.image_delete(self.context, row.uuid)
        real.wait_for('the delete', lambda: not self.node.pulls.busy(row.uuid))
        self.deleted(row)


class PrivateRegistryTest(base.NodeTestCase):
    """From the row of a registry to a running container, on a real engine and registry."""

    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.source = self.useFixture(docker_registry.Registry(login=True))
        self.source.push('lab/secret')
        self.config(auth_encryption_key='k' * 32)

    def registry(self, password=docker_registry.PASSWORD):
        row = objects.Registry(self.context, uuid=uuidutils.generate_uuid(),
                               domain=self.source.address, project_id='project',
                               username=docker_registry.USERNAME, password=password)
        row.create(self.context)
        return row

    def ran(self, registry, **columns):
        return self.created(image='lab/secret', image_pull_policy='always',
                            command=['/bin/busybox', 'sleep', '1000'], networks=[],
                            registry_id=registry.id if registry else None, **columns)

    def test_right_password(self):
        row = self.ran(self.registry())
        self.assertEqual((states.RUNNING, None), (row.status, row.status_reason))

    def test_wrong_password(self):
        row = self.ran(self.registry('wrong word'))
        self.assertEqual(states.ERROR, row.status)
        self.assertIn('authentication with the registry failed', row.status_reason)
        self.assertNotIn('wrong word', row.status_reason)

    def test_rotation_of_keys(self):
        registry = self.registry()
        self.config(auth_encryption_key='n' * 32 + ',' + 'k' * 32)
        self.assertEqual(states.RUNNING, self.ran(registry).status)
        registry.password = docker_registry.PASSWORD
        registry.save()
        self.config(auth_encryption_key='n' * 32)
        self.assertEqual(docker_registry.PASSWORD, crypt.decrypt(registry.password)
                         if 'password' not in registry.obj_what_changed() else None)
        self.assertEqual(states.RUNNING, self.ran(registry).status)

    def test_key_that_is_lost(self):
        registry = self.registry()
        self.config(auth_encryption_key='x' * 32)
        row = self.ran(registry)
        self.assertNotEqual(states.RUNNING, row.status)

    def test_image_for_another_architecture(self):
        other = 's390x'
        self.source.push('lab/foreign', architecture=other)
        for policy in ('always', 'ifnotpresent'):
            row = self.created(image='lab/foreign', image_pull_policy=policy, networks=[],
                               registry_id=self.registry().id)
            self.assertEqual(states.ERROR, row.status)
            self.assertRegex(row.status_reason, f'^Create failed: The image is for linux/{other},')
        self.assertEqual([], self.scheduler.asked)

    def test_default_registry(self):
        self.config(group='docker', default_registry=self.source.address,
                    default_registry_username=docker_registry.USERNAME,
                    default_registry_password=docker_registry.PASSWORD)
        self.assertEqual(states.RUNNING, self.ran(None).status)

    def test_digest(self):
        digest = self.source.push('lab/secret', text='pinned')
        self.source.push('lab/secret', text='newer')
        row = self.created(image=f'lab/secret@{digest}', image_pull_policy='always',
                           command=['/bin/busybox', 'sleep', '1000'], networks=[],
                           registry_id=self.registry().id)
        into, _stat = real.fetched(self.engine, row, '/text')
        self.assertEqual(b'pinned', real.untar(into)['text'])


class TellerTest(base.base.TestCase):
    """How often the rows are written."""

    def test_now_and_then(self):
        clock, written = [100.0], []
        self.useFixture(fixtures.MonkeyPatch('zun.compute.tasks.images.time', types.SimpleNamespace(
            monotonic=lambda: clock[0])))
        self.useFixture(fixtures.MonkeyPatch(
            'zun.objects.Container.tell_pull', lambda uuids, text: written.append((uuids, text))))
        all_flights = flights.Flights()
        flight = all_flights.join('key', 'uuid', lambda *_result: None)
        teller = images._Teller(types.SimpleNamespace(flights=all_flights), flight)
        for _ in range(1000):
            clock[0] += 0.012
            teller.tell(f'{clock[0]:.0f}')
        teller.end()
        self.assertEqual([(['uuid'], '105'), (['uuid'], '110'), (['uuid'], None)], written)

    def test_quick_pulls_write_nothing(self):
        written = []
        self.useFixture(fixtures.MonkeyPatch(
            'zun.objects.Container.tell_pull', lambda *args: written.append(args)))
        teller = images._Teller(None, None)
        teller.tell('pulling 1/3')
        teller.end()
        self.assertEqual([], written)
