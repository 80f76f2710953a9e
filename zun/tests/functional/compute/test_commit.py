# SPDX-License-Identifier: Apache-2.0
"""Commit: engine, pool and a stand-in for Glance on loopback."""

import datetime
import io
import json
import tarfile
import threading

from docker import errors as docker_errors
import fixtures

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import operations
from zun.compute.tasks import commit
from zun.tests.functional import engine as real
from zun.tests.functional import glance
from zun.tests.functional.compute import base


class CommitTestCase(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.glance = self.useFixture(glance.Glance())
        self.container = self.created()
        self.image = self.record()

    def record(self, **values):
        """As the API makes it."""
        return self.glance.record(name='snap', tags=['one'], **{
            'zun_container_uuid': self.container.uuid, 'zun_host': base.HOST, **values})

    def commit(self, image=None):
        return self.run_operation(self.container, 'commit', **self.args(image))

    def args(self, image=None):
        return {'repository': 'snap', 'tag': 'one', 'image_uuid': image or self.image}

    def left(self):
        """Names that commits gave to images of the engine, by the records of this test."""
        return [name for image in self.engine.list_images() for name in image.names
                if any(ident in name for ident in [self.image, *self.glance.images])]

    def assert_failed(self, text):
        self.assert_closed(self.container)
        self.assertEqual(('commit', 'Error', True), self.actions(self.container)[-1])
        self.assertNotIn(self.image, self.glance.images)
        self.assertEqual([], self.left())
        self.assertEqual(states.RUNNING, self.row(self.container).status)
        details = self.last_event().details
        self.assertIn(text, details)

    def last_event(self):
        action = objects.ContainerAction.get_by_container_uuid(
            self.admin, self.container.uuid)[0]
        return objects.ContainerActionEvent.get_by_action(self.admin, action.id)[0]


class CommitTest(CommitTestCase):
    def test_success(self):
        row = self.commit()
        self.assertEqual((states.RUNNING, None, None),
                         (row.status, row.task_state, row.status_reason))
        self.assertEqual('active', self.glance.images[self.image]['status'])
        self.assertEqual(('commit', None, True), self.actions(self.container)[-1])
        self.assertEqual(('compute__do_container_commit', 'Success'),
                         self.events(self.container)[-1])
        self.assertEqual([], self.left())
        self.assert_closed(self.container)

    def test_the_next_operation_does_not_wait_for_the_sending(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.glance.fault = lambda method, path: gate.wait(30) and None if method == 'PUT' else None
        context = self.accept(self.container, 'commit', **self.args())
        operations.submit(self.node, context, self.container.uuid, 'commit',
                          **self.args())
        real.wait_for('the sending', lambda: ('PUT', f'/v2/images/{self.image}/file')
                      in self.glance.asked)
        context = self.accept(self.container, 'stop', timeout=1)
        operations.submit(self.node, context, self.container.uuid, 'stop', timeout=1)
        real.wait_for('the stop', lambda: self.row(self.container).status == states.STOPPED)
        self.assertTrue(self.node.busy(self.container.uuid))
        gate.set()
        self.settled(self.container)
        self.assertEqual('active', self.glance.images[self.image]['status'])
        self.assert_closed(self.container)

    def test_engine_fails(self):
        self.engine.fail('commit', exception.EngineUnavailable(error_msg='no room'))
        self.commit()
        self.assert_failed('no room')

    def test_container_that_a_failed_commit_left_paused(self):
        def fail(*_args):
            self.engine.pause(self.container)
            raise exception.EngineUnavailable(error_msg='crash')

        self.useFixture(fixtures.MonkeyPatch('zun.container.fake.FakeDriver.commit', fail))
        self.commit()
        self.assert_failed('crash')
        self.assertEqual(states.RUNNING, self.engine.inspect(self.container).status)

    def test_image_service_fails(self):
        for method, status in (('GET', 500), ('PUT', 413), ('PUT', 503)):
            with self.subTest(method=method, status=status):
                self.image = self.record()
                self.glance.fault = lambda asked, _path, method=method, status=status: (
                    status if asked == method else None)
                self.commit()
                self.glance.fault = lambda *_args: None
                self.assert_failed('')

    def test_record_that_is_gone_or_filled(self):
        del self.glance.images[self.image]
        self.commit()
        self.assert_failed('does not wait')
        self.image = self.glance.add(b'something', zun_host=base.HOST)
        self.commit()
        self.assert_failed('does not wait')

    def test_too_large(self):
        self.useFixture(fixtures.MonkeyPatch('zun.image.glance_store._GIB', 1000))
        self.config('glance', max_image_size=1)
        self.commit()
        self.assert_failed('larger than the limit of 1000')

    def test_not_in_this_state_any_more(self):
        context = self.accept(self.container, 'commit', **self.args())
        row = self.row(self.container)
        row.status = states.ERROR
        row.save(self.admin)
        operations.submit(self.node, context, self.container.uuid, 'commit',
                          **self.args())
        self.settled(self.container)
        self.assertNotIn(self.image, self.glance.images)
        self.assert_closed(self.container)


class InterruptedTest(CommitTestCase):
    """The rows and the record as a crash leaves them."""

    def _resume(self):
        self.accept(self.container, 'commit', **self.args())
        self.restart()
        self.node.resume(self.container.uuid)
        return self.settled(self.container)

    def test_before_the_sending(self):
        self._resume()
        self.assertEqual('active', self.glance.images[self.image]['status'])
        self.assertEqual(('commit', None, True), self.actions(self.container)[-1])
        self.assert_closed(self.container)

    def test_within_it(self):
        self.glance.images[self.image]['status'] = 'saving'
        self._resume()
        self.assert_failed('does not wait')

    def test_after_it(self):
        self.engine.commit(self.container, f'zun-commit/{self.image}', 'latest')
        self.glance.fill(self.image, b'sent')
        self._resume()
        self.assertEqual(b'sent', self.glance.data[self.image])
        self.assertEqual(('commit', None, True), self.actions(self.container)[-1])
        self.assertEqual([], self.left())
        self.assert_closed(self.container)

    def test_sweep(self):
        old = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=700)).isoformat()
        lost = self.record(created_at=old)
        other = self.record(created_at=old, zun_host='node-2')
        wanted = self.record(created_at=old)
        self.accept(self.container, 'commit', **self.args(wanted))
        for ident in (lost, wanted, other, uuid := self.image):
            self.engine.commit(self.container, f'zun-commit/{ident}', 'latest')
        del self.glance.images[uuid]
        commit.sweep(self.node)
        self.assertEqual({other, wanted}, set(self.glance.images))
        self.assertNotIn(uuid, str(self.left()))
        self.assertIn(other, str(self.left()))
        self.glance.images[wanted]['created_at'] = datetime.datetime.now(
            datetime.UTC).isoformat()
        commit.sweep(self.node)
        self.assertIn(wanted, self.glance.images)

    def test_sweep_without_an_image_service(self):
        self.glance.fault = lambda *_args: 503
        commit.sweep(self.node)
        self.CONF.clear_override('endpoint_override', 'glance_client')
        self.CONF.clear_override('auth_type', 'keystone_auth')
        commit.sweep(self.node)


class DockerCommitTest(CommitTestCase):
    driver = 'docker'

    def test_files_of_the_container_arrive(self):
        self.engine.put_archive(self.container, '/tmp', real.tar({'mark': b'here'}))
        self.commit()
        self.assertEqual('active', self.glance.images[self.image]['status'])
        with tarfile.open(fileobj=io.BytesIO(self.glance.data[self.image])) as archive:
            manifest = json.load(archive.extractfile('manifest.json'))
            layer = archive.extractfile(manifest[0]['Layers'][-1]).read()
        self.assertEqual(b'here', real.untar(layer)['tmp/mark'])
        self.assertRaises(docker_errors.ImageNotFound, self.docker.api.inspect_image,
                          f'zun-commit/{self.image}:latest')
        self.assertEqual(states.RUNNING, self.engine.inspect(self.container).status)

    def test_stopped_and_paused(self):
        for operation, status, args in (('pause', states.PAUSED, {}), ('unpause', None, {}),
                                        ('stop', states.STOPPED, {'timeout': 1})):
            self.run_operation(self.container, operation, **args)
            if status:
                self.image = self.record()
                self.commit()
                self.assertEqual('active', self.glance.images[self.image]['status'])
                self.assertEqual(status, self.engine.inspect(self.container).status)
