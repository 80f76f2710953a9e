# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request


class AffinityFilter:
    """The hints same_host and different_host, which name other containers."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        if host.hostname in wanted.different_hosts:
            return False
        return wanted.same_hosts is None or host.hostname in wanted.same_hosts
