# SPDX-License-Identifier: Apache-2.0
"""The engine fails while a container is changed: afterwards it, networks, books and rows agree."""

import base64
import time

from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute.tasks import commit
from zun.tests.fault import harness
from zun.tests.fault import shelf
from zun.tests.fault import test_engine
from zun.tests.functional import docker_registry
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

K, ALL = test_engine.K, test_engine.ALL
LOST, HANGING, SLOW, CUT, FAILING, OCCUPIED, REFUSING = ALL
TORN = (K.TEAR, {})
#: Of a reading call, which is made twice when a connection breaks.
READ_AGAIN = (LOST, SLOW, CUT)
MORE = {'cpu': 0.2, 'memory': '48'}
LESS = {'cpu': 0.1, 'memory': '32'}
#: As real.FOREVER, in an image that has a shell only.
_FOREVER = ['/bin/busybox', 'sh', '-c',
            "trap 'exit 0' TERM; while :; do /bin/busybox sleep 0.05; done"]


class ChangeTestCase(test_engine.EngineTestCase):
    """One container that runs."""

    timeout = 4

    def setUp(self):
        super().setUp()
        self.container = self.running()

    def change(self, fault, operation, status=None, **args):
        """Have an operation meet a fault; the row at its end."""
        self.send(self.container, operation, status, **args)
        self.while_it_lasts(fault)
        return self.ended()

    def ended(self):
        """The row once nothing is open any more."""
        def look():
            row = self.row(self.container)
            open_ = row.task_state or self.asked(self.container).operation
            return None if open_ or self.node.busy(self.container.uuid) else row
        return real.wait_for('the end', look, 60)

    def assert_outcome(self, operation, where, row, done):
        """It runs; the operation is done, or has failed for a reason, and nothing is in between."""
        self.assert_owned(self.container, states.RUNNING, row.status_reason)
        title = operation.replace('_', ' ').capitalize()
        self.assertEqual(done, row.status_reason is None, f'{where}: {row.status_reason}')
        if not done:
            self.assertIn(f'{title} failed', row.status_reason)
            self.forget(row)
        self.note(operation, where, 'done' if done else 'as before, with its reason')


class NetworkTest(ChangeTestCase):
    def setUp(self):
        super().setUp()
        self.wanted = self.new_network()
        self.uuid = self.wanted['network']

    def new_network(self):
        uuid = self.node.network.create_network(self.admin, {'name': 'another'})['uuid']
        return self.node.network.resolve(self.context, [{'network': uuid}])[0]

    def attach(self):
        self.run_operation(self.container, 'network_attach', requested_network=self.wanted)

    def detach(self):
        self.run_operation(self.container, 'network_detach', network=self.uuid)

    def check(self, operation, call, kind, more, done, **args):
        """Whether it is on the network tells whether it is done."""
        row = self.change(self.fault(call, kind, more), operation, **args)
        self.assert_outcome(operation, f'{call}, {test_engine.told(kind, more)}', row, done)
        self.assertEqual(done is (operation == 'network_attach'), self.uuid in row.addresses)
        self.assert_action(self.container, operation, None if done else 'Error')

    def test_attach(self):
        for kind, more in harness.some(*ALL):
            self.check('network_attach', 'connect', kind, more, kind is K.DELAY,
                       requested_network=self.wanted)
            if kind is K.DELAY:
                self.detach()

    @harness.long
    def test_detach(self):
        for kind, more in ALL:
            if self.uuid not in self.row(self.container).addresses:
                self.attach()
            self.check('network_detach', 'disconnect', kind, more, kind is K.DELAY,
                       network=self.uuid)

    @harness.long
    def test_attach_to_one_that_is_to_be_made(self):
        for kind, more in ALL:
            # What was refused because of a race is tried again.
            done = kind is K.DELAY or more is test_engine.CONFLICT
            self.check('network_attach', 'make network', kind, more, done,
                       requested_network=self.wanted)
            if not done:
                self.attach()
            self.detach()
            self.node.network.delete_network(self.admin, self.uuid)
            self.wanted = self.new_network()
            self.uuid = self.wanted['network']

    @harness.long
    def test_attach_that_cannot_be_taken_back(self):
        """It is tried again."""
        for kind, more in (LOST, HANGING, FAILING):
            self.fault('disconnect', *HANGING)
            row = self.change(self.fault('connect', kind, more), 'network_attach',
                              requested_network=self.wanted)
            self.assert_outcome('network_attach', f'connect, {test_engine.told(kind, more)}, '
                                'and the way back hangs', row, True)
            self.assertIn(self.uuid, row.addresses)
            self.assert_action(self.container, 'network_attach', None)
            self.detach()

    @harness.long
    def test_detach_that_cannot_be_taken_back(self):
        for kind, more in (LOST, HANGING, FAILING):
            self.attach()
            self.fault('connect', *HANGING)
            row = self.change(self.fault('disconnect', kind, more), 'network_detach',
                              network=self.uuid)
            self.assert_outcome('network_detach', f'disconnect, {test_engine.told(kind, more)}, '
                                'and the way back hangs', row, True)
            self.assertNotIn(self.uuid, row.addresses)
            self.assert_action(self.container, 'network_detach', None)


