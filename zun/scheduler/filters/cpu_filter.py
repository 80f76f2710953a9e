# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request

_DRIFT = 0.0005


class CPUFilter:
    """Enough unused CPUs, without overcommitment."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        return not wanted.cpu or host.cpus - host.cpu_used + _DRIFT >= wanted.cpu
