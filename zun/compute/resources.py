# SPDX-License-Identifier: Apache-2.0
"""What this host has, what its containers hold, and the report of both.

Memory is in MiB, disk in GiB. The report is made by one background worker, outside any lock that a
container needs.
"""

import contextlib
import functools
import math
import pathlib
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import devices
from zun.compute import heartbeat
from zun.compute import node as compute_node
from zun.compute import numa
from zun.compute import pinning
from zun.compute import task
import zun.conf
from zun.container import driver as container_driver
from zun.db import claims
from zun.db import pins
from zun.placement import amounts
from zun.placement import inventories as host_inventories
from zun.placement import ledger

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_MEMINFO = pathlib.Path('/proc/meminfo')
#: Seconds in which further changes join the report that one has caused.
GATHER = 10.0
#: Seconds for which a host whose disk was full takes no containers.
_FULL_FOR = 300.0
#: What changes all the time is written along with the rest.
_VOLATILE = frozenset({'mem_available', 'numa_topology'})


def claim(job: task.Job) -> None:
    """Admit a container to this host; one that is admitted already stays.

    :raises ResourcesUnavailable: it does not fit, or the host cannot do what it asks for
    :raises Conflict: its request has moved on
    """
    node, container = job.node, job.container
    if node.offer is None:
        raise exception.ResourcesUnavailable(reason='the host has not looked at its resources')
    if container.disk and not node.offer.disk_quota:
        raise exception.ResourcesUnavailable(reason='the host cannot limit the size of a disk')
    if full(node):
        raise exception.ResourcesUnavailable(reason='the host has no room: the disk of its '
                                                    'engine is full')
    further: list[claims.Step] = []
    if _takes_default_disk(job, node.offer):
        further.append(_limit_disk(job))
    wanted = claims.Amounts.of(container)
    room = node.offer.room if CONF.compute.claim else claims.UNLIMITED
    dedicated = container.cpu_policy == pins.DEDICATED
    if dedicated:
        further.append(functools.partial(pinning.pin, job))
    if devices.wanted(job):
        further.append(functools.partial(devices.claim, job))
    claims.admit(node.host, job.uuid, job.request.generation, wanted, room, further)
    if dedicated:
        pinning.confine(node)


def note_failure(node: compute_node.Node, error: Exception) -> None:
    """A disk that is full keeps further containers away, until somebody may have made room."""
    if isinstance(error, exception.DiskFull):
        LOG.error('%s No container is taken for %d s.', error.message, _FULL_FOR)
        node.full_since = time.monotonic()


def full(node: compute_node.Node) -> bool:
    """Whether the disk of the engine was full just now."""
    return node.full_since is not None and time.monotonic() - node.full_since < _FULL_FOR


def _takes_default_disk(job: task.Job, offer: compute_node.Offer) -> bool:
    container = job.container
    return bool(not container.disk and CONF.default_disk and offer.disk_quota
                and isinstance(container, objects.Container))


def _limit_disk(job: task.Job) -> claims.Step:
    """A container that asks for no size has the default one; the ledger did not know of it.

    :returns: notes it in the transaction of the claim
    :raises ResourcesUnavailable: the host has no room for it
    """
    container, size = job.container, CONF.default_disk
    consumer = ledger.Consumer(job.uuid, container.project_id, container.user_id)
    if not job.node.ledger.resize(consumer, amounts.of(container.cpu, container.memory, size)):
        raise exception.ResourcesUnavailable(
            reason=f'the host has no room for default_disk, {size} GiB')
    container.disk = size
    return functools.partial(claims.store_disk, job.uuid, size)


def forget_default_disk(job: task.Job) -> None:
    """Another host may limit disks to another size, or not at all."""
    job.container.disk = 0
    claims.forget_disk(job.uuid, job.node.host)


def inventories(info: container_driver.HostInfo) -> dict[str, ledger.Inventory]:
    """What a host offers of each resource class.

    Disk is offered only where the engine can limit it, less the part that is kept for images.
    """
    disk = usable_disk(info) if info.disk_quota_supported else 0
    return host_inventories.of_host(info.cpus, info.memory, disk)


def usable_disk(info: container_driver.HostInfo) -> int:
    """GiB for containers: what is not kept for images."""
    return info.disk - int(info.disk * CONF.compute.reserve_disk_for_image)


def offer(info: container_driver.HostInfo) -> compute_node.Offer:
    """What containers may hold in all."""
    def room(name: str) -> float:
        item = inventories(info).get(name)
        return item.room if item else 0
    return compute_node.Offer(
        claims.Amounts(room(ledger.VCPU), room(ledger.MEMORY_MB), room(ledger.DISK_GB)),
        info.disk_quota_supported)