class RebuildTestCase(ChangeTestCase):
    def rebuild(self, where, fault, done):
        before = self.row(self.container)
        row = self.change(fault, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual(done, row.container_id != before.container_id, row.status_reason)
        self.assertEqual(before.addresses, row.addresses)
        self.assert_action(self.container, 'rebuild', None if done else 'Error')
        self.assert_outcome('rebuild', where, row, done)

    def check(self, call, *done, spared=0):
        """
        :param done: faults that do not keep it from being done
        :param spared: how many of the calls pass before
        """
        for kind, more in ALL:
            self.rebuild(f'{call}, {test_engine.told(kind, more)}',
                         self.fault(call, kind, more, spared=spared), (kind, more) in done)


class RebuildTest(RebuildTestCase):
    @harness.long
    def test_image_is_looked_for(self):
        self.check('find image', *READ_AGAIN)

    @harness.long
    def test_old_one_is_stopped(self):
        self.check('stop', SLOW, LOST)

    @harness.long
    def test_old_one_is_set_aside(self):
        self.check('rename', SLOW)

    @harness.long
    def test_new_one_is_made(self):
        self.check('create', SLOW, LOST)

    @harness.long
    def test_new_one_is_started(self):
        self.check('start', SLOW, LOST)

    @harness.long
    def test_old_one_is_removed(self):
        """The new one runs: it stays."""
        self.check('discard', *ALL, spared=1)

    @harness.long
    def test_one_that_an_earlier_rebuild_left(self):
        """It goes before anything else; an engine that is busy is asked again."""
        self.docker.api.create_container(real.IMAGE, name=f'zun-{self.container.uuid}-old')
        self.check('discard', SLOW, FAILING, OCCUPIED)

    @harness.long
    def test_that_cannot_be_taken_back(self):
        """It is tried again."""
        for kind, more in (LOST, HANGING, CUT, FAILING):
            self.fault('rename', kind, more, spared=1)
            self.rebuild(f'create, engine: 500, then rename, {test_engine.told(kind, more)}',
                         self.fault('create', *FAILING), True)

    @harness.long
    def test_whose_retry_fails_at_first(self):
        """What was left half done is brought back before anything else."""
        for times, done in ((2, False), (3, True)):
            self.fault('rename', *HANGING, times=times, spared=1)
            self.rebuild(f'create, engine: 500, then rename, engine: hang {times} times',
                         self.fault('create', *FAILING), done)


class LimitsTest(ChangeTestCase):
    def update(self, patch):
        self.client.container_update(self.context, base.HOST, self.container.uuid, patch)

    def memory(self):
        return self.row(self.container).memory

    @harness.long
    def test_resize(self):
        for kind, more in ALL:
            row = self.change(self.fault('update', kind, more), 'resize_container', patch=MORE)
            done = kind is K.DELAY
            self.assertEqual('48' if done else '32', row.memory)
            self.assert_action(self.container, 'resize_container', None if done else 'Error')
            self.assert_outcome('resize_container', test_engine.told(kind, more), row, done)
            self.update(LESS)

    @harness.long
    def test_resize_that_cannot_be_taken_back(self):
        """It is tried again."""
        for kind, more in (LOST, HANGING, FAILING):
            fault = self.fault('update', kind, more)
            self.fault('update', *HANGING)
            row = self.change(fault, 'resize_container', patch=MORE)
            self.assertEqual('48', row.memory)
            self.assert_action(self.container, 'resize_container', None)
            self.assert_outcome('resize_container', f'{test_engine.told(kind, more)}, '
                                'and the way back hangs', row, True)
            self.update(LESS)

    @harness.long
    def test_update(self):
        for kind, more in ALL:
            self.fault('update', kind, more)
            if kind is K.DELAY:
                self.update(MORE)
            else:
                self.assertRaises(exception.ZunException, self.update, MORE)
            self.ended()
            self.assert_owned(self.container, states.RUNNING)
            self.assertEqual('48' if kind is K.DELAY else '32', self.memory())
            self.assert_action(self.container, 'update', None if kind is K.DELAY else 'Error')
            self.note('update', test_engine.told(kind, more),
                      'done' if kind is K.DELAY else 'as before')
            self.update(LESS)

    def test_update_that_cannot_be_taken_back(self):
        """The limits are those of the row as soon as the engine answers."""
        for kind, more in harness.some(LOST, HANGING, FAILING)[:1 if harness.SHORT else None]:
            self.fault('update', kind, more)
            self.fault('update', *HANGING)
            self.assertRaises(exception.ZunException, self.update, MORE)
            self.ended()
            self.assert_owned(self.container, states.RUNNING)
            self.assertEqual('32', self.memory())
            self.assert_action(self.container, 'update', 'Error')
            self.note('update', f'{test_engine.told(kind, more)}, and the way back hangs',
                      'as before')

    @harness.long
    def test_rename(self):
        """The engine has no part in it."""
        self.hang()
        began = time.monotonic()
        self.update({'name': 'renamed'})
        self.assertLess(time.monotonic() - began, test_engine.SHOWN_WITHIN)
        self.proxy.clear()
        self.assertEqual('renamed', self.ended().name)
        self.assert_owned(self.container, states.RUNNING)
        self.note('rename', 'everything, engine: hang', 'done')


class CommitTest(ChangeTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='docker', commit_timeout=2, pull_idle_timeout=2)
        self.store = self.node.store = shelf.Shelf(self.CONF.state_path)

    def commit(self, where, fault, done):
        image = uuidutils.generate_uuid()
        self.store.add(image)
        self.change(fault, 'commit', repository='snap', tag='one', image_uuid=image)
        self.assert_owned(self.container, states.RUNNING)
        self.assert_action(self.container, 'commit', None if done else 'Error')
        record = self.store.show(image)
        self.assertEqual('active' if done else None, record and record['status'])
        self.note('commit', where, 'image sent' if done else 'no image, no record')
        return image

    def left(self, image):
        return self.docker.api.images(name=f'zun-commit/{image}')

    def check(self, call, kinds, *done):
        for kind, more in kinds:
            image = self.commit(f'{call}, {test_engine.told(kind, more)}',
                                self.fault(call, kind, more), (kind, more) in done)
            self.assertEqual([], self.left(image))

    @harness.long
    def test_image_is_made(self):
        self.check('commit', ALL, SLOW)

    @harness.long
    def test_image_is_read(self):
        self.check('save', (*ALL, TORN), *READ_AGAIN)

    @harness.long
    def test_image_is_removed(self):
        """What stays is found by the sweep."""
        for kind, more in ALL:
            image = self.commit(f'remove image, {test_engine.told(kind, more)}',
                                self.fault('remove image', kind, more), True)
            self.assertEqual(kind not in (K.DELAY, K.LOSE), bool(self.left(image)))
            commit.sweep(self.node)
            self.assertEqual([], self.left(image))


class ArchiveTest(ChangeTestCase):
    """One place for archives: a call that kept it would be the last one."""

    def serve(self, url):
        self.config(group='compute', stream_workers=1)
        super().serve(url)

    def put(self, text):
        data = base64.b64encode(real.tar({'sauce': text})).decode()
        self.client.container_put_archive(self.context, base.HOST, self.container.uuid, '/tmp',
                                          [data])

    def get(self):
        answer = self.client.container_get_archive(self.context, base.HOST, self.container.uuid,
                                                   '/tmp/sauce')
        return real.untar(b''.join(base64.b64decode(part) for part in answer['data']))

    @harness.long
    def test_put(self):
        for number, (kind, more) in enumerate(ALL):
            text = str(number).encode()
            self.fault('put', kind, more)
            if kind is K.DELAY:
                self.put(text)
            else:
                self.assertRaises(exception.ZunException, self.put, text)
                self.put(text)
            self.assertEqual({'sauce': text}, self.get())
            self.assert_owned(self.container, states.RUNNING)
            self.note('put_archive', test_engine.told(kind, more),
                      'done' if kind is K.DELAY else 'the caller is told, done when repeated')

    @harness.long
    def test_get(self):
        text = b'hot' * 100000
        self.put(text)
        for fault in (*ALL, TORN):
            self.fault('get', *fault)
            done = fault in READ_AGAIN
            if not done:
                self.assertRaises(exception.ZunException, self.get)
            self.assertEqual({'sauce': text}, self.get())
            self.assert_owned(self.container, states.RUNNING)
            self.note('get_archive', test_engine.told(*fault),
                      'done' if done else 'the caller is told, done when repeated')


class PullTest(test_engine.EngineTestCase):
    def setUp(self):
        super().setUp()
        self.registry = self.useFixture(docker_registry.Registry())
        self.config(group='docker', pull_idle_timeout=2)

    def image(self, number):
        """Name of a new image in the registry."""
        self.registry.push(f'pulled-{number}', text=str(number))
        return self.registry.name(f'pulled-{number}')

    def pull(self, image):
        """The row at the end of a pull."""
        row = objects.Image.get_by_uuid(self.admin, image.uuid)
        row.status = states.PULLING
        row.save(self.admin)
        self.client.image_pull(self.context, base.HOST, image.uuid)
        return real.wait_for('the end of the pull', lambda: self.pulled(image))

    def pulled(self, image):
        row = objects.Image.get_by_uuid(self.admin, image.uuid)
        return None if row.status == states.PULLING else row

    @harness.long
    def test_image_of_an_administrator(self):
        for number, (kind, more) in enumerate((*ALL, TORN)):
            name = self.image(number)
            image = objects.Image(
                self.context, uuid=uuidutils.generate_uuid(), repo=name, tag='latest',
                host=base.HOST, project_id='project', user_id='user')
            image.pull(self.context)
            fault = self.fault('pull', kind, more)
            row = self.pull(image)
            self.assertTrue(fault.met)
            if kind is not K.DELAY:
                self.assertEqual(states.ERROR, row.status)
                self.assertIn('Pull failed', row.status_reason)
                row = self.pull(image)
            self.assertEqual((states.AVAILABLE, None), (row.status, row.status_reason))
            self.assertEqual(self.docker.api.inspect_image(f'{name}:latest')['Id'], row.image_id)
            self.note('image_pull', test_engine.told(kind, more),
                      'there' if kind is K.DELAY else 'Error, with its reason; there when repeated')

    @harness.long
    def test_image_of_a_create(self):
        for number, (kind, more) in enumerate(ALL):
            container = self.placed(image=self.image(number), image_pull_policy='always',
                                    command=_FOREVER)
            fault = self.fault('pull', kind, more)
            self.client.container_create(self.context, base.HOST, container.uuid, 0)
            self.while_it_lasts(fault)
            if kind is K.DELAY:
                self.wait_for(container, states.RUNNING)
                self.assert_owned(container, states.RUNNING)
            else:
                real.wait_for('the scheduler to be asked', lambda c=container: (
                    c.uuid, 1) in self.scheduler.asked)
                self.assertIsNone(self.wait_for(container, states.CREATING).host)
                self.assertEqual(([], []), (self.behind(container), self.allocated(container)))
            self.note('create', f'pull, {test_engine.told(kind, more)}',
                      'Running' if kind is K.DELAY else 'handed back to the scheduler')


class PullOfRebuildTest(RebuildTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='docker', pull_idle_timeout=2)

    def running(self, **columns):
        registry = self.useFixture(docker_registry.Registry())
        registry.push('rebuilt')
        return super().running(image=registry.name('rebuilt'), image_pull_policy='always',
                               command=_FOREVER, **columns)

    @harness.long
    def test_image_is_pulled(self):
        self.check('pull', SLOW)
