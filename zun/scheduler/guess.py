# SPDX-License-Identifier: Apache-2.0
"""What a host probably has room for, told by its own row instead of the ledger. All pure.

Only the ledger knows what its operators changed there; its claim decides, and it is asked once
guesses fail.
"""

import math

from zun.placement import inventories
from zun.placement import ledger
from zun.scheduler import host_state
from zun.scheduler import request


def candidate_of(host: host_state.HostState, wanted: request.Request) -> host_state.HostState:
    """The host with a candidate that the ledger has not been asked about."""
    host.candidates = [ledger.Candidate(
        host.rp_uuid, {host.rp_uuid: dict(wanted.resources)}, _capacity(host),
        {ledger.VCPU: math.ceil(host.cpu_used), ledger.MEMORY_MB: host.mem_used,
         ledger.DISK_GB: host.disk_used})]
    return host


def may_take(host: host_state.HostState, wanted: request.Request) -> bool:
    """Whether the host is open, as every candidate of the ledger is, and has room by its row.

    No single container gets more than there is, however much is given away in all.
    """
    if host.disabled or host.forced_down:
        return False
    candidate, total = host.candidates[0], _total(host)
    return all(amount <= total.get(name, 0)
               and candidate.used.get(name, 0) + amount <= candidate.capacity.get(name, 0)
               for name, amount in wanted.resources.items())


def _total(host: host_state.HostState) -> ledger.Resources:
    return {ledger.VCPU: host.cpus, ledger.MEMORY_MB: host.mem_total,
            ledger.DISK_GB: host.disk_total if host.disk_quota_supported else 0}


def _capacity(host: host_state.HostState) -> ledger.Resources:
    """What the host gives away in all, if its options are those of this process."""
    offered = inventories.of_host(host.cpus, host.mem_total, _total(host)[ledger.DISK_GB])
    return {name: math.floor(item.room) for name, item in offered.items()}
