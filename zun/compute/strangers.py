# SPDX-License-Identifier: Apache-2.0
"""Engine containers of ours that no row of this host owns.

One whose container lives elsewhere by now is stopped before it does harm; its row is never written.
One without a row is named in the log, or removed, once it is old enough (``[compute]/orphan_*``).
"""

import collections.abc
import time
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
import zun.conf
from zun.container import driver as container_driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_GRACE = 10

Listing = collections.abc.Mapping[str, container_driver.Observed]


def check(node: compute_node.Node, listing: Listing,
          own: collections.abc.Collection[str]) -> None:
    """Look at what is listed beside the containers of this host.

    Containers that bear the name of another host are left alone: two agents may share an engine.
    """
    orphans = {}
    for uuid, seen in listing.items():
        if uuid in own or seen.host not in (node.host, None) or node.busy(uuid):
            continue
        row = _row(uuid)
        if row is None:
            orphans[uuid] = seen
        elif row.host != node.host and seen.host == node.host:
            _stop(node, row, seen)
    _age(node, orphans)


def _row(uuid: str) -> 'objects.ContainerBase | None':
    try:
        return objects.Container.get_any_type(zun_context.get_admin_context(), uuid)
    except exception.ContainerNotFound:
        return None


def stale(node: compute_node.Node, listing: Listing) -> None:
    """Stop, at the start of the agent, what was given to other hosts while it was away.

    A container of this host whose request has a newer generation was made again elsewhere and may
    have come back: the old copy is stopped, and the operation that is open makes the new one.
    """
    for uuid, seen in listing.items():
        row = _row(uuid) if seen.host == node.host else None
        if row is None:
            continue
        old = row.host != node.host
        if not old and seen.running:
            request = objects.ContainerRequest.get(zun_context.get_admin_context(), uuid)
            old = seen.generation < request.generation and bool(seen.operation)
        if old:
            _stop(node, row, seen)


def _stop(node: compute_node.Node, row: 'objects.ContainerBase',
          seen: container_driver.Observed) -> None:
    if not seen.running:
        return
    LOG.warning('Container %s belongs to host %s: its copy of generation %d on this host is '
                'stopped', row.uuid, row.host, seen.generation)
    try:
        node.engine.stop(ty.cast(objects.Container, row), _GRACE)
    except exception.ZunException as error:
        LOG.warning('The copy of container %s cannot be stopped: %s', row.uuid, error.message)


def _age(node: compute_node.Node, orphans: Listing) -> None:
    """Remember since when each has been seen, and act on the old ones."""
    now = time.monotonic()
    node.orphans = {uuid: node.orphans.get(uuid, now) for uuid in orphans}
    for uuid, since in list(node.orphans.items()):
        if now - since < CONF.compute.orphan_age:
            continue
        if CONF.compute.orphan_policy != 'remove':
            LOG.warning('Engine container zun-%s has no row (state %s)', uuid,
                        orphans[uuid].status)
            node.orphans[uuid] = now  # say it again when it is as old again
            continue
        LOG.warning('Engine container zun-%s has no row and is removed', uuid)
        try:
            node.engine.delete(uuid)
        except exception.ZunException as error:
            LOG.warning('Engine container zun-%s cannot be removed: %s', uuid, error.message)