def available_memory(text: str) -> int:
    """MiB that new programs could have, from the text of /proc/meminfo."""
    for line in text.splitlines():
        name, _, value = line.partition(':')
        if name == 'MemAvailable':
            return int(value.split()[0]) // 1024
    return 0


class Tracker:
    """Keeps the compute_node row and the ledger's record of this host true."""

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node
        self._context = zun_context.get_admin_context()
        self._row: objects.ComputeNode | None = None
        self._prepared = False
        self._trouble = ''

    def run(self) -> None:
        """One round; what fails is tried again at the next. A trouble is told once."""
        before, self._trouble = self._trouble, ''
        try:
            self.refresh()
        except exception.ZunException as error:
            self._trouble = error.message
            level = logging.DEBUG if before == error.message else logging.WARNING
            LOG.log(level, 'The resources of this host cannot be reported: %s', error.message)
        else:
            if before:
                LOG.info('The resources of this host are reported again')

    def refresh(self) -> None:
        """Look, and write what has changed.

        :raises EngineUnavailable: the engine does not answer
        :raises LedgerUnavailable: the ledger does not answer
        """
        node = self._node
        info = node.engine.host_info()
        node.offer = offer(info)
        row = self._row or self._load()
        used = claims.usage(node.host)
        pinning.confine(node)
        topology = pinning.topology(pins.on_host(node.host), numa.topology())
        now = facts(info) | usage_facts(info, used) | {'numa_topology': topology}
        for name, value in now.items():
            if not row.obj_attr_is_set(name) or getattr(row, name) != value:
                setattr(row, name, value)
        if not row.obj_attr_is_set('uuid'):
            row.create(self._context)
        self._count_devices(row)
        self._row = row
        if not self._prepared:
            node.ledger.prepare()
            self._prepared = True
        provider = node.provider or node.ledger.ensure_provider(row.uuid, node.host)
        if row.rp_uuid != provider:
            row.rp_uuid = provider
        if row.obj_what_changed() - _VOLATILE:
            self._save()
        self._report(provider, inventories(info))

    def _count_devices(self, row: 'objects.ComputeNode') -> None:
        try:
            pools = devices.refresh(row.uuid, self._node.host)
        except exception.ZunException as error:
            LOG.error('[pci]/passthrough_whitelist: %s', error.message)
            return
        stored = row.pci_device_pools if row.obj_attr_is_set('pci_device_pools') else None
        if (pools and pools.to_column()) != (stored and stored.to_column()):
            row.pci_device_pools = pools

    def _save(self) -> None:
        row, self._row = self._row, None  # read again after an error
        if row is not None:
            row.save(self._context)
        self._row = row

    def _load(self) -> 'objects.ComputeNode':
        try:
            return objects.ComputeNode.get_by_name(self._context, self._node.host)
        except exception.ComputeNodeNotFound:
            return objects.ComputeNode(self._context, hostname=self._node.host)

    def _report(self, provider: str, offered: dict[str, ledger.Inventory]) -> None:
        closed = full(self._node) or heartbeat.closed(self._node.host)
        traits = [ledger.DISABLED_TRAIT] if closed else []
        try:
            self._node.ledger.report(provider, offered, traits)
        except exception.ResourceProviderNotFound:
            self._node.provider = None  # ensured again at the next round
            raise
        self._node.provider = provider


def facts(info: container_driver.HostInfo) -> dict[str, object]:
    """Columns of compute_node that the engine and the host tell."""
    available = info.memory
    with contextlib.suppress(OSError):
        available = available_memory(_MEMINFO.read_text())
    return {
        'mem_total': info.memory, 'mem_available': available, 'cpus': info.cpus,
        'disk_total': usable_disk(info), 'disk_quota_supported': info.disk_quota_supported,
        'total_containers': info.total_containers, 'paused_containers': info.paused_containers,
        'running_containers': info.running_containers,
        'stopped_containers': info.stopped_containers, 'architecture': info.architecture,
        'os_type': info.os_type, 'os': info.os, 'kernel_version': info.kernel_version,
        'labels': dict(info.labels), 'runtimes': list(info.runtimes),
        'enable_cpu_pinning': CONF.compute.enable_cpu_pinning}


def usage_facts(info: container_driver.HostInfo, used: claims.Usage) -> dict[str, object]:
    """Columns of compute_node that the rows of the host's containers tell."""
    memory = math.ceil(used.amounts.memory)
    return {'mem_used': memory, 'mem_free': max(0, info.memory - memory),
            'cpu_used': used.amounts.cpu, 'disk_used': int(used.amounts.disk)}
