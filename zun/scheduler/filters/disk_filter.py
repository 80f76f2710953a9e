# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request


class DiskFilter:
    """Enough unused disk, on an engine that can limit it."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        if not wanted.disk:
            return True
        return host.disk_quota_supported and host.disk_total - host.disk_used >= wanted.disk
