# SPDX-License-Identifier: Apache-2.0
"""The API's way to a scheduler: zun-scheduler over the bus, or one in this process.

What cannot be handed over now is not lost: the container's row says that it waits, and a reaper
finds it.
"""

from collections.abc import Callable
import threading
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
import zun.conf
from zun.rpc import scheduler as rpc_scheduler
from zun.scheduler import manager as scheduler_manager

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)
Context = zun_context.RequestContext

SERVICE = 'service'
LOCAL = 'local'
BINARY = 'zun-scheduler'
#: Seconds for which an answer of the services table is good.
_LOOK_AGAIN = 10.0


class Dispatcher:
    """
    :param mode: ``[scheduler]/mode``: auto, service or local
    :param remote: casts to zun-scheduler
    :param factory: makes the manager of this process, when it is needed first
    :param pool: runs it
    """

    def __init__(self, mode: str, remote: rpc_scheduler.Client,
                 factory: Callable[[], scheduler_manager.Manager], pool: pools.Pool) -> None:
        self._mode = mode
        self._remote = remote
        self._factory = factory
        self._pool = pool
        self._lock = threading.Lock()
        self._manager: scheduler_manager.Manager | None = None
        self._looked_at: float | None = None
        self._service_up = False
        self._periodics: list[pools.Periodic] = []

    def start(self) -> None:
        """Begin to look for what was left behind, as long as no zun-scheduler does."""
        if self._mode == SERVICE:
            return
        if CONF.scheduler.reap_interval:
            self._periodics.append(pools.Periodic(
                'scheduler-reaper', lambda: CONF.scheduler.reap_interval, self._reap))
        if CONF.placement_client.audit_interval:
            self._periodics.append(pools.Periodic('ledger-audit', self._audit_pause, self._audit))
        for periodic in self._periodics:
            periodic.start()

    def stop(self) -> None:
        while self._periodics:
            self._periodics.pop().stop()

    def schedule_container(self, context: Context, container_uuid: str, generation: int) -> None:
        """Have a host found, elsewhere or in a thread of this process; returns at once."""
        try:
            if self._remotely():
                self._remote.schedule_container(context, container_uuid, generation)
            else:
                self._pool.run(self._schedule, context, container_uuid, generation)
        except (exception.BusUnavailable, exception.PoolFull) as error:
            LOG.warning('Container %s has to wait for a scheduler: %s', container_uuid,
                        error.message)

    def _schedule(self, context: Context, container_uuid: str, generation: int) -> None:
        self._local().schedule_container(context, container_uuid, generation)

    def _reap(self) -> None:
        if not self._remotely():
            self._local().reap()

    def _audit(self) -> None:
        if not self._remotely():
            self._local().auditor.step()

    def _audit_pause(self) -> float:
        if self._manager is None:
            return float(CONF.placement_client.audit_interval)
        return self._manager.auditor.pause()

    def _local(self) -> scheduler_manager.Manager:
        with self._lock:
            if self._manager is None:
                self._manager = self._factory()
            return self._manager

    def _remotely(self) -> bool:
        if self._mode in (SERVICE, LOCAL):
            return self._mode == SERVICE
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at > _LOOK_AGAIN:
            self._service_up = any(
                service.is_up() and not service.disabled
                for service in objects.ZunService.list_by_binary(
                    zun_context.get_admin_context(), BINARY))
            self._looked_at = now
        return self._service_up
