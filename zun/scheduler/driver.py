# SPDX-License-Identifier: Apache-2.0
"""How hosts are chosen: ``[scheduler]/driver``, a name in the entry-point group of drivers."""

import abc
from collections.abc import Collection
import dataclasses
import typing as ty

from stevedore import driver as stevedore_driver

from zun.common import context as zun_context
import zun.conf
from zun.placement import ledger as placement_ledger
from zun.scheduler import host_state
from zun.scheduler import request

CONF = zun.conf.CONF
NAMESPACE = 'zun.scheduler.driver'


@dataclasses.dataclass(frozen=True)
class Choice:
    """
    :ivar hosts: best first; one without candidates needs no claim
    :ivar trail: how many hosts each step left, for the log and for administrators
    :ivar guessed: the ledger was not asked; what it refuses it may still offer in another way
    """

    hosts: list[host_state.HostState]
    trail: list[str]
    guessed: bool = False


class SchedulerDriver(abc.ABC):
    def __init__(self, ledger: placement_ledger.Ledger) -> None:
        self._ledger = ledger

    @abc.abstractmethod
    def choose(self, context: zun_context.RequestContext, wanted: request.Request,
               refused: Collection[str] = (), repeated: bool = False) -> Choice:
        """Hosts that can take the container.

        :param refused: hosts whose claim was refused just now
        :param repeated: an earlier choice for this container led to nothing
        :raises LedgerUnavailable, LedgerForbidden: hosts cannot be known
        """


def load(ledger: placement_ledger.Ledger) -> SchedulerDriver:
    """The configured driver.

    :raises SchedulerHostFilterNotFound, ConfigInvalid: its filters cannot be loaded
    """
    found: ty.Any = stevedore_driver.DriverManager(
        NAMESPACE, CONF.scheduler.driver, invoke_on_load=True, invoke_args=(ledger,))
    return ty.cast(SchedulerDriver, found.driver)


def left(hosts: list[host_state.HostState], wanted: request.Request,
         refused: Collection[str]) -> list[host_state.HostState]:
    """Without the hosts that failed this container, now or before, or that were not asked for."""
    return [host for host in hosts
            if host.hostname not in wanted.excluded and host.hostname not in refused
            and wanted.requested_host in (None, '', host.hostname)]
