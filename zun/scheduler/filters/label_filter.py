# SPDX-License-Identifier: Apache-2.0
from zun.scheduler import host_state
from zun.scheduler import request

PREFIX = 'label:'


class LabelFilter:
    """Every hint ``label:<key>`` is a label of the host, with that value."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        labels = host.labels or {}
        return all(labels.get(key.removeprefix(PREFIX)) == value
                   for key, value in wanted.hints.items() if key.startswith(PREFIX))
