# SPDX-License-Identifier: Apache-2.0
"""What no message and no event brings: lost operations, and addresses that nobody owns."""

import time

from zun import objects
from zun.common import context as zun_context
from zun.compute import node as compute_node
from zun.network import embedded

INTERVAL = 30.0
_NETWORK_INTERVAL = 600.0


class Sweep:
    """Takes up what is open on this host, and was open at the last round, and is not under way."""

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node
        self._open: dict[str, tuple[str | None, ...]] = {}
        self._swept = time.monotonic()

    def run(self) -> None:
        """One round."""
        self._resume()
        network = self._node.network
        if (isinstance(network, embedded.EmbeddedDriver)
                and time.monotonic() - self._swept >= _NETWORK_INTERVAL):
            self._swept = time.monotonic()
            network.sweep(zun_context.get_admin_context())

    def _resume(self) -> None:
        node, before = self._node, self._open
        now: dict[str, tuple[str | None, ...]] = {}
        pairs = objects.ContainerRequest.list_open_by_host(
            zun_context.get_admin_context(), node.host)
        for container, request in pairs:
            uuid = container.uuid
            if node.busy(uuid) or node.timer.waits(f'retry {uuid}'):
                continue
            now[uuid] = (request.operation, request.operation_id, container.status,
                         container.task_state)
            if before.get(uuid) == now[uuid]:
                node.resume(uuid)
        self._open = now
