# SPDX-License-Identifier: Apache-2.0
"""The ledger of resources: what hosts have, and who holds it.

``placement`` is the service of that name; ``local`` keeps the same books in Zun's own database.
"""

import abc
import dataclasses
import typing as ty

from stevedore import driver as stevedore_driver
from stevedore import exception as stevedore_exception

from zun.common import exception
import zun.conf

CONF = zun.conf.CONF
NAMESPACE = 'zun.placement.ledger'

VCPU = 'VCPU'
MEMORY_MB = 'MEMORY_MB'
DISK_GB = 'DISK_GB'
DISABLED_TRAIT = 'CUSTOM_ZUN_COMPUTE_STATUS_DISABLED'
#: Of every host of ours, so that one whose row is gone can be told from those of other services.
NODE_TRAIT = 'CUSTOM_ZUN_COMPUTE'

#: Resource class -> amount
Resources = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Consumer:
    """Who holds resources.

    :ivar kind: CONTAINER or CAPSULE
    """

    uuid: str
    project_id: str
    user_id: str
    kind: str = 'CONTAINER'


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to serve a request.

    :ivar provider: root provider of the host
    :ivar allocations: provider -> resources, to be handed to ``claim``
    :ivar capacity: resource class -> what the host has in all, after reserve and ratio
    :ivar used: resource class -> what is held of it
    """

    provider: str
    allocations: dict[str, Resources]
    capacity: Resources
    used: Resources


@dataclasses.dataclass(frozen=True)
class Inventory:
    """What a host offers of one resource class: ``(total - reserved) * allocation_ratio``."""

    total: int
    reserved: int = 0
    allocation_ratio: float = 1.0

    @property
    def room(self) -> float:
        """What it gives away in all."""
        return (self.total - self.reserved) * self.allocation_ratio


class Ledger(abc.ABC):
    """Errors of all methods: LedgerUnavailable after bounded retries, LedgerForbidden.

    :cvar draws: few candidates cost less than many, and are a random draw of all
    """

    draws = False

    @abc.abstractmethod
    def prepare(self) -> None:
        """Check at a service's start that the ledger can be used; make our traits known."""

    @abc.abstractmethod
    def candidates(self, resources: Resources, required: ty.Collection[str] = (),
                   forbidden: ty.Collection[str] = (), in_tree: str | None = None,
                   limit: int | None = None,
                   member_of: str | None = None) -> list[Candidate]:
        """Hosts with room, in no order of meaning.

        :param member_of: only those of this aggregate, where the ledger knows aggregates
        """

    @abc.abstractmethod
    def claim(self, consumer: Consumer, candidate: Candidate) -> bool:
        """Take it. False: no room any more. :raises ConsumerConflict: somebody else's claim"""

    @abc.abstractmethod
    def resize(self, consumer: Consumer, resources: Resources) -> bool:
        """New amounts on the same host. False: no room. What was never claimed stays so."""

    @abc.abstractmethod
    def release(self, consumer_uuid: str, provider: str | None = None) -> None:
        """Give all back; nothing held is success.

        :param provider: not unless something of this host is held
        """

    @abc.abstractmethod
    def leave(self, consumer_uuid: str, provider: str) -> None:
        """Give back what is held of one host, and keep what is held of another one."""

    @abc.abstractmethod
    def held(self, consumer_uuid: str) -> dict[str, Resources]:
        """provider -> resources of one consumer."""

    def owns(self, consumer_uuid: str, provider: str) -> bool:
        """Whether a consumer without a row can only be ours."""
        return True

    @abc.abstractmethod
    def ensure_provider(self, uuid: str, name: str) -> str:
        """The uuid of a host's provider.

        It is an older one when the host had a former life that still holds allocations.
        """

    @abc.abstractmethod
    def report(self, provider: str, inventories: dict[str, Inventory],
               traits: ty.Collection[str] = ()) -> None:
        """What a host has now; nothing is written when nothing changed.

        :raises ResourceProviderNotFound: it is to be ensured again
        """

    @abc.abstractmethod
    def set_disabled(self, provider: str, disabled: bool) -> None:
        """Keep new containers off a host, or let them on it again."""

    @abc.abstractmethod
    def closed(self) -> ty.Collection[str]:
        """Providers of the hosts that new containers are kept off."""

    @abc.abstractmethod
    def allocations_on(self, provider: str) -> dict[str, Resources]:
        """consumer -> resources on one host."""

    @abc.abstractmethod
    def capacity(self, provider: str) -> Resources:
        """Resource class -> what a host has in all, after reserve and ratio."""

    @abc.abstractmethod
    def providers(self) -> dict[str, str]:
        """provider -> name, of all hosts that were ever reported and not forgotten."""

    def unmarked(self) -> dict[str, str]:
        """provider -> name, of hosts that no service is known to have, and that may be ours."""
        return {}

    @abc.abstractmethod
    def forget(self, provider: str) -> None:
        """Remove a host that is no more. :raises Conflict: something still holds resources"""


def load() -> Ledger:
    """The configured ledger.

    :raises ConfigInvalid: there is none of that name
    """
    try:
        found: ty.Any = stevedore_driver.DriverManager(
            NAMESPACE, CONF.scheduler.ledger, invoke_on_load=True).driver
        return found
    except stevedore_exception.NoMatches:
        raise exception.ConfigInvalid(
            error_msg=f'[scheduler]/ledger: no ledger {CONF.scheduler.ledger!r}') from None
