# SPDX-License-Identifier: Apache-2.0
"""The host of this agent: its drivers, pools and books, handed to every operation."""

import collections
import collections.abc
import contextlib
import dataclasses
import threading
import typing as ty

from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
from zun.compute import image_usage
from zun.compute import parcels as node_parcels
from zun.compute import timer as node_timer
import zun.conf
from zun.container import capsule as capsule_driver
from zun.container import driver as container_driver
from zun.db import claims
from zun.image import driver as image_driver
from zun.image import flights as image_flights
from zun.image import glance_store
from zun.network import driver as network_driver
from zun.placement import ledger as placement_ledger
from zun.volume import driver as volume_driver

CONF = zun.conf.CONF

#: Most operations that wait for one container; who repeats himself leaves room for others.
_WAITING = 20


class Scheduler(ty.Protocol):
    """Takes back what this host cannot run."""

    def schedule_container(self, context: zun_context.RequestContext, container_uuid: str,
                           generation: int) -> None: ...


@dataclasses.dataclass(frozen=True)
class Offer:
    """What this host has for containers.

    :ivar room: in all, after reserve and ratio
    :ivar disk_quota: whether the engine can limit a container's disk
    """

    room: claims.Amounts
    disk_quota: bool


@dataclasses.dataclass
class Node:
    """
    :ivar host: ``[DEFAULT]/host``
    :ivar capsules: None: this host runs none
    :ivar images: image drivers by name
    :ivar volumes: volume drivers by name
    :ivar lifecycle: the FIFO of operations, by container uuid
    :ivar pulls: fetching and sending of images, by container or image uuid
    :ivar flights: images that are fetched now, and who waits for them
    :ivar parcels: what goes over the bus in parts
    :ivar store: the image service
    :ivar usage: which images are in use, or were
    :ivar streams: how many logs, archives and commands may be served at a time
    :ivar timer: second looks and retries
    :ivar provider: of the host in the ledger, once that is known
    :ivar offer: once that is known
    :ivar resume: takes a container's open operation up again
    :ivar look: has a container's row follow the engine, with what comes of it
    :ivar changed: tells that usage has changed
    :ivar full_since: monotonic time at which the engine's disk was last full; None: never
    :ivar pinned: CPUs that shared containers were kept off last
    :ivar away: how many operations of a container uuid wait for their image
    :ivar attempts: container uuid -> how often its open operation has failed
    :ivar observing: containers whose next look at the engine is queued already
    :ivar missing: container uuid -> when the engine said first that it has none
    :ivar repairs: container uuid -> when it was repaired
    :ivar orphans: uuid of an engine container without a row -> since when it is known; times are
        monotonic
    """

    host: str
    engine: container_driver.ContainerDriver
    capsules: capsule_driver.CapsuleDriver | None
    network: network_driver.NetworkDriver
    images: dict[str, image_driver.ImageDriver]
    volumes: dict[str, volume_driver.VolumeDriver]
    ledger: placement_ledger.Ledger
    scheduler: Scheduler
    lifecycle: pools.KeyedPool
    pulls: pools.KeyedPool
    streams: threading.BoundedSemaphore
    timer: node_timer.Timer
    provider: str | None = None
    offer: Offer | None = None
    resume: collections.abc.Callable[[str], None] = lambda uuid: None
    look: collections.abc.Callable[[str], None] = lambda uuid: None
    changed: collections.abc.Callable[[], None] = lambda: None
    flights: image_flights.Flights = dataclasses.field(
        default_factory=image_flights.Flights)
    parcels: node_parcels.Parcels = dataclasses.field(default_factory=node_parcels.Parcels)
    store: glance_store.Store = dataclasses.field(default_factory=glance_store.Store)
    usage: image_usage.Usage = dataclasses.field(default_factory=image_usage.Usage)
    full_since: float | None = None
    pinned: frozenset[int] = frozenset()
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    away: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    attempts: dict[str, int] = dataclasses.field(default_factory=dict)
    observing: set[str] = dataclasses.field(default_factory=set)
    missing: dict[str, float] = dataclasses.field(default_factory=dict)
    repairs: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    orphans: dict[str, float] = dataclasses.field(default_factory=dict)

    def busy(self, uuid: str) -> bool:
        """Whether an operation on this container waits or runs."""
        # Work leaves the FIFO and comes back: one look at it could miss it.
        return (self.lifecycle.busy(uuid) or self.transferring(uuid)
                or self.lifecycle.busy(uuid))

    def transferring(self, uuid: str) -> bool:
        """Whether an operation on this container waits for an image, or for its sending."""
        with self.lock:
            return self.away[uuid] > 0 or self.pulls.busy(uuid)

    def leave(self, uuid: str, count: int = 1) -> None:
        """An operation leaves the FIFO to wait for an image; -1: it is back."""
        with self.lock:
            self.away[uuid] += count
            if not self.away[uuid]:
                del self.away[uuid]

    def retry(self, seconds: float, uuid: str) -> None:
        """Take the open operation of a container up again in some seconds."""
        self.timer.after(seconds, f'retry {uuid}', self.resume, uuid)

    @contextlib.contextmanager
    def stream(self) -> collections.abc.Iterator[None]:
        """A place among those that may read from the engine at a time.

        :raises PoolFull: none is free
        """
        if not self.streams.acquire(blocking=False):
            raise exception.PoolFull(pool='streams')
        try:
            yield
        finally:
            self.streams.release()


def build(scheduler: Scheduler, host: str | None = None) -> Node:
    """The node of this process, from the configuration; nothing is started.

    :param host: its name; None: ``[DEFAULT]/host``
    """
    options = CONF.compute
    engine = container_driver.load()
    return Node(
        host=host or CONF.host, engine=engine, capsules=capsule_driver.load(engine),
        network=network_driver.load(engine=engine), images=image_driver.load(),
        volumes=volume_driver.load(),
        ledger=placement_ledger.load(), scheduler=scheduler,
        lifecycle=pools.KeyedPool('lifecycle', options.lifecycle_workers,
                                  options.lifecycle_backlog, _WAITING),
        pulls=pools.KeyedPool('image-pull', options.image_pull_workers,
                              options.lifecycle_backlog),
        streams=threading.BoundedSemaphore(options.stream_workers),
        timer=node_timer.Timer())
