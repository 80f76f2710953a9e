# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request


class RamFilter:
    """Enough unused memory, without overcommitment."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        return not wanted.memory or host.mem_total - host.mem_used >= wanted.memory
