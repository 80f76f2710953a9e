# SPDX-License-Identifier: Apache-2.0
import io
import time

from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.container import driver
from zun.container import fake
from zun.network import driver as network_driver
from zun.tests import base
from zun.tests.unit.container import contract


class FakeTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.driver = fake.FakeDriver()

    def workload(self, operation, uuid=None, **fields):
        uuid = uuid or uuidutils.generate_uuid()
        return driver.Workload(objects.Container(**{
            'uuid': uuid, 'name': 'test', 'image': 'busybox', 'command': ['sh'], 'cpu': 0.5,
            'memory': '64', 'hostname': None, 'runtime': None, 'entrypoint': [],
            'exposed_ports': {}, 'status': states.CREATING, 'tty': False, **fields}), 'sha256:x',
            operation=operation)


class TestContract(contract.DriverContract, FakeTestCase):
    pass


class TestBehindItsBack(FakeTestCase):
    def setUp(self):
        super().setUp()
        self.container = self.workload('req-1').container
        self.driver.create(driver.Workload(self.container, 'sha256:x', generation=2,
                                           operation='req-1'))
        self.driver.start(self.container)

    def _events_of(self, change):
        with self.driver.events(time.time()) as events:
            change()
            return [event.kind for event in self._until_end(events)]

    def _until_end(self, events):
        self.driver.restart_engine()
        return list(events)

    def test_exit(self):
        self.assertEqual(['changed'], self._events_of(
            lambda: self.driver.exit(self.container.uuid, 3)))
        seen = self.driver.inspect(self.container)
        self.assertEqual((states.STOPPED, 3, False), (seen.status, seen.exit_code, seen.running))

    def test_vanish(self):
        self.assertEqual(['gone'], self._events_of(
            lambda: self.driver.vanish(self.container.uuid)))
        self.assertRaises(exception.EngineGone, self.driver.inspect, self.container)

    def test_health(self):
        self.assertEqual(['changed'], self._events_of(
            lambda: self.driver.set_health(self.container.uuid, 'unhealthy')))
        self.assertEqual('unhealthy', self.driver.inspect(self.container).health)

    def test_engine_that_restarts_has_no_history(self):
        begun = time.time()
        self.driver.stop(self.container, 1)
        self.driver.restart_engine()
        self.driver.start(self.container)
        with self.driver.events(begun - 10) as events:
            self.assertEqual(1, len(self._until_end(events)))

    def test_planned_failures(self):
        self.driver.fail('stop', exception.EngineUnavailable(error_msg='x'),
                         exception.Conflict('y'))
        self.assertRaises(exception.EngineUnavailable, self.driver.stop, self.container, 1)
        self.assertRaises(exception.Conflict, self.driver.stop, self.container, 1)
        self.assertEqual(states.STOPPED, self.driver.stop(self.container, 1).status)

    def test_output(self):
        self.driver.write(self.container.uuid, 'one\ntwo\n')
        into = io.BytesIO()
        self.driver.logs(self.container, True, True, False, 1, None, into)
        self.assertEqual(b'two\n', into.getvalue())

    def test_files(self):
        self.driver.put_archive(self.container, '/tmp', b'tar')
        into = io.BytesIO()
        stat = self.driver.get_archive(self.container, '/tmp', into)
        data = into.getvalue()
        self.assertEqual((b'tar', 'tmp', 3), (data, stat['name'], stat['size']))

    def test_images(self):
        found = self.driver.pull_image('busybox', 'latest')
        self.assertEqual(found, self.driver.pull_image('busybox', 'latest'))
        self.assertEqual(found, self.driver.find_image('busybox:latest'))
        self.assertEqual(found, self.driver.find_image(found))
        self.assertEqual('busybox', self.driver.search_images('busy')[0]['name'])
        self.driver.remove_image('busybox:latest')
        self.assertIsNone(self.driver.find_image('busybox:latest'))
        self.driver.missing.add('nothing')
        self.assertRaises(exception.ImageNotFound, self.driver.pull_image, 'nothing', 'latest')

    def test_networks(self):
        network = network_driver.EngineNetwork('n', 'br', '10.0.0.0/24', '10.0.0.1', 1500, {})
        attachment = network_driver.Attachment('id', (), engine_network='n')
        self.assertRaises(exception.NotFound, self.driver.connect, self.container, attachment)
        self.assertEqual(self.driver.create_network(network), self.driver.create_network(network))
        self.driver.connect(self.container, attachment)
        self.assertRaises(exception.Conflict, self.driver.remove_network, 'n')
        self.driver.disconnect(self.container, 'n')
        self.driver.disconnect(self.container, 'n')
        self.driver.remove_network('n')
