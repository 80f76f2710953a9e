# SPDX-License-Identifier: Apache-2.0
"""Rows follow the engine: by its events within a second, by a full listing for what they missed.

Only the rows of this host are read. A container that the engine starts by itself is shown as what
it is, Running. One that an older Zun made with the engine's restart policy ``always``, and that its
user had stopped, is started by an engine that was restarted: it is stopped again.
"""

import collections
import contextlib
import threading
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
from zun.common import states
from zun.compute import capsules
from zun.compute import heal
from zun.compute import node as compute_node
from zun.compute import observation
from zun.compute import recovery
from zun.compute import strangers
from zun.container import driver as container_driver

LOG = logging.getLogger(__name__)

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
#: Seconds before now from which events are asked for: the engine's clock may differ a little.
_OVERLAP = 1.0
_UNTOUCHED = states.TRANSITIONAL | {states.DELETED}


def observe(node: compute_node.Node, uuid: str, after_gap: bool = False) -> None:
    """Queue a look at a container, unless one is queued already.

    :param after_gap: the engine or this agent was away
    """
    with node.lock:
        if uuid in node.observing:
            return
        node.observing.add(uuid)
    try:
        node.lifecycle.submit(uuid, _observe, node, uuid, after_gap)
    except exception.PoolFull:
        with node.lock:
            node.observing.discard(uuid)


def _observe(node: compute_node.Node, uuid: str, after_gap: bool) -> None:
    with node.lock:
        node.observing.discard(uuid)
    context = zun_context.get_admin_context()
    context.update_store()
    try:
        container = objects.Container.get_by_uuid(context, uuid)
    except exception.ContainerNotFound:
        _observe_capsule(node, uuid)
        return
    if (container.host != node.host or container.task_state is not None
            or container.status in _UNTOUCHED):
        return
    before = container.status
    try:
        observed = node.engine.inspect(container)
    except exception.EngineGone:
        heal.vanished(node, container, lambda: observe(node, uuid))
        return
    except exception.ZunException as error:
        LOG.debug('Container %s cannot be looked at: %s', uuid, error.message)
        return
    heal.found(node, uuid)
    if observation.follow(container, observed) and not _saved(node, container, before):
        return
    heal.consequences(node, container, before, after_gap)


def _observe_capsule(node: compute_node.Node, uuid: str) -> None:
    """It is a capsule; or a member: then its capsule is looked at, in the order of its own."""
    try:
        capsule = objects.Capsule.get_with_part(zun_context.get_admin_context(), uuid)
    except exception.ContainerNotFound:
        return
    if capsule.uuid != uuid:
        observe(node, capsule.uuid)
    elif capsule.host == node.host:
        capsules.follow(node, uuid)


def _saved(node: compute_node.Node, container: 'objects.Container', before: str) -> bool:
    """Write what was seen, unless an operation has begun since the row was read."""
    try:
        container.save(expected={'host': node.host, 'status': before, 'task_state': None})
    except (exception.Conflict, exception.ContainerNotFound):
        return False
    if container.status != before:
        LOG.info('Container %s: %s -> %s', container.uuid, before, container.status)
    return True


def reconcile(node: compute_node.Node, after_gap: bool = False) -> None:
    """Compare all containers of this host with the engine; nothing changes when it is away.

    :param after_gap: events were lost, so that each container is looked at
    :raises EngineUnavailable: the engine does not answer
    """
    listing = node.engine.list()
    rows = objects.Container.list_any_by_host(zun_context.get_admin_context(), node.host)
    members: dict[int, list[objects.ContainerBase]] = collections.defaultdict(list)
    for row in rows:
        if isinstance(row, objects.CapsuleContainer | objects.CapsuleInitContainer):
            members[row.capsule_id].append(row)
    for row in rows:
        if (not isinstance(row, objects.Container | objects.Capsule)
                or row.task_state is not None or row.status in _UNTOUCHED):
            continue
        parts = [row] if isinstance(row, objects.Container) else [row, *members[row.id]]
        if after_gap or any(_tells(part, listing.get(part.uuid)) for part in parts):
            observe(node, row.uuid, after_gap)
    strangers.check(node, listing, {row.uuid for row in rows})


def _tells(row: 'objects.ContainerBase', seen: container_driver.Observed | None) -> bool:
    return differs(row, seen) or heal.lost(row, seen)


def differs(container: 'objects.ContainerBase', seen: container_driver.Observed | None) -> bool:
    """Whether a listing tells something else than the row; it has no more than the status."""
    if seen is None:
        return container.status != states.ERROR
    if container.status == states.ERROR:
        return seen.running
    return seen.status is not None and seen.status != container.status


class Follower:
    """Follows the engine's events in a thread of its own, and comes back when they end."""

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node
        self._stop = threading.Event()
        self._stream: contextlib.ExitStack | None = None
        self._thread = threading.Thread(target=self._run, name='engine-events', daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        stream = self._stream
        if stream is not None:
            stream.close()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def _run(self) -> None:
        attempt = 0
        while not self._stop.is_set():
            begun = time.monotonic()
            pools.guard(self._follow)
            attempt = 0 if time.monotonic() - begun > _LONGEST_PAUSE else attempt + 1
            self._stop.wait(pools.backoff(attempt, _FIRST_PAUSE, _LONGEST_PAUSE))

    def _follow(self) -> None:
        """One connection: what happened before it is found by a listing."""
        node = self._node
        with contextlib.ExitStack() as stream:
            try:
                events = stream.enter_context(node.engine.events(time.time() - _OVERLAP))
                self._stream = stream
                reconcile(node, after_gap=True)
            except exception.EngineUnavailable as error:
                LOG.warning('The container engine cannot be followed: %s', error.message)
                return
            recovery.resume_all(node)
            LOG.info('Following the events of the container engine')
            for event in events:
                if event.host in (None, node.host):
                    observe(node, event.uuid)
                if self._stop.is_set():
                    return
            if not self._stop.is_set():
                LOG.warning('The events of the container engine have ended')
