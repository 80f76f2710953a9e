# SPDX-License-Identifier: Apache-2.0
"""The whole agent: start, heartbeat, messages, end."""

import os
import pathlib
import time

import fixtures

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import heartbeat
from zun.compute import service
from zun.container import fake
from zun.rpc import compute as rpc_compute
from zun.rpc import transport
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class ServiceTestCase(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(service, '_FIRST_PAUSE', 0.05))
        self.config(report_interval=1)
        self.addCleanup(transport.close)
        self.memory = fake.FakeDriver()
        self.useFixture(fixtures.MonkeyPatch(
            'zun.container.driver.load', lambda: self.memory))

    def service(self):
        made = service.ComputeService(self.scheduler)
        self.addCleanup(made.stop)
        return made

    def started(self):
        made = self.service()
        made.start()
        self.assertTrue(made.ready.wait(20))
        self.node = made.node
        return made

    def up(self):
        try:
            found = objects.ZunService.get_by_host_and_binary(
                self.admin, base.HOST, heartbeat.BINARY)
        except exception.ZunServiceNotFound:
            return None
        return found if found.last_seen_up else None


class StartTest(ServiceTestCase):
    def test_serves_and_reports(self):
        self.config(default_availability_zone='east')
        self.started()
        row = real.wait_for('the heartbeat', self.up)
        self.assertEqual(('east', False), (row.availability_zone, row.disabled))
        real.wait_for('the next one', lambda: self.up().report_count > row.report_count)
        container = self.placed()
        client = rpc_compute.Client()
        client.container_create(self.context, base.HOST, container.uuid, 0)
        real.wait_for('the create', lambda: self.row(container).status == states.RUNNING)
        self.assertEqual('PID', client.container_top(
            self.context, base.HOST, container.uuid, None)['Titles'][0])
        client.container_update(self.context, base.HOST, container.uuid, {'memory': '40'})
        self.assertEqual('40', self.row(container).memory)
        error = self.assertRaises(exception.NotFound, client.container_get_archive,
                                  self.context, base.HOST, container.uuid, '/nope')
        self.assertIn('/nope', error.message)
        self.memory.exit(container.uuid, 1)
        real.wait_for('the exit', lambda: self.row(container).status == states.STOPPED, 1)

    def test_waits_for_the_engine(self):
        self.memory.fail('check', DOWN, DOWN, DOWN)
        made = self.service()
        began = time.monotonic()
        made.start()
        self.assertLess(time.monotonic() - began, 1)
        self.assertFalse(made.ready.is_set())
        self.assertIsNone(self.up())
        self.assertTrue(made.ready.wait(20))

    def test_containers_of_another_network_driver(self):
        container = self.placed()
        container.addresses = {'net': [{'addr': '10.0.0.2', 'version': 4, 'port': 'of-neutron',
                                        'subnet_id': None, 'preserve_on_delete': True}]}
        container.save(self.admin)
        log = self.useFixture(fixtures.FakeLogger('zun.compute.service'))
        made = self.service()
        made.start()
        real.wait_for('the refusal', lambda: f'({container.uuid} ...)' in log.output)
        self.assertFalse(made.ready.is_set())
        self.assertIsNone(self.up())
        container.addresses = {}
        container.save(self.admin)
        self.assertTrue(made.ready.wait(20))

    def test_takes_up_what_was_left_before_it_serves(self):
        made = [self.placed() for _ in range(3)]
        self.started()
        for container in made:
            real.wait_for('the create',
                          lambda c=container: self.row(c).status == states.RUNNING)

    def test_stops_what_moved_away_before_it_serves(self):
        container = self.placed(host='node-2')
        container.status = states.RUNNING
        container.save(self.admin)
        self.memory.create(base.container_driver.Workload(container, 'image'))
        self.memory.start(container)
        box = self.memory._boxes[container.uuid]
        box.seen = base.dataclasses.replace(box.seen, host=base.HOST)
        self.started()
        self.assertFalse(self.memory.inspect(container).running)
        self.assertEqual(states.RUNNING, self.row(container).status)

    def test_mounts_again_after_a_reboot(self):
        container = self.placed()
        mapping = objects.VolumeMapping(
            self.context, container_uuid=container.uuid, container_path='/etc/sauce',
            volume_provider='local', contents='c2F1Y2U=', project_id='project', user_id='user')
        mapping.create(self.context)
        container.status = states.RUNNING
        container.save(self.admin)
        self.started()
        uuid = mapping.volume.uuid
        path = pathlib.Path(self.CONF.volume.volume_dir) / uuid / uuid
        self.assertEqual(b'sauce', path.read_bytes())

    def test_no_sign_of_life_without_the_engine(self):
        made = self.started()
        before = real.wait_for('the heartbeat', self.up).report_count
        self.memory.fail('check', *[DOWN] * 3)
        beat = heartbeat.Heartbeat(made.node, made.ready.is_set)
        beat.beat()
        self.assertLessEqual(self.up().report_count, before + 1)

    def test_a_deleted_service_row_is_made_anew(self):
        self.started()
        real.wait_for('the heartbeat', self.up).destroy()
        real.wait_for('a new row', self.up)

    def test_a_second_agent_of_this_host_is_refused(self):
        self.service()
        error = self.assertRaises(exception.ConfigInvalid, service.ComputeService)
        self.assertIn(f'Another zun-compute runs for host {base.HOST}', error.message)
        self.config(host='node-3')
        self.service()

    def test_a_state_path_that_cannot_be_used(self):
        self.config(state_path=os.devnull)
        error = self.assertRaises(exception.ConfigInvalid, service.ComputeService)
        self.assertIn('state_path', error.message)


class StopTest(ServiceTestCase):
    def test_idle(self):
        made = self.started()
        real.wait_for('the heartbeat', self.up)
        began = time.monotonic()
        made.stop()
        self.assertLess(time.monotonic() - began, 2)
        made.wait()
        service.ComputeService(self.scheduler).stop()  # the lock is free again

    def test_while_it_waits_for_the_engine(self):
        self.memory.fail('check', *[DOWN] * 1000)
        made = self.service()
        made.start()
        began = time.monotonic()
        made.stop()
        self.assertLess(time.monotonic() - began, 2)

    def test_what_runs_gets_its_time_and_the_rest_waits_for_the_next_start(self):
        self.config(graceful_shutdown_timeout=10)
        self.config(group='compute', lifecycle_workers=1)
        made = self.started()
        containers = [self.created(), self.created()]
        self.memory.delay = 0.3
        for container in containers:
            context = self.accept(container, 'stop', timeout=1)
            base.operations.submit(made.node, context, container.uuid, 'stop', timeout=1)
        real.wait_for('the first', lambda: self.row(
            containers[0]).task_state == states.CONTAINER_STOPPING)
        made.stop()
        self.assertEqual([(states.STOPPED, None), (states.RUNNING, 'stop')], [
            (self.row(c).status, self.asked(c).operation) for c in containers])
        self.memory.delay = 0.0
        self.started()
        real.wait_for('the second', lambda: self.row(containers[1]).status == states.STOPPED)
