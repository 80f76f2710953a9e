# SPDX-License-Identifier: Apache-2.0
"""What a container asks of a host, in the words of the scheduler and of the ledger. All pure."""

from collections.abc import Mapping, Sequence
import dataclasses
import re
import typing as ty

from zun import objects
from zun.common import exception
from zun.common import units
import zun.conf
from zun.pci import requests
from zun.placement import amounts
from zun.placement import client
from zun.placement import ledger

CONF = zun.conf.CONF

#: Hints that need to see every host, not only the first so many.
WIDE_HINTS = frozenset({'group', 'same_host', 'different_host'})
_KEY = re.compile(r'(resources|trait)(\d*):(.+)')
_CUSTOM = 'CUSTOM_'
_STANDARD_CLASSES = frozenset({
    'VCPU', 'MEMORY_MB', 'DISK_GB', 'PCI_DEVICE', 'SRIOV_NET_VF', 'NUMA_SOCKET', 'NUMA_CORE',
    'NUMA_THREAD', 'NUMA_MEMORY_MB', 'IPV4_ADDRESS', 'VGPU', 'VGPU_DISPLAY_HEAD',
    'NET_BW_EGR_KILOBIT_PER_SEC', 'NET_BW_IGR_KILOBIT_PER_SEC',
    'NET_PACKET_RATE_KILOPACKET_PER_SEC', 'NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC',
    'NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC', 'PCPU', 'MEM_ENCRYPTION_CONTEXT', 'FPGA', 'PGPU'})

Extra = Mapping[str, ty.Any]


@dataclasses.dataclass(frozen=True)
class PciRequest:
    """So many devices of which each matches one of the specs."""

    count: int
    specs: tuple[dict[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Request:
    """
    :ivar cpu: vCPU, 0 when none were asked for
    :ivar memory: MiB, 0 when none was asked for
    :ivar disk: GiB
    :ivar main: resources and traits that the ledger is asked for
    :ivar zone: None: any
    :ivar excluded: hosts that failed this container already
    :ivar same_hosts: it must go where one of these containers is; None: that was not asked
    :ivar different_hosts: it must not go where these are
    """

    consumer: ledger.Consumer
    main: client.Group
    cpu: float = 0.0
    memory: int = 0
    disk: int = 0
    runtime: str | None = None
    cpu_policy: str | None = None
    zone: str | None = None
    hints: Mapping[str, ty.Any] = dataclasses.field(default_factory=dict)
    requested_host: str | None = None
    excluded: frozenset[str] = frozenset()
    pci: tuple[PciRequest, ...] = ()
    same_hosts: frozenset[str] | None = None
    different_hosts: frozenset[str] = frozenset()

    @property
    def resources(self) -> ledger.Resources:
        return self.main.resources


def build(container: 'objects.ContainerBase', asked: 'objects.ContainerRequest') -> Request:
    """The request of a container or capsule, whose row has the sum of its members."""
    extra = {f'trait:{ledger.DISABLED_TRAIT}': 'forbidden'}
    wanted = groups(amounts.of_container(container), extra)
    capsule = isinstance(container, objects.Capsule)
    return Request(
        consumer=ledger.Consumer(container.uuid, container.project_id, container.user_id,
                                 'CAPSULE' if capsule else 'CONTAINER'),
        main=wanted[''], cpu=container.cpu or 0.0, memory=units.memory_mib(container.memory),
        disk=container.disk or 0, runtime=container.runtime, cpu_policy=container.cpu_policy,
        zone=asked.availability_zone or CONF.default_schedule_zone, hints=asked.hints or {},
        requested_host=asked.requested_host, excluded=frozenset(asked.excluded_hosts or ()),
        pci=pci_requests(asked.pci_requests))


def groups(resources: ledger.Resources, extra: Extra) -> dict[str, client.Group]:
    """Groups by suffix: the container's own amounts, changed by what the extra spec says.

    ``resources[N]:<CLASS>`` sets an amount, 0 takes the class out; ``trait[N]:<NAME>`` is
    ``required`` or ``forbidden``. What is neither a known class nor a number is left out.
    """
    amounts_of: dict[str, ledger.Resources] = {'': dict(resources)}
    traits: dict[str, dict[str, set[str]]] = {}
    for key, value in extra.items():
        found = _KEY.fullmatch(key)
        if found is None:
            continue
        kind, suffix, name = found.groups()
        if kind == 'trait':
            if value in ('required', 'forbidden'):
                traits.setdefault(suffix, {}).setdefault(value, set()).add(name)
        elif _known_class(name) and str(value).isdigit():
            group = amounts_of.setdefault(suffix, {})
            group[name] = int(value)
    return {suffix: client.Group({name: n for name, n in group.items() if n},
                                 frozenset(traits.get(suffix, {}).get('required', ())),
                                 frozenset(traits.get(suffix, {}).get('forbidden', ())))
            for suffix, group in amounts_of.items()}


def _known_class(name: str) -> bool:
    return name in _STANDARD_CLASSES or name.startswith(_CUSTOM)


def scope(requested_host: str | None, hints: Extra | None,
          providers: Sequence[str]) -> tuple[str | None, int | None]:
    """Tree and number of candidates to ask for.

    :param providers: those of the requested host
    :raises NoValidHost: the requested host has none
    """
    limit = None if WIDE_HINTS & set(hints or ()) else CONF.scheduler.max_placement_results
    if not requested_host:
        return None, limit
    if not providers:
        raise exception.NoValidHost(
            f'No valid host was found. No such host - host: {requested_host}')
    if len(providers) > 1:
        return None, None
    return providers[0], limit


def pci_requests(stored: ty.Any) -> tuple[PciRequest, ...]:
    """The stored PCI requests: a list of requests, or a serialised ContainerPCIRequests."""
    return tuple(PciRequest(int(item['count']), tuple(item.get('spec') or ()))
                 for item in requests.stored(stored))
