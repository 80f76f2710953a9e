# SPDX-License-Identifier: Apache-2.0
import collections

from zun.placement import client
from zun.placement import ledger
from zun.scheduler import host_state
from zun.scheduler import request
from zun.scheduler import weighers
from zun.tests import base

WANTED = request.Request(ledger.Consumer('c', 'p', 'u'),
                         client.Group({'VCPU': 1, 'MEMORY_MB': 512}))


def host(name, cpu=0, ram=0, disk=0, containers=0, size=16):
    capacity = {'VCPU': size, 'MEMORY_MB': size * 1024, 'DISK_GB': size * 10}
    used = {'VCPU': cpu, 'MEMORY_MB': ram, 'DISK_GB': disk}
    return host_state.HostState(
        name, running_containers=containers,
        candidates=[ledger.Candidate(name, {name: WANTED.resources}, capacity, used)])


def names(hosts):
    return [item.hostname for item in hosts]


class OrderTest(base.TestCase):
    def test_spread_takes_the_emptiest_and_pack_the_fullest(self):
        hosts = [host('half', cpu=8, ram=8192), host('empty'), host('busy', cpu=15, ram=15000)]
        self.assertEqual(['empty', 'half', 'busy'], names(weighers.ordered(hosts, WANTED)))
        self.config(group='scheduler', host_weight_policy='pack')
        self.assertEqual(['busy', 'half', 'empty'], names(weighers.ordered(hosts, WANTED)))

    def test_multipliers_choose_the_resource(self):
        hosts = [host('cpu-free', ram=12000), host('ram-free', cpu=12)]
        self.config(group='scheduler', cpu_weight_multiplier=5.0)
        self.assertEqual('cpu-free', weighers.ordered(hosts, WANTED)[0].hostname)
        self.config(group='scheduler', cpu_weight_multiplier=0.0)
        self.assertEqual('ram-free', weighers.ordered(hosts, WANTED)[0].hostname)

    def test_disk_and_number_of_containers_when_asked_for(self):
        hosts = [host('a', disk=100, containers=0), host('b', disk=0, containers=30)]
        self.config(group='scheduler', cpu_weight_multiplier=0, ram_weight_multiplier=0,
                    disk_weight_multiplier=1.0)
        self.assertEqual(['b', 'a'], names(weighers.ordered(hosts, WANTED)))
        self.config(group='scheduler', disk_weight_multiplier=0,
                    containers_weight_multiplier=1.0)
        self.assertEqual(['a', 'b'], names(weighers.ordered(hosts, WANTED)))

    def test_what_is_left_counts_not_what_is_used(self):
        hosts = [host('small', size=2), host('large', cpu=2, ram=2048, size=64)]
        self.assertEqual(['large', 'small'], names(weighers.ordered(hosts, WANTED)))

    def test_equal_hosts_come_in_random_order(self):
        hosts = [host(name) for name in 'abcd'] + [host('full', cpu=15, ram=16000)]
        first = collections.Counter()
        for _round in range(400):
            ordered = names(weighers.ordered(hosts, WANTED))
            self.assertEqual('full', ordered[-1])
            first[ordered[0]] += 1
        # 100 each are expected; 50 is six standard deviations away
        self.assertEqual(set('abcd'), set(first))
        self.assertGreater(min(first.values()), 50)

    def test_without_weighers_every_host_is_equal(self):
        self.config(group='scheduler', cpu_weight_multiplier=0, ram_weight_multiplier=0)
        self.assertEqual(0.0, weighers.weight(host('a'), WANTED))

    def test_a_resource_that_is_not_offered_is_not_free(self):
        bare = host_state.HostState(candidates=[ledger.Candidate('a', {}, {}, {})])
        self.assertEqual(0.0, weighers.weight(bare, WANTED))
