# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request


class RuntimeFilter:
    """The engine knows the requested runtime."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        return not wanted.runtime or wanted.runtime in (host.runtimes or ())
