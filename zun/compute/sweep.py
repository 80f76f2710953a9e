# SPDX-License-Identifier: Apache-2.0
"""What no message and no event brings: lost operations, and allocations that nobody owns."""

import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
import zun.conf
from zun.network import embedded

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

INTERVAL = 30.0
_AUDIT_INTERVAL = 600.0


class Sweep:
    """Takes up what is open on this host, and was open at the last round, and is not under way."""

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node
        self._open: dict[str, tuple[str | None, ...]] = {}
        self._suspects: dict[str, float] = {}
        self._audited = time.monotonic()

    def run(self) -> None:
        """One round."""
        self._resume()
        if time.monotonic() - self._audited >= _AUDIT_INTERVAL:
            self._audited = time.monotonic()
            self._audit()
            if isinstance(self._node.network, embedded.EmbeddedDriver):
                self._node.network.sweep(zun_context.get_admin_context())

    def _resume(self) -> None:
        node, before = self._node, self._open
        now: dict[str, tuple[str | None, ...]] = {}
        pairs = objects.ContainerRequest.list_open_by_host(
            zun_context.get_admin_context(), node.host)
        for container, request in pairs:
            uuid = container.uuid
            if (not isinstance(container, objects.Container) or node.busy(uuid)
                    or node.timer.waits(f'retry {uuid}')):
                continue
            now[uuid] = (request.operation, request.operation_id, container.status,
                         container.task_state)
            if before.get(uuid) == now[uuid]:
                node.resume(uuid)
        self._open = now

    def _audit(self) -> None:
        """Release allocations whose container is gone, when they were found so twice.

        A provider that is shared with Nova has consumers that Zun knows nothing of.
        """
        node = self._node
        if node.provider is None or CONF.compute.host_shared_with_nova:
            return
        try:
            held = node.ledger.allocations_on(node.provider)
        except exception.ZunException as error:
            LOG.info('The allocations on this host cannot be read: %s', error.message)
            return
        ownerless = {uuid for uuid in held if not _exists(uuid)}
        for uuid in ownerless & self._suspects.keys():
            LOG.warning('Allocation of %s has no container: released', uuid)
            try:
                node.ledger.release(uuid)
            except exception.ZunException as error:
                LOG.warning('Allocation of %s cannot be released: %s', uuid, error.message)
        self._suspects = dict.fromkeys(ownerless, self._audited)


def _exists(uuid: str) -> bool:
    try:
        objects.Container.get_any_type(zun_context.get_admin_context(), uuid)
    except exception.ContainerNotFound:
        return False
    return True
