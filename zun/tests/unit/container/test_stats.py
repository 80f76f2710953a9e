# SPDX-License-Identifier: Apache-2.0
from zun.common import exception
from zun.container.docker import stats
from zun.tests import base
from zun.tests import vectors

MIB = 1 << 20


def _engine(total=0, system=0, before_total=0, before_system=0, **cpu):
    return {
        'cpu_stats': {'cpu_usage': {'total_usage': total}, 'system_cpu_usage': system, **cpu},
        'precpu_stats': {'cpu_usage': {'total_usage': before_total},
                         'system_cpu_usage': before_system},
        'memory_stats': {'usage': 64 * MIB, 'limit': 128 * MIB}}


class TestRecorded(base.TestCase):
    def test_samples(self):
        """All but the CPU: the old formula told the mean since the host was booted, and failed
        on a container that does not run. These vectors have one sample only, of which ours makes
        nothing.
        """
        seen = 0
        for vector in vectors.recorded('docker_stats'):
            args = vector['args']
            if not args['docker']['memory_stats']:
                self.assertRaises(exception.Conflict, stats.sample, args['name'], args['docker'])
                continue
            found = stats.sample(args['name'], args['docker'])
            self.assertEqual(0.0, found['CPU %'])
            if 'result' in vector:
                self.assertEqual({**vector['result'], 'CPU %': 0.0}, found)
                seen += 1
        self.assertEqual(5, seen)


class TestCpu(base.TestCase):
    def percent(self, **values):
        return stats.sample('web', _engine(**values))['CPU %']

    def test_share_of_one_cpu_between_the_samples(self):
        for values, expected in (
                # one of two CPUs busy for the second between the samples
                ({'total': 11, 'before_total': 10, 'system': 102, 'before_system': 100,
                  'online_cpus': 2}, 100.0),
                ({'total': 12, 'before_total': 10, 'system': 102, 'before_system': 100,
                  'online_cpus': 2}, 200.0),
                ({'total': 10, 'before_total': 10, 'system': 102, 'before_system': 100,
                  'online_cpus': 2}, 0.0)):
            self.assertEqual(expected, self.percent(**values))

    def test_one_sample_says_nothing(self):
        self.assertEqual(0.0, self.percent(total=10, system=100, online_cpus=2))

    def test_samples_in_the_wrong_order(self):
        self.assertEqual(0.0, self.percent(total=1, before_total=2, system=100, before_system=90))
        self.assertEqual(0.0, self.percent(total=2, before_total=1, system=90, before_system=100))

    def test_number_of_cpus_of_older_engines(self):
        sample = _engine(total=11, before_total=10, system=102, before_system=100)
        sample['cpu_stats']['cpu_usage']['percpu_usage'] = [1, 1, 1, 1]
        self.assertEqual(200.0, stats.sample('web', sample)['CPU %'])


class TestMemory(base.TestCase):
    def test_cache_that_can_be_dropped(self):
        for details, used in (
                ({'total_inactive_file': 10, 'inactive_file': 1}, 90), ({'inactive_file': 20}, 80),
                ({}, 100), ({'inactive_file': 500}, 0), (None, 100)):
            self.assertEqual(used, stats.memory_used(
                {'memory_stats': {'usage': 100, 'stats': details}}))

    def test_not_running(self):
        self.assertEqual(0, stats.memory_used({'memory_stats': {}}))
        self.assertEqual(0, stats.memory_used({}))

    def test_without_limit(self):
        sample = _engine()
        sample['memory_stats']['limit'] = 0
        self.assertEqual(0.0, stats.sample('web', sample)['MEM %'])
