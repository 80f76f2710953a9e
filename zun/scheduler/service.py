# SPDX-License-Identifier: Apache-2.0
"""zun-scheduler: any number of them, none keeps state."""

from collections.abc import Callable
import threading

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_service import service

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
import zun.conf
from zun.placement import ledger as placement_ledger
from zun.rpc import scheduler as rpc_scheduler
from zun.rpc import service as rpc_service
from zun.scheduler import dispatch
from zun.scheduler import manager as scheduler_manager

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class Endpoint:
    """What the bus may ask for."""

    target = messaging.Target(version=rpc_scheduler.VERSION)

    def __init__(self, manager: scheduler_manager.Manager) -> None:
        self._manager = manager

    def schedule_container(self, context: zun_context.RequestContext, container_uuid: str,
                           generation: int) -> None:
        self._manager.schedule_container(context, container_uuid, generation)


#: What a scheduler works with: made in its own process, not before a fork.
Parts = tuple[scheduler_manager.Manager, placement_ledger.Ledger]


class SchedulerService(service.ServiceBase):
    """
    :param build: makes the manager, and the ledger that keeps capacity and allocations
    """

    def __init__(self, build: Callable[[], Parts]) -> None:
        self._build = build
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._serving = threading.Lock()
        self._beginning = threading.Thread(
            target=pools.guard, args=(self._begin,), name='scheduler-start', daemon=True)
        self._failure: exception.ConfigInvalid | None = None
        self._server: rpc_service.Server | None = None
        self._periodics: list[pools.Periodic] = []

    def start(self) -> None:
        """Begin to serve as soon as the ledger can be used; until then messages wait in the bus."""
        self._manager, self._ledger = self._build()
        self._beginning.start()

    def _begin(self) -> None:
        attempt = 0
        while not self._prepared(attempt):
            if self._stopping.wait(pools.backoff(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)):
                return
            attempt += 1
        self._serve()

    def _prepared(self, attempt: int) -> bool:
        """Whether the ledger can be used. One of the wrong version ends the service."""
        try:
            self._ledger.prepare()
        except (exception.LedgerUnavailable, exception.LedgerForbidden) as error:
            if attempt == 0:
                LOG.error('Waiting for the ledger: %s', error.message)
            return False
        except exception.ConfigInvalid as error:
            self._failure = error
            self._stopping.set()
            self._ended.set()
            return False
        return True

    def _serve(self) -> None:
        with self._serving:
            if self._stopping.is_set():
                return
            self._server = rpc_service.Server(rpc_scheduler.TOPIC, CONF.host,
                                              Endpoint(self._manager),
                                              workers=CONF.scheduler.workers)
            self._server.start()
            self._periodics.append(
                pools.Periodic('heartbeat', lambda: CONF.report_interval, self._heartbeat))
            if CONF.scheduler.reap_interval:
                self._periodics.append(pools.Periodic(
                    'scheduler-reaper', lambda: CONF.scheduler.reap_interval, self._manager.reap))
            if CONF.placement_client.audit_interval:
                auditor = self._manager.auditor
                self._periodics.append(
                    pools.Periodic('ledger-audit', auditor.pause, auditor.step))
            for periodic in self._periodics:
                periodic.start()

    def _heartbeat(self) -> None:
        admin = zun_context.get_admin_context()
        mine = objects.ZunService(admin, host=CONF.host, binary=dispatch.BINARY)
        try:
            mine.report_state_up()
        except exception.ZunServiceNotFound:
            mine.availability_zone = CONF.default_availability_zone
            mine.create(admin)
            mine.report_state_up()

    def stop(self) -> None:
        """Take no further message; those that were taken are finished."""
        self._stopping.set()
        with self._serving:
            for periodic in reversed(self._periodics):
                periodic.stop()
            if self._server is not None:
                self._server.stop()
                self._server.wait()
                pools.guard(self._retire)
        self._ended.set()

    def _retire(self) -> None:
        """Let the API schedule by itself, if it may, rather than wait until this one looks dead."""
        objects.ZunService(zun_context.get_admin_context(), host=CONF.host,
                           binary=dispatch.BINARY).destroy()

    def wait(self) -> None:
        """Until it is stopped. :raises ConfigInvalid: the ledger is one that cannot be used"""
        self._ended.wait()
        if self._failure is not None:
            raise self._failure

    def reset(self) -> None:
        """Read the configuration again, as far as it may change."""
        CONF.mutate_config_files()
