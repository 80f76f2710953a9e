# SPDX-License-Identifier: Apache-2.0
"""Conditions that a host must meet, one class in one module each.

A filter is any class with ``host_passes(host, wanted)``. ``[scheduler]/available_filters`` brings
them in, ``[scheduler]/enabled_filters`` puts them in order. Those that a request cannot do without
are added to it.
"""

from collections.abc import Iterable, Sequence
import inspect
import typing as ty

from oslo_utils import importutils

from zun.common import exception
from zun.scheduler import host_state
from zun.scheduler import request
from zun.scheduler.filters import affinity_filter
from zun.scheduler.filters import availability_zone_filter
from zun.scheduler.filters import compute_filter
from zun.scheduler.filters import cpu_filter
from zun.scheduler.filters import cpuset_filter
from zun.scheduler.filters import disk_filter
from zun.scheduler.filters import label_filter
from zun.scheduler.filters import pci_passthrough_filter
from zun.scheduler.filters import ram_filter
from zun.scheduler.filters import runtime_filter


class HostFilter(ty.Protocol):
    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        """Whether the host may take the container."""


def all_filters() -> list[type[HostFilter]]:
    """The filters that come with Zun."""
    return [affinity_filter.AffinityFilter, availability_zone_filter.AvailabilityZoneFilter,
            compute_filter.ComputeFilter, cpu_filter.CPUFilter, cpuset_filter.CpuSetFilter,
            disk_filter.DiskFilter, label_filter.LabelFilter,
            pci_passthrough_filter.PciPassthroughFilter, ram_filter.RamFilter,
            runtime_filter.RuntimeFilter]


def load(available: Iterable[str], enabled: Iterable[str]) -> list[HostFilter]:
    """The enabled filters, in order.

    :param available: import paths of classes, or of functions that return some
    :raises SchedulerHostFilterNotFound: an enabled name is not among the available ones
    :raises ConfigInvalid: a path cannot be imported
    """
    known: dict[str, ty.Any] = {}
    for path in available:
        try:
            found: ty.Any = importutils.import_class(path)
        except ImportError as error:
            raise exception.ConfigInvalid(
                error_msg=f'[scheduler]/available_filters: {error}') from None
        for item in [found] if inspect.isclass(found) else found():
            known[item.__name__] = item
    loaded = []
    for name in enabled:
        if name not in known:
            raise exception.SchedulerHostFilterNotFound(filter_name=name)
        loaded.append(known[name]())
    return loaded


def needed(wanted: request.Request, enabled: Sequence[HostFilter]) -> list[HostFilter]:
    """The enabled filters, and those without which this request would go astray."""
    extra: list[HostFilter] = []
    if wanted.pci:
        extra.append(pci_passthrough_filter.PciPassthroughFilter())
    if wanted.cpu_policy == 'dedicated':
        extra.append(cpuset_filter.CpuSetFilter())
    if wanted.runtime:
        extra.append(runtime_filter.RuntimeFilter())
    if wanted.same_hosts is not None or wanted.different_hosts:
        extra.append(affinity_filter.AffinityFilter())
    if any(hint.startswith(label_filter.PREFIX) for hint in wanted.hints):
        extra.append(label_filter.LabelFilter())
    have = {type(item) for item in enabled}
    return [*enabled, *(item for item in extra if type(item) not in have)]


def survivors(hosts: list[host_state.HostState], wanted: request.Request,
              chain: Iterable[HostFilter]) -> tuple[list[host_state.HostState], dict[str, int]]:
    """The hosts that pass every filter, and for each filter how many it left, in order."""
    left = {}
    for item in chain:
        if not hosts:
            break
        hosts = [host for host in hosts if item.host_passes(host, wanted)]
        left[type(item).__name__] = len(hosts)
    return hosts, left
