# SPDX-License-Identifier: Apache-2.0
import zun.conf
from zun.scheduler import host_state
from zun.scheduler import request

CONF = zun.conf.CONF


class AvailabilityZoneFilter:
    """The requested zone; hosts that name none are in the default zone."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        zone = host.availability_zone or CONF.default_availability_zone
        return not wanted.zone or zone == wanted.zone
