# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request


class ComputeFilter:
    """The node's service is enabled and alive."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        return host.usable
