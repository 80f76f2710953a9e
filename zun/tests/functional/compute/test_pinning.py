# SPDX-License-Identifier: Apache-2.0
"""Pinned CPUs, from the claim to the engine."""

import concurrent.futures

import fixtures

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import numa
from zun.compute import operations
from zun.scheduler import host_state
from zun.scheduler import request as scheduler_request
from zun.scheduler.filters import cpuset_filter
from zun.tests.functional.compute import base


def four_cpus(root=None):
    return objects.NUMATopology(nodes=[objects.NUMANode(
        id=0, cpuset={0, 1, 2, 3}, pinned_cpus=set(), mem_total=8192, mem_available=8192)])


class PinningTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='compute', enable_cpu_pinning=True)
        self.useFixture(fixtures.MonkeyPatch('zun.compute.numa.topology', four_cpus))
        self.tracker.refresh()

    def dedicated(self, cpu=1.0, **columns):
        return self.created(cpu=cpu, cpu_policy='dedicated', **columns)

    def cpus(self, container):
        return self.row(container).cpuset.cpuset_cpus

    def on_engine(self, container):
        return self.engine._boxes[container.uuid].cpus

    def test_each_has_its_own(self):
        one, two = self.dedicated(), self.dedicated(2.0)
        self.assertEqual((states.RUNNING, {1}, {2, 3}),
                         (one.status, self.cpus(one), self.cpus(two)))
        self.assertEqual({0}, self.row(one).cpuset.cpuset_mems)

    def test_host_that_is_full(self):
        self.dedicated(2.0)
        refused = self.dedicated(2.0)
        self.assertEqual([(refused.uuid, 1)], self.scheduler.asked)
        self.assertIn('free CPUs', refused.status_reason)

    def test_host_that_does_not_pin(self):
        self.config(group='compute', enable_cpu_pinning=False)
        refused = self.dedicated()
        self.assertEqual([(refused.uuid, 1)], self.scheduler.asked)

    def test_many_at_once(self):
        made = [self.placed(cpu=1.0, cpu_policy='dedicated') for _ in range(3)]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda c: operations.submit(
                self.node, self.context, c.uuid, 'create', generation=0), made))
        self.assertEqual([states.RUNNING] * 3, [self.settled(c).status for c in made])
        self.assertEqual([{1}, {2}, {3}], sorted((self.cpus(c) for c in made), key=min))

    def test_others_share_what_is_left(self):
        before = self.created()
        self.assertEqual({0, 1, 2, 3}, self.on_engine(before))
        pinned = self.dedicated(2.0)
        after = self.created()
        self.assertEqual(({0, 3}, {0, 3}), (self.on_engine(before), self.on_engine(after)))
        self.run_operation(pinned, 'delete', states.DELETING, force=False, stop=False)
        self.tracker.refresh()
        self.assertEqual({0, 1, 2, 3}, self.on_engine(before))

    def test_delete_gives_them_back_and_rebuild_keeps_them(self):
        one, two = self.dedicated(), self.dedicated()
        self.run_operation(one, 'delete', states.DELETING, force=False, stop=False)
        self.run_operation(two, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual({2}, self.cpus(two))
        self.assertEqual({1}, self.cpus(self.dedicated()))

    def test_number_of_cpus_stays(self):
        one = self.dedicated()
        self.assertRaises(exception.Conflict, operations.change, self.node, self.context,
                          one.uuid, {'cpu': 2.0})
        operations.change(self.node, self.context, one.uuid, {'memory': '48'})
        self.assertEqual(({1}, '48'), (self.cpus(one), self.row(one).memory))

    def test_row_of_the_host_and_scheduler_agree(self):
        def passes(cpu):
            container = objects.Container(
                uuid='u', project_id='p', user_id='u', cpu=cpu, memory='32', disk=0,
                cpu_policy='dedicated', runtime=None)
            wanted = scheduler_request.build(container, self.asked(pinned))
            host = host_state.HostState(enable_cpu_pinning=True, numa_topology=row.to_column())
            return cpuset_filter.CpuSetFilter().host_passes(host, wanted)
        pinned = self.dedicated(2.0)
        self.tracker.refresh()
        row = objects.ComputeNode.get_by_name(self.admin, base.HOST).numa_topology
        self.assertEqual([([1, 2, 3], [1, 2])], [
            (sorted(node.cpuset), sorted(node.pinned_cpus)) for node in row.nodes])
        self.assertEqual((True, False), (passes(1.0), passes(2.0)))


class EngineTest(base.NodeTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.config(group='compute', enable_cpu_pinning=True)
        if len([cpu for node in numa.topology().nodes for cpu in node.cpuset]) < 2:
            self.skipTest('it takes two CPUs')

    def test_on_the_engine(self):
        shared = self.created()
        pinned = self.created(cpu=1.0, cpu_policy='dedicated')
        self.assertEqual(states.RUNNING, pinned.status, pinned.status_reason)
        cpus, mems = pinned.cpuset.cpuset_cpus, pinned.cpuset.cpuset_mems
        config = self.docker.inspect(pinned)['HostConfig']
        self.assertEqual((','.join(map(str, cpus)), ','.join(map(str, mems))),
                         (config['CpusetCpus'], config['CpusetMems']))
        left = numa.cpu_list(self.docker.inspect(shared)['HostConfig']['CpusetCpus'])
        self.assertTrue(left)
        self.assertEqual(set(), left & cpus)
        made = self.docker.api.exec_create(f'zun-{pinned.uuid}', [
            'sh', '-c', 'grep Cpus_allowed_list /proc/self/status'])
        allowed = self.docker.api.exec_start(made['Id']).decode().split()[-1]
        self.assertEqual(cpus, numa.cpu_list(allowed))
