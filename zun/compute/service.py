# SPDX-License-Identifier: Apache-2.0
"""zun-compute: the agent of one host."""

import collections.abc
import functools
import threading

from oslo_log import log as logging
from oslo_service import opts as service_opts
from oslo_service import service

from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
from zun.compute import heartbeat
from zun.compute import image_gc
from zun.compute import manager
from zun.compute import node as compute_node
from zun.compute import recovery
from zun.compute import resources
from zun.compute import strangers
from zun.compute import stream_server
from zun.compute import streams
from zun.compute import sweep
from zun.compute import sync
from zun.compute.tasks import commit
from zun.compute.tasks import images
from zun.compute.tasks import volumes
import zun.conf
from zun.network import driver as network_driver
from zun.network import embedded
from zun.rpc import scheduler as rpc_scheduler
from zun.rpc import service as rpc_service

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
#: Seconds to wait for the end of a start that is under way.
_PATIENCE = 5.0
#: What 0 means for graceful_shutdown_timeout.
_ENDLESS = 86400.0

Build = collections.abc.Callable[[compute_node.Scheduler, str], compute_node.Node]


class ComputeService(service.ServiceBase):
    """The start always succeeds; the host is reported up once all it needs is there.

    First what other hosts have taken over is stopped and what was left open is queued, then
    messages are taken.

    :ivar ready: set once messages are taken
    :raises ConfigInvalid: another agent of this host's name runs here
    """

    def __init__(self, scheduler: compute_node.Scheduler | None = None, host: str | None = None,
                 build: Build = compute_node.build) -> None:
        """
        :param scheduler: takes back what this host cannot run; None: zun-scheduler
        :param host: its name; None: ``[DEFAULT]/host``. A process may have several, in a simulation
        :param build: makes the node when the service starts
        """
        service_opts.register_service_opts(CONF)
        self._host = host or CONF.host
        self._lock = heartbeat.lock(self._host)
        self._scheduler = scheduler
        self._build = build
        self._stop = threading.Event()
        self._stopped = threading.Event()
        self._periodics: list[pools.Periodic] = []
        self._rpc: rpc_service.Server | None = None
        self._follower: sync.Follower | None = None
        self._boot: threading.Thread | None = None
        self._console: stream_server.Endpoint | None = None
        self.node: compute_node.Node | None = None
        self.ready = threading.Event()

    def start(self) -> None:
        node = self._build(self._scheduler or rpc_scheduler.Client(), self._host)
        self.node = node
        node.resume = functools.partial(recovery.resume, node)
        node.look = functools.partial(sync.observe, node)
        node.timer.start()
        if streams.configured():
            self._console = stream_server.Endpoint(node.host, node.engine.streams())
            self._console.start()
        self._boot = threading.Thread(target=pools.guard, args=(self._begin, node), name='boot',
                                      daemon=True)
        self._boot.start()

    def _begin(self, node: compute_node.Node) -> None:
        """Wait for engine and database, recover, then take messages."""
        tracker = resources.Tracker(node)
        attempt = 0
        while not self._stop.is_set():
            try:
                self._recover(node, tracker)
                break
            except Exception as error:  # noqa: BLE001 - whatever is missing may come
                LOG.warning('The start of zun-compute waits: %s', error)
            self._stop.wait(pools.backoff(attempt, _FIRST_PAUSE, _LONGEST_PAUSE))
            attempt += 1
        if not self._stop.is_set():
            self._serve(node, tracker)

    def _recover(self, node: compute_node.Node, tracker: resources.Tracker) -> None:
        if isinstance(node.network, embedded.EmbeddedDriver):
            embedded.check_hosts(zun_context.get_admin_context())
        network_driver.check_containers(node.network, zun_context.get_admin_context(), node.host)
        LOG.info('Container engine: %s', node.engine.check())
        strangers.stale(node, node.engine.list())
        pools.guard(tracker.run)
        if CONF.compute.remount_container_volume:
            volumes.remount(node)
        images.resume(node)
        LOG.info('%d containers are taken up again', recovery.resume_all(node))

    def _serve(self, node: compute_node.Node, tracker: resources.Tracker) -> None:
        self._rpc = rpc_service.Server(CONF.compute.topic, node.host, manager.Manager(node),
                                       workers=CONF.compute.rpc_workers)
        self._rpc.start()
        beat = heartbeat.Heartbeat(node, self.ready.is_set)
        report = pools.Periodic('resources', lambda: CONF.periodic_interval_max,
                                tracker.run)
        node.changed = functools.partial(
            node.timer.after, resources.GATHER, 'report of resources', report.wake)
        self._periodics = [
            report, pools.Periodic('heartbeat', lambda: CONF.report_interval, beat.beat),
            pools.Periodic('sweep', lambda: sweep.INTERVAL, sweep.Sweep(node).run),
            pools.Periodic('commits', lambda: commit.INTERVAL,
                           functools.partial(commit.sweep, node)),
            pools.Periodic('image-gc', lambda: image_gc.INTERVAL,
                           image_gc.Collector(node).run)]
        if CONF.sync_container_state_interval >= 0:
            self._periodics.append(pools.Periodic(
                'sync', _sync_interval, functools.partial(_reconcile, node)))
        self.ready.set()
        for periodic in self._periodics:
            periodic.start()
        self._follower = sync.Follower(node)
        self._follower.start()

    def stop(self) -> None:
        """Take no more work, give what runs its time, leave the rest to the next start."""
        if self._stop.is_set():
            return
        self._stop.set()
        self.ready.clear()
        if self._boot is not None:
            self._boot.join(_PATIENCE)
        if self._rpc is not None:
            self._rpc.stop()
        for periodic in self._periodics:
            periodic.stop()
        if self._console is not None:
            self._console.stop()
        if self._follower is not None:
            self._follower.stop()
        if self.node is not None:
            self.node.timer.stop()
            self.node.pulls.shutdown(0)
            self.node.lifecycle.shutdown(CONF.graceful_shutdown_timeout or _ENDLESS)
        if self._rpc is not None:
            self._rpc.wait()
        self._lock.close()
        self._stopped.set()

    def wait(self) -> None:
        self._stopped.wait()

    def reset(self) -> None:
        """SIGHUP: read the certificates of consoles again; options are read at use."""
        if self._console is not None:
            self._console.reload()


def _sync_interval() -> float:
    return CONF.sync_container_state_interval or CONF.periodic_interval_max


def _reconcile(node: compute_node.Node) -> None:
    try:
        sync.reconcile(node)
    except exception.EngineUnavailable as error:
        LOG.warning('The containers cannot be compared with the engine: %s', error.message)
