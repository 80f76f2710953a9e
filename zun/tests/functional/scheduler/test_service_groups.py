# SPDX-License-Identifier: Apache-2.0
"""A small cloud in one process: two agents with engines in memory, a scheduler, the API's control.

They meet on oslo.messaging's in-memory bus and in one database, as separate processes do.
"""

import dataclasses
import threading
import time

import fixtures
from oslo_messaging import conffixture
import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import exception
from zun.common import policy
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import service as compute_service
from zun.compute import sweep
from zun.control import clients
from zun.control import containers
from zun.control import hosts
from zun.control import services
from zun.db import engine
from zun.db import models
from zun.network import embedded
from zun.placement import local
from zun.rpc import compute as rpc_compute
from zun.rpc import scheduler as rpc_scheduler
from zun.rpc import transport
from zun.scheduler import manager
from zun.scheduler import service as scheduler_service
from zun.tests.functional import database
from zun.tests.functional import engine as real
from zun.tests.functional.scheduler import agreement
from zun.tests.functional.scheduler import cloud

load_tests = testscenarios.load_tests_apply_scenarios

BINARY = 'zun-compute'


def build(scheduler, host):
    """A node whose engine knows its own name."""
    node = compute_node.build(scheduler, host)
    node.engine.host = dataclasses.replace(node.engine.host, name=host)
    return node


class CloudTestCase(database.TestCase):
    """Hosts a and b of 4 CPUs and 8 GiB.

    :ivar agents: name -> service
    """

    scenarios = [found for found in database.TestCase.scenarios if found[0] != 'postgresql']

    def setUp(self):
        super().setUp()
        self.addCleanup(transport.close)
        self.useFixture(conffixture.ConfFixture(self.CONF)).transport_url = 'fake:/'
        self.config(host='control', state_path=self.useFixture(fixtures.TempDir()).path,
                    container_driver='fake', image_driver_list=['docker'], report_interval=1,
                    periodic_interval_max=1)
        self.config(group='volume', driver_list=['local'])
        self.config(group='network', driver='embedded')
        self.config(group='embedded_network', allow_multiple_hosts=True)
        self.config(group='compute', initial_cpu_allocation_ratio=1.0,
                    default_image_pull_policy='ifnotpresent')
        self.config(group='scheduler', ledger='local', mode='service', reap_interval=1,
                    reap_after=2)
        for module, name in ((sweep, 'INTERVAL'), (compute_service, '_FIRST_PAUSE'),
                             (scheduler_service, '_FIRST_PAUSE')):
            self.useFixture(fixtures.MockPatchObject(module, name, 0.2))
        policy.reset()
        self.addCleanup(policy.reset)
        self.books = local.LocalLedger()
        self.addCleanup(agreement.check, self, self.books)
        clients.use(clients.Clients(
            compute=rpc_compute.Client(), scheduler=rpc_scheduler.Client(),
            network=embedded.EmbeddedDriver(), volumes=None, images=None, ledger=self.books))
        self.addCleanup(clients.use, None)
        self.agents = {}
        for name in 'ab':
            self.start(name)
        self.scheduler()

    def start(self, name):
        agent = compute_service.ComputeService(host=name, build=build)
        self.addCleanup(agent.stop)
        agent.start()
        self.assertTrue(agent.ready.wait(20))
        self.agents[name] = agent
        self.wait(f'the report of {name}', lambda: self.service(name) and self.offered(name))

    def scheduler(self):
        made = scheduler_service.SchedulerService(
            lambda: (manager.Manager(self.books, rpc_compute.Client()), self.books))
        self.addCleanup(made.stop)
        made.start()

    def wait(self, what, check, seconds=30):
        return real.wait_for(what, check, seconds)

    # Looking --------------------------------------------------------------------------------------

    def service(self, name):
        """The row of an agent that has reported; else None."""
        try:
            found = objects.ZunService.get_by_host_and_binary(self.admin, name, BINARY)
        except exception.ZunServiceNotFound:
            return None
        return found if found.report_count else None

    def offered(self, name):
        return [row for row in local.local_allocations.providers() if row['name'] == name
                and row['vcpu']]

    def row(self, uuid):
        return objects.Container.get_by_uuid(self.admin, uuid)

    def running(self, *uuids):
        """Wait until all run; the hosts that they run on."""
        def check():
            found = [self.row(uuid) for uuid in uuids]
            broken = [row.status_reason for row in found if row.status == states.ERROR]
            self.assertEqual([], broken)
            return all(row.status == states.RUNNING and row.task_state is None for row in found)

        self.wait('containers to run', check)
        placed = [self.row(uuid).host for uuid in uuids]
        for uuid, host in zip(uuids, placed, strict=True):
            self.assertTrue(self.agents[host].node.engine.list()[uuid].running)
        return placed

    # Doing ----------------------------------------------------------------------------------------

    def create(self, **values):
        context = cloud.user()
        context.roles = ['member']
        return containers.create(context, {'image': 'busybox', 'cpu': 1.0, 'memory': 512,
                                           'run': True, **values}).uuid

    def lose(self, name):
        """A host dies: what is sent to it is lost, and what it runs is out of sight."""
        self.agents.pop(name).stop()

    def look_old(self, name):
        """An agent has not been heard of for an hour."""
        with engine.writer() as session:
            session.execute(sa.update(models.zun_service).where(
                models.zun_service.c.host == name).values(
                last_seen_up=cloud.clock.utc_now(-3600)))

    def stuck_on(self, name):
        """A container that was placed on a host which then died, before it heard of it."""
        self.assertNotIn(name, self.agents)
        container = cloud.container(host=name, request={'generation': 1, 'run': True},
                                    reap_after=2)
        provider, = [row['rp_uuid'] for row in self.offered(name)]
        self.assertTrue(self.books.claim(
            manager.placement_ledger.Consumer(container.uuid, 'demo', 'alice'),
            manager.placement_ledger.Candidate(
                provider, {provider: {'VCPU': 1, 'MEMORY_MB': 512}}, {}, {})))
        rpc_compute.Client().container_create(cloud.user(), name, container.uuid, 1)
        return container.uuid


