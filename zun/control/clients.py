# SPDX-License-Identifier: Apache-2.0
"""What the control layer talks to: one set for the process, given by its entry point."""

import dataclasses
import typing as ty

from zun.common import context as zun_context
from zun.control import cinder
from zun.control import glance
from zun.network import driver as network_driver
from zun.placement import ledger as placement_ledger
from zun.rpc import compute as rpc_compute

Context = zun_context.RequestContext


class Scheduler(ty.Protocol):
    """Finds hosts: zun-scheduler's client, or the scheduler of this process."""

    def schedule_container(self, context: Context, container_uuid: str,
                           generation: int) -> None: ...


class Volumes(ty.Protocol):
    """Block storage, with the rights of the user."""

    def find(self, context: Context, ident: str) -> dict[str, ty.Any]:
        """The volume of an id or a unique name, as the API of Cinder shows it.

        :raises VolumeNotFound, Conflict: an ambiguous name
        """

    def create(self, context: Context, size: int) -> str:
        """The id of a new volume of so many GiB. :raises VolumeCreateFailed"""

    def delete(self, context: Context, volume_id: str) -> None:
        """Remove it; one that is gone is success."""


class Images(ty.Protocol):
    """The image service, with the rights of the user."""

    def create(self, context: Context, name: str, tags: ty.Sequence[str],
               properties: ty.Mapping[str, str]) -> str:
        """The id of a private image record that waits for its data."""

    def delete(self, context: Context, image_id: str) -> None:
        """Remove it; one that is gone is success."""


@dataclasses.dataclass(kw_only=True)
class Clients:
    """
    :ivar compute: a node's verbs, over the bus or in this process
    """

    compute: rpc_compute.Client
    scheduler: Scheduler
    network: network_driver.NetworkDriver
    ledger: placement_ledger.Ledger
    volumes: Volumes = dataclasses.field(default_factory=cinder.Cinder)
    images: Images = dataclasses.field(default_factory=glance.Glance)


_current: list[Clients] = []


def use(clients: Clients | None) -> None:
    """Set what :func:`get` answers; None forgets it."""
    _current[:] = [clients] if clients else []


def get() -> Clients:
    """The clients of this process.

    :raises RuntimeError: its entry point has set none
    """
    if not _current:
        raise RuntimeError('zun.control.clients.use() has not been called')
    return _current[0]
