# SPDX-License-Identifier: Apache-2.0
from zun import objects
from zun.common import exception
from zun.common import units
from zun.placement import client
from zun.placement import ledger
from zun.scheduler import filters
from zun.scheduler import host_state
from zun.scheduler import request
from zun.tests import base
from zun.tests import vectors

CONSUMER = ledger.Consumer('c', 'p', 'u')
HostState = host_state.HostState


def wanted(**values):
    return request.Request(CONSUMER, client.Group({}), **values)


def named(name):
    return {cls.__name__: cls for cls in filters.all_filters()}[name]()


class RecordedTest(base.TestCase):
    def test_filters(self):
        count = 0
        for args, result, status in vectors.of('scheduler_filter'):
            count += 1
            container, extra = args['container'], args['extra_spec']
            asked = wanted(cpu=container.get('cpu') or 0.0,
                           memory=units.memory_mib(container.get('memory')),
                           disk=container.get('disk') or 0, runtime=container.get('runtime'),
                           zone=extra.get('availability_zone'), hints=extra.get('hints') or {})
            passes = named(args['filter']).host_passes(HostState(**args['host']), asked)
            with self.subTest(args=args):
                if result is None:  # the reference crashed: nothing in a host can make ours
                    self.assertIsNone(status)
                    self.assertEqual(not asked.runtime, passes)
                else:
                    self.assertEqual(result['passes'], passes)
        self.assertEqual(24, count)

    def test_liveness(self):
        count = 0
        for args, result, _status in vectors.of('service_is_up'):
            count += 1
            self.config(service_down_time=args['service_down_time'])
            seconds = args['seconds_since_last_seen']
            if seconds is None:
                seconds = args['seconds_since_updated']
            host = HostState(seconds_since_seen=seconds, forced_down=args['forced_down'])
            with self.subTest(args=args):
                self.assertEqual(result, host.up)
        self.assertEqual(17, count)


class ComputeFilterTest(base.TestCase):
    def test_disabled_down_and_never_seen(self):
        self.config(service_down_time=60)
        for values, passes in (({'seconds_since_seen': 1.0}, True),
                               ({'seconds_since_seen': 1.0, 'disabled': True}, False),
                               ({'seconds_since_seen': 61.0}, False),
                               ({'seconds_since_seen': 1.0, 'forced_down': True}, False),
                               ({'seconds_since_seen': None}, False),
                               ({'seconds_since_seen': 1.0, 'disabled': None}, True)):
            self.assertEqual(passes, named('ComputeFilter').host_passes(
                HostState(**values), wanted()), values)


class CpuSetFilterTest(base.TestCase):
    NODES = {'nodes': [
        {'id': 0, 'cpuset': [0, 1, 2, 3], 'pinned_cpus': [0, 1, 2], 'mem_total': 8000,
         'mem_available': 8000},
        {'id': 1, 'cpuset': [4, 5, 6, 7], 'pinned_cpus': [], 'mem_total': 1000,
         'mem_available': 400}]}

    def _passes(self, pinning=True, **values):
        host = HostState(enable_cpu_pinning=pinning, numa_topology=self.NODES)
        return named('CpuSetFilter').host_passes(host, wanted(**values))

    def test_dedicated_needs_cpus_and_memory_of_one_node(self):
        self.assertTrue(self._passes(cpu_policy='dedicated', cpu=1.0, memory=4000))
        self.assertTrue(self._passes(cpu_policy='dedicated', cpu=4.0, memory=400))
        self.assertFalse(self._passes(cpu_policy='dedicated', cpu=2.0, memory=500))
        self.assertFalse(self._passes(cpu_policy='dedicated', cpu=5.0))
        self.assertFalse(self._passes(pinning=False, cpu_policy='dedicated', cpu=1.0))

    def test_fractions_need_a_whole_cpu(self):
        self.assertFalse(self._passes(cpu_policy='dedicated', cpu=1.5, memory=500))

    def test_shared_goes_anywhere(self):
        self.assertTrue(self._passes(cpu_policy='shared'))
        self.assertTrue(self._passes(pinning=False, cpu_policy='shared'))

    def test_host_without_topology(self):
        host = HostState(enable_cpu_pinning=True)
        self.assertFalse(named('CpuSetFilter').host_passes(
            host, wanted(cpu_policy='dedicated', cpu=1.0)))


