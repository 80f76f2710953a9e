# SPDX-License-Identifier: Apache-2.0
"""Hosts as one decision sees them, read with one statement."""

from collections.abc import Collection
import dataclasses
import typing as ty

import sqlalchemy as sa

import zun.conf
from zun.db import clock
from zun.db import draws
from zun.db import engine
from zun.db import models
from zun.db import rows
from zun.objects import service
from zun.placement import ledger

CONF = zun.conf.CONF

BINARY = 'zun-compute'
_NODE = models.compute_node
_SERVICE = models.zun_service
_READ = ('hostname', 'rp_uuid', 'mem_total', 'mem_used', 'cpus', 'cpu_used', 'disk_total',
         'disk_used', 'disk_quota_supported', 'numa_topology', 'labels', 'pci_stats', 'runtimes',
         'enable_cpu_pinning', 'running_containers')
_READ_OF_SERVICE = ('availability_zone', 'disabled', 'forced_down')


@dataclasses.dataclass
class HostState:
    """Columns of compute_node and of the node's service: MiB, GiB, vCPU, seconds.

    :ivar candidates: ways to allocate from this host, all of which serve the request
    """

    hostname: str = ''
    rp_uuid: str = ''
    mem_total: int = 0
    mem_used: int = 0
    cpus: int = 0
    cpu_used: float = 0.0
    disk_total: int = 0
    disk_used: int = 0
    disk_quota_supported: bool = False
    numa_topology: ty.Any = None
    labels: dict[str, str] | None = None
    pci_stats: ty.Any = None
    runtimes: list[str] | None = None
    enable_cpu_pinning: bool = False
    running_containers: int = 0
    availability_zone: str | None = None
    disabled: bool | None = False
    forced_down: bool | None = False
    seconds_since_seen: float | None = None
    candidates: list[ledger.Candidate] = dataclasses.field(default_factory=list)

    @property
    def up(self) -> bool:
        return service.service_is_up(self.seconds_since_seen, bool(self.forced_down),
                                     CONF.service_down_time)

    @property
    def usable(self) -> bool:
        """Whether new containers may go there at all."""
        return self.up and not self.disabled


def count() -> int:
    """Number of hosts."""
    with engine.reader() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(_NODE)) or 0


def read(hostname: str | None = None, providers: Collection[str] | None = None,
         draw: int | None = None) -> list[HostState]:
    """Hosts that have a service, of one name, of these providers, or all.

    :param draw: no more than so many, at random
    Their age is the one that the database's clock says.
    """
    seen = sa.func.coalesce(_SERVICE.c.last_seen_up, _SERVICE.c.updated_at, _SERVICE.c.created_at)
    statement: ty.Any = sa.select(
        *(_NODE.c[name] for name in _READ), *(_SERVICE.c[name] for name in _READ_OF_SERVICE),
        clock.seconds_since(seen).label('seconds_since_seen')).join(
        _SERVICE, sa.and_(_SERVICE.c.host == _NODE.c.hostname, _SERVICE.c.binary == BINARY))
    if hostname is not None:
        statement = statement.where(_NODE.c.hostname == hostname)
    if providers is not None:
        statement = statement.where(_NODE.c.rp_uuid.in_(providers))
    if draw is not None:
        statement = draws.some(statement, _NODE.c.rp_uuid, draw)
    with engine.reader() as session:
        return [HostState(**row) for row in rows.every(session, statement)]
