# SPDX-License-Identifier: Apache-2.0
"""The operator's audit: where the ledger and the containers' rows say different things."""

import dataclasses
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import services
from zun.db import containers
from zun.placement import audit
from zun.placement import ledger as placement_ledger

LOG = logging.getLogger(__name__)

#: The ledger has a host that Zun has not, or no agent for.
LOST_HOST = 'lost host'
#: The ledger has a host that was Zun's or is another service's: it does not say.
UNKNOWN_HOST = 'unknown host'
#: Seconds between the two looks that a repair needs: the first may fall into an operation.
SECOND_LOOK = 5.0


@dataclasses.dataclass(frozen=True)
class Difference:
    """
    :ivar kind: one of :mod:`zun.placement.audit`, LOST_HOST or UNKNOWN_HOST
    :ivar consumer: None for a host
    :ivar held: what the ledger says, nothing when it knows none
    :ivar wanted: what the row says, nothing when there is none on this host
    :ivar repaired: None: that was not tried
    """

    kind: str
    host: str
    provider: str
    consumer: str | None = None
    held: placement_ledger.Resources = dataclasses.field(default_factory=dict)
    wanted: placement_ledger.Resources = dataclasses.field(default_factory=dict)
    repaired: bool | None = None


@dataclasses.dataclass(frozen=True)
class _Place:
    """A host, or what the ledger has left of one.

    :ivar gone: what to say of the host itself; None: it is there
    """

    host: str
    provider: str
    gone: str | None = None


def differences(ledger: placement_ledger.Ledger, host: str | None = None, repair: bool = False,
                pause: float = SECOND_LOOK) -> list[Difference]:
    """Audit hosts both ways: allocations without a row, rows without one, different amounts.

    :param host: only this one; None: all, and those that only the ledger has
    :param repair: what is found again after a pause of so many seconds, make right: rows win. A
        host that may be another service's is removed only when it is named
    :raises ComputeNodeNotFound: neither Zun nor the ledger has that host
    :raises LedgerUnavailable, LedgerForbidden: the ledger cannot be asked
    """
    named = host is not None
    found = {place: _look(ledger, place, named) for place in _places(ledger, host)}
    differing = {place: seen for place, seen in found.items() if seen}
    if not repair or not differing:
        return [difference for seen in differing.values() for difference in seen]
    time.sleep(pause)
    return [difference for place, seen in differing.items()
            for difference in (
                seen if place.gone == UNKNOWN_HOST and not named else
                _repair(ledger, place, seen))]


def _places(ledger: placement_ledger.Ledger, host: str | None) -> list[_Place]:
    admin = zun_context.get_admin_context()
    nodes = objects.ComputeNode.list(admin, sort_key='hostname')
    served = {service.host for service in
              objects.ZunService.list_by_binary(admin, services.COMPUTE)}
    places = [_Place(node.hostname, node.rp_uuid, None if node.hostname in served else LOST_HOST)
              for node in nodes]
    for kind, others in ((LOST_HOST, ledger.providers()), (UNKNOWN_HOST, ledger.unmarked())):
        known = {place.provider for place in places}
        places += [_Place(name, provider, kind)
                   for provider, name in sorted(others.items(), key=lambda item: item[1])
                   if provider not in known]
    if host is not None:
        places = [place for place in places if place.host == host]
        if not places:
            raise exception.ComputeNodeNotFound(compute_node=host)
    return places


def _look(ledger: placement_ledger.Ledger, place: _Place, named: bool) -> list[Difference]:
    found = []
    if named or place.gone != UNKNOWN_HOST:
        seen = audit.look(ledger, place.host, place.provider)
        for finding in seen.findings:
            row = seen.known.get(finding.consumer)
            found.append(Difference(
                finding.kind, place.host, place.provider, finding.consumer,
                dict(seen.held.get(finding.consumer, {})),
                audit.wanted(row) if row is not None and row['host'] == place.host else {}))
    if place.gone is not None:
        found.append(Difference(place.gone, place.host, place.provider))
    return found


def _repair(ledger: placement_ledger.Ledger, place: _Place,
            before: list[Difference]) -> list[Difference]:
    """What is still found, with what became of it; the lost host itself comes last."""
    seen = audit.look(ledger, place.host, place.provider)
    result = []
    for difference in before:
        if difference.consumer is None:
            done = _forget(ledger, place)
        else:
            finding = audit.Finding(difference.kind, difference.consumer)
            if finding not in seen.findings:
                continue
            done = audit.repair(ledger, place.provider, finding,
                                seen.known.get(finding.consumer))
        LOG.info('Audit of host %s: %s %s: %s', place.host, difference.kind,
                 difference.consumer or place.provider, 'repaired' if done else 'not repaired')
        result.append(dataclasses.replace(difference, repaired=done))
    return result


def _forget(ledger: placement_ledger.Ledger, place: _Place) -> bool:
    """Remove a host from the ledger, and its row; False: it is not empty."""
    nodes = objects.ComputeNode.list(zun_context.get_admin_context(),
                                     filters={'rp_uuid': place.provider})
    if nodes and containers.count_by_status(place.host):
        return False
    try:
        ledger.forget(place.provider)
    except exception.Conflict:
        return False
    for node in nodes:
        node.destroy()
    return True