class PciFilterTest(base.TestCase):
    VF = {'vendor_id': '8086', 'product_id': '1520', 'numa_node': 0, 'count': 2,
          'tags': {'dev_type': 'VF', 'physical_network': 'net1'}}
    PF = {'vendor_id': '8086', 'product_id': '1521', 'numa_node': 0, 'count': 1,
          'tags': {'dev_type': 'PF', 'physical_network': 'net1'}}

    def _passes(self, pools, *requests):
        stored = objects.PciDevicePoolList(
            objects=[objects.PciDevicePool(**pool) for pool in pools]).to_column()
        return named('PciPassthroughFilter').host_passes(
            HostState(pci_stats=stored),
            wanted(pci=tuple(request.PciRequest(n, specs) for n, specs in requests)))

    def test_requests_share_the_pools(self):
        spec = ({'physical_network': 'net1'},)
        self.assertTrue(self._passes([self.VF], (1, spec), (1, spec)))
        self.assertFalse(self._passes([self.VF], (1, spec), (1, spec), (1, spec)))
        self.assertFalse(self._passes([self.VF], (1, ({'physical_network': 'net2'},))))

    def test_physical_functions_only_when_asked_for(self):
        self.assertFalse(self._passes([self.PF], (1, ({'physical_network': 'net1'},))))
        self.assertTrue(self._passes(
            [self.PF], (1, ({'physical_network': 'net1', 'dev_type': 'PF'},))))

    def test_old_forms_and_nothing(self):
        flat = {'vendor_id': '8086', 'product_id': '1520', 'count': 1, 'dev_type': 'VF'}
        for stored, passes in (([flat], True), (flat, True), (None, False), ([], False)):
            self.assertEqual(passes, named('PciPassthroughFilter').host_passes(
                HostState(pci_stats=stored),
                wanted(pci=(request.PciRequest(1, ({'vendor_id': '8086'},)),))), stored)
        self.assertTrue(named('PciPassthroughFilter').host_passes(HostState(), wanted()))


class AffinityFilterTest(base.TestCase):
    def test_hosts_of_other_containers(self):
        affinity = named('AffinityFilter')
        host = HostState(hostname='a')
        for values, passes in (({}, True), ({'same_hosts': frozenset('a')}, True),
                               ({'same_hosts': frozenset('b')}, False),
                               ({'same_hosts': frozenset()}, False),
                               ({'different_hosts': frozenset('b')}, True),
                               ({'different_hosts': frozenset('ab')}, False)):
            self.assertEqual(passes, affinity.host_passes(host, wanted(**values)), values)


class LoadTest(base.TestCase):
    def test_the_default_and_every_single_import_path(self):
        available = self.CONF.scheduler.available_filters
        loaded = filters.load(available, self.CONF.scheduler.enabled_filters)
        self.assertEqual(['AvailabilityZoneFilter', 'ComputeFilter', 'RuntimeFilter'],
                         [type(item).__name__ for item in loaded])
        for cls in filters.all_filters():
            path = f'{cls.__module__}.{cls.__name__}'
            self.assertIsInstance(filters.load([path], [cls.__name__])[0], cls)

    def test_unknown_names(self):
        self.assertRaises(exception.SchedulerHostFilterNotFound, filters.load,
                          ['zun.scheduler.filters.all_filters'], ['NoSuchFilter'])
        self.assertRaises(exception.ConfigInvalid, filters.load, ['zun.no.such'], [])

    def test_filters_that_a_request_needs_are_added_once(self):
        enabled = filters.load(['zun.scheduler.filters.all_filters'], ['PciPassthroughFilter'])
        asked = wanted(pci=(request.PciRequest(1, ()),), same_hosts=frozenset(),
                       cpu_policy='dedicated', runtime='runsc', hints={'label:disk': 'ssd'})
        self.assertEqual(['PciPassthroughFilter', 'CpuSetFilter', 'RuntimeFilter',
                          'AffinityFilter', 'LabelFilter'],
                         [type(item).__name__ for item in filters.needed(asked, enabled)])
        self.assertEqual(enabled, filters.needed(wanted(), enabled))

    def test_survivors_and_how_many_each_filter_left(self):
        self.config(service_down_time=60)
        hosts = [HostState('a', seconds_since_seen=1, availability_zone='z', runtimes=['runc']),
                 HostState('b', seconds_since_seen=1, availability_zone='y', runtimes=['runc']),
                 HostState('c', seconds_since_seen=99, availability_zone='z')]
        chain = filters.load(['zun.scheduler.filters.all_filters'],
                             self.CONF.scheduler.enabled_filters)
        left, trail = filters.survivors(hosts, wanted(zone='z'), chain)
        self.assertEqual(['a'], [host.hostname for host in left])
        self.assertEqual([('AvailabilityZoneFilter', 2), ('ComputeFilter', 1),
                          ('RuntimeFilter', 1)], list(trail.items()))
        left, trail = filters.survivors(hosts, wanted(zone='x'), chain)
        self.assertEqual(([], {'AvailabilityZoneFilter': 0}), (left, trail))
