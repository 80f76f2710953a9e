# SPDX-License-Identifier: Apache-2.0
"""Which CPUs a dedicated container gets."""

from zun import objects
from zun.common import exception
from zun.compute import pinning
from zun.tests import base


def nodes(*pairs):
    """Nodes of 1000 MiB from (all CPUs, pinned CPUs)."""
    return objects.NUMATopology(nodes=[
        objects.NUMANode(id=index, cpuset=set(cpus), pinned_cpus=set(pinned), mem_total=1000,
                         mem_available=1000)
        for index, (cpus, pinned) in enumerate(pairs)])


class ChooseTest(base.TestCase):
    def test_table(self):
        two = nodes((range(4), [0]), (range(4, 8), []))
        for topology, count, cpus, mems in [
                (two, 1, {1}, {0}), (two, 3, {1, 2, 3}, {0}), (two, 4, {4, 5, 6, 7}, {1}),
                (nodes(([3, 1, 2], [])), 2, {1, 2}, {0})]:
            found = pinning.choose(topology, count, 100)
            self.assertEqual((cpus, mems), (found.cpuset_cpus, found.cpuset_mems))

    def test_too_little(self):
        for topology, count, memory in [(nodes((range(4), [0])), 4, 1),
                                        (nodes((range(2), []), (range(2, 4), [])), 3, 1),
                                        (nodes((range(4), [])), 1, 2000), (nodes(), 1, 1)]:
            self.assertRaises(exception.ResourcesUnavailable, pinning.choose, topology, count,
                              memory)


class TopologyTest(base.TestCase):
    def check(self, expected, taken=()):
        found = pinning.topology(taken, nodes((range(4), []), (range(4, 8), [])))
        self.assertEqual(expected, [(sorted(node.cpuset), sorted(node.pinned_cpus))
                                    for node in found.nodes])

    def test_one_cpu_is_left_for_all(self):
        self.check([([1, 2, 3], []), ([4, 5, 6, 7], [])])
        self.check([([1, 2, 3], [2]), ([4, 5, 6, 7], [5])], taken={2, 5})

    def test_floating_cpus(self):
        self.config(floating_cpu_set='2-4,7')
        self.check([([0, 1], [1]), ([5, 6], [])], taken={1})
