# SPDX-License-Identifier: Apache-2.0
"""Weights of a host between 0 and 1; 1 is the emptiest."""

from zun.placement import ledger
from zun.scheduler import host_state
from zun.scheduler import request

#: A host with so many containers weighs half of an empty one.
_HALF = 10


def _free(host: host_state.HostState, wanted: request.Request, resource: str) -> float:
    """Share that is left of a resource once the container is there."""
    candidate = host.candidates[0]
    capacity = candidate.capacity.get(resource, 0)
    if not capacity:
        return 0.0
    taken = candidate.used.get(resource, 0) + wanted.resources.get(resource, 0)
    return max(0.0, 1 - taken / capacity)


def cpu(host: host_state.HostState, wanted: request.Request) -> float:
    return _free(host, wanted, ledger.VCPU)


def ram(host: host_state.HostState, wanted: request.Request) -> float:
    return _free(host, wanted, ledger.MEMORY_MB)


def disk(host: host_state.HostState, wanted: request.Request) -> float:
    return _free(host, wanted, ledger.DISK_GB)


def containers(host: host_state.HostState, wanted: request.Request) -> float:
    return _HALF / (_HALF + host.running_containers)
