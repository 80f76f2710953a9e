# SPDX-License-Identifier: Apache-2.0
"""What is left on a host that is to be emptied."""

import collections
import dataclasses

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import services
from zun.db import containers
from zun.placement import ledger as placement_ledger


@dataclasses.dataclass(frozen=True)
class Report:
    """
    :ivar service: of the host's agent; None: there is none any more
    :ivar provider: of the host in the ledger; None: the host has no row any more
    :ivar containers: status -> number of containers and capsules, each capsule as one
    :ivar consumers: number of allocations on the host
    :ivar held: their sum
    """

    host: str
    service: 'objects.ZunService | None'
    provider: str | None
    containers: dict[str, int]
    consumers: int
    held: placement_ledger.Resources

    @property
    def closed(self) -> bool:
        """Whether an administrator keeps new containers off it."""
        return self.service is None or bool(self.service.disabled or self.service.forced_down)

    @property
    def drained(self) -> bool:
        """Whether it is empty and stays so."""
        return self.closed and not self.containers and not self.consumers


def report(ledger: placement_ledger.Ledger, host: str) -> Report:
    """
    :raises ComputeNodeNotFound: nothing is known of the host
    :raises LedgerUnavailable, LedgerForbidden: the ledger cannot be asked
    """
    admin = zun_context.get_admin_context()
    service = node = None
    try:
        service = objects.ZunService.get_by_host_and_binary(admin, host, services.COMPUTE)
    except exception.ZunServiceNotFound:
        pass
    try:
        node = objects.ComputeNode.get_by_name(admin, host)
    except exception.ComputeNodeNotFound:
        pass
    counts = containers.count_by_status(host)
    if service is None and node is None and not counts:
        raise exception.ComputeNodeNotFound(compute_node=host)
    held = ledger.allocations_on(node.rp_uuid) if node is not None else {}
    total: collections.Counter[str] = collections.Counter()
    for resources in held.values():
        total.update(resources)
    return Report(host, service, node.rp_uuid if node is not None else None, counts, len(held),
                  dict(total))