class GroupTest(CloudTestCase):
    def test_creates_spread_over_the_hosts_and_stop_when_they_are_full(self):
        placed = self.running(*[self.create() for _ in range(8)])
        self.assertEqual({'a': 4, 'b': 4}, {name: placed.count(name) for name in 'ab'})
        refused = self.create()
        self.wait('the refusal', lambda: self.row(refused).status == states.ERROR)
        self.assertIn(manager.NO_HOST, self.row(refused).status_reason)

    def test_forced_down_while_its_heartbeat_goes_on(self):
        services.force_down(self.admin, 'a', BINARY, True)
        before = self.service('a').report_count
        self.wait('another heartbeat', lambda: self.service('a').report_count > before + 1)
        self.assertFalse(self.service('a').is_up())
        self.assertEqual({'b'}, set(self.running(*[self.create() for _ in range(3)])))
        services.force_down(self.admin, 'a', BINARY, False)
        self.assertTrue(self.service('a').is_up())
        self.assertIn('a', self.running(*[self.create() for _ in range(2)]))

    def test_the_node_keeps_the_ledger_closed(self):
        """The API could not tell the ledger: the node's report does."""
        services.disable(self.admin, 'a', BINARY)
        provider, = [row['rp_uuid'] for row in self.offered('a')]
        self.books.set_disabled(provider, False)
        self.wait('the report', lambda: self.offered('a')[0]['disabled'])
        services.enable(self.admin, 'a', BINARY)
        services.force_down(self.admin, 'a', BINARY, True)
        self.books.set_disabled(provider, False)
        self.wait('the report', lambda: self.offered('a')[0]['disabled'])

    def test_drained(self):
        made = [self.create(host=name) for name in 'aab']
        placed = self.running(*made)
        services.disable(self.admin, 'a', BINARY, 'new fans')
        self.assertEqual({'b'}, set(self.running(self.create(), self.create())))
        left = hosts.report(self.books, 'a')
        self.assertEqual(({'Running': placed.count('a')}, placed.count('a'), True, False),
                         (left.containers, left.consumers, left.closed, left.drained))
        for uuid, host in zip(made, placed, strict=True):
            if host == 'a':
                containers.delete(self.admin, self.row(uuid), force=True)
        self.wait('the drain', lambda: hosts.report(self.books, 'a').drained)

    def test_dead_host_is_judged_by_the_databases_clock(self):
        self.lose('a')
        self.assertTrue(self.service('a').is_up())
        self.look_old('a')
        self.assertFalse(self.service('a').is_up())
        self.assertEqual({'b'}, set(self.running(*[self.create() for _ in range(2)])))


class FailoverTest(CloudTestCase):
    def test_what_a_dead_host_had_not_begun_goes_elsewhere(self):
        for fail in (lambda: services.force_down(self.admin, 'a', BINARY, True),
                     lambda: self.look_old('a')):
            self.lose('a')
            uuid = self.stuck_on('a')
            self.assertEqual('a', self.row(uuid).host)
            fail()
            self.assertEqual(['b'], self.running(uuid))
            asked = objects.ContainerRequest.get(self.admin, uuid)
            self.assertEqual((['a'], 1, True), (
                asked.excluded_hosts, asked.attempts, asked.claimed))
            # the host is back, and finds the message that waited for it: it is void by now
            services.force_down(self.admin, 'a', BINARY, False)
            self.start('a')
            self.agents['a'].node.lifecycle.wait_idle(10)
            self.assertEqual({}, self.agents['a'].node.engine.list())
            self.assertEqual('b', self.row(uuid).host)

    def test_what_a_dead_host_had_begun_waits_for_it(self):
        begun = threading.Event()
        engine_of_a, go = self.agents['a'].node.engine, threading.Event()
        create = engine_of_a.create

        def slow(workload):
            begun.set()
            go.wait(10)
            return create(workload)

        engine_of_a.create = slow
        services.disable(self.admin, 'b', BINARY)
        uuid = self.create()
        self.assertTrue(begun.wait(20))
        services.force_down(self.admin, 'a', BINARY, True)
        services.enable(self.admin, 'b', BINARY)
        cloud.due_in(uuid, -1)
        time.sleep(0)  # let the reaper have the interpreter
        reaped = objects.ContainerRequest.get(self.admin, uuid).retry_at
        self.wait('the reaper', lambda: objects.ContainerRequest.get(
            self.admin, uuid).retry_at > reaped)
        self.assertEqual(('a', states.CREATING), (self.row(uuid).host, self.row(uuid).status))
        go.set()
        self.assertEqual(['a'], self.running(uuid))

    def test_host_that_cannot_run_it_hands_it_on(self):
        for agent in self.agents.values():
            agent.node.engine.fail('create', exception.EngineUnavailable(error_msg='out of order'))
        uuid = self.create()
        self.wait('the end', lambda: self.row(uuid).status in (states.ERROR, states.RUNNING))
        found = self.row(uuid)
        self.assertEqual(states.ERROR, found.status)
        self.assertIn('The last one failed', found.status_reason)
        self.assertIn('out of order', found.status_reason)
        again = self.create()
        self.agents['a'].node.engine.fail(
            'create', exception.EngineUnavailable(error_msg='out of order'))
        self.running(again)
