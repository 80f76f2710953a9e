# SPDX-License-Identifier: Apache-2.0
import math

from zun.objects import numa
from zun.scheduler import host_state
from zun.scheduler import request


class CpuSetFilter:
    """CPUs of their own for dedicated containers; the others share what is left, anywhere."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        if wanted.cpu_policy != 'dedicated':
            return True
        if not host.enable_cpu_pinning:
            return False
        topology = numa.NUMATopology.from_column(host.numa_topology)
        return topology is not None and any(_fits(node, wanted) for node in topology.nodes)


def _fits(node: numa.NUMANode, wanted: request.Request) -> bool:
    memory = node.mem_available
    return (len(node.free_cpus) >= math.ceil(wanted.cpu)
            and (memory is None or memory >= wanted.memory))
