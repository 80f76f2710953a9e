# SPDX-License-Identifier: Apache-2.0
"""Comparison of the ledger with the containers' rows, host by host, and repair of what differs.

What is found once may be an operation under way: only what was found before, an audit interval ago,
is repaired. A provider that Nova shares has consumers that are none of ours.
"""

import collections
from collections.abc import Collection, Mapping
import dataclasses
import time
import typing as ty

from oslo_db import exception as db_exc
from oslo_log import log as logging
import sqlalchemy as sa

from zun.common import exception
from zun.common import states
import zun.conf
from zun.db import clock
from zun.db import engine
from zun.db import models
from zun.db import rows
from zun.placement import amounts
from zun.placement import ledger as placement_ledger

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: What the ledger says differs from the row.
DIFFERS = 'differs'
#: The row is on the host, the ledger does not know.
MISSING = 'missing'
#: The ledger says this host, the row another one or none.
ELSEWHERE = 'elsewhere'
#: There is no row.
ORPHAN = 'orphan'

#: Seconds between two hosts.
_PACE = 1.0
_LEASE = 'ledger_audit'
_CONTAINER = models.container
_READ = ('uuid', 'host', 'cpu', 'memory', 'disk', 'status', 'task_state', 'container_type',
         'project_id', 'user_id')
_OWN = (models.CONTAINER, models.CAPSULE)

Held = Mapping[str, placement_ledger.Resources]
Rows = Mapping[str, rows.Row]


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that differs on one host."""

    kind: str
    consumer: str


def settled(row: rows.Row) -> bool:
    """Whether nothing is under way that changes what the container holds."""
    return (row['task_state'] is None and row['status'] not in states.TRANSITIONAL
            and row['status'] != states.DELETED)


def wanted(row: rows.Row) -> placement_ledger.Resources:
    """What a row should hold."""
    return amounts.of(row['cpu'], row['memory'], row['disk'])


def compare(host: str, held: Held, known: Rows) -> list[Finding]:
    """What differs between the allocations on a host and the rows.

    :param held: consumer -> resources on the host's provider
    :param known: uuid -> row, of the containers on the host and of all consumers
    """
    findings = [Finding(ORPHAN, uuid) for uuid in held if uuid not in known]
    for uuid, row in known.items():
        if not settled(row):
            continue
        here = row['host'] == host
        if uuid in held and not here:
            findings.append(Finding(ELSEWHERE, uuid))
        elif here and uuid not in held:
            findings.append(Finding(MISSING, uuid))
        elif here and held[uuid] != wanted(row):
            findings.append(Finding(DIFFERS, uuid))
    return findings


def excess(held: Held, capacity: placement_ledger.Resources) -> dict[str, tuple[int, int]]:
    """Resource class -> what is held of a host and what it has, where that is less."""
    total: collections.Counter[str] = collections.Counter()
    for resources in held.values():
        total.update(resources)
    return {name: (amount, capacity.get(name, 0)) for name, amount in sorted(total.items())
            if amount > capacity.get(name, 0)}


@dataclasses.dataclass(frozen=True)
class Look:
    """What ledger and rows say of one host.

    :ivar held: consumer -> resources on the host's provider
    :ivar known: uuid -> row, of the containers on the host and of all consumers
    """

    held: Held
    known: Rows
    findings: list[Finding]


def look(ledger: placement_ledger.Ledger, host: str, provider: str) -> Look:
    """Compare one host. Rows are read after the ledger: what is claimed has a row already.

    Consumers of other services are no findings.
    """
    held = ledger.allocations_on(provider)
    known = _rows(host, held)

    def stands(finding: Finding) -> bool:
        uuid = finding.consumer
        if finding.kind == ORPHAN:
            return ledger.owns(uuid, provider)
        return finding.kind != DIFFERS or _differs(ledger, provider, uuid, wanted(known[uuid]))

    return Look(held, known, [found for found in compare(host, held, known) if stands(found)])


def _differs(ledger: placement_ledger.Ledger, provider: str, uuid: str,
             resources: placement_ledger.Resources) -> bool:
    """Whether it still differs when what it has of shared storage counts, too."""
    total: collections.Counter[str] = collections.Counter()
    for other, item in ledger.held(uuid).items():
        if other == provider or placement_ledger.MEMORY_MB not in item:
            total.update(item)
    return dict(total) != resources


def repair(ledger: placement_ledger.Ledger, provider: str, finding: Finding,
           row: rows.Row | None) -> bool:
    """Make the ledger say what the row says.

    Of a container that holds several hosts the one that it is on stays.

    :returns: False: the host has no room
    """
    uuid = finding.consumer
    if finding.kind == ORPHAN or row is None:
        ledger.release(uuid)
        return True
    if finding.kind == ELSEWHERE:
        ledger.leave(uuid, provider)
        return True
    consumer = placement_ledger.Consumer(
        uuid, row['project_id'], row['user_id'],
        'CAPSULE' if row['container_type'] == models.CAPSULE else 'CONTAINER')
    if finding.kind == DIFFERS:
        return ledger.resize(consumer, wanted(row))
    candidate = placement_ledger.Candidate(provider, {provider: wanted(row)}, {}, {})
    try:
        return ledger.claim(consumer, candidate)
    except exception.ConsumerConflict:
        ledger.release(uuid)  # what it holds of another host
        return ledger.claim(consumer, candidate)


class Auditor:
    """One step looks at one host. Of all processes one makes the round."""

    def __init__(self, ledger: placement_ledger.Ledger) -> None:
        self._ledger = ledger
        self._left: list[tuple[str, str]] = []
        self._suspects: dict[str, dict[Finding, float]] = {}
        self._excess: dict[str, dict[str, tuple[int, int]]] = {}
        self._found: collections.Counter[str] = collections.Counter()
        self._repaired: collections.Counter[str] = collections.Counter()

    def pause(self) -> float:
        """Seconds until the next step."""
        return _PACE if self._left else float(CONF.placement_client.audit_interval)

    def step(self) -> None:
        """Look at the next host; begin a new round when it is due and nobody else makes it.

        Without the filter scheduler nothing is ever allocated, and nothing is audited.
        """
        if CONF.scheduler.driver != 'filter_scheduler':
            return
        if not self._left:
            with engine.reader() as session:
                hosts = session.execute(sa.select(
                    models.compute_node.c.hostname, models.compute_node.c.rp_uuid)).all()
            if not _turn(max(CONF.placement_client.audit_interval * 0.9, 2 * _PACE * len(hosts))):
                return
            self._left = [(host, provider) for host, provider in hosts]
        if self._left:
            host, provider = self._left.pop()
            try:
                self.audit(host, provider)
            except (exception.LedgerUnavailable, exception.LedgerForbidden) as error:
                LOG.info('Host %s cannot be audited: %s', host, error.message)
            if not self._left:
                self._sum_up()

    def _sum_up(self) -> None:
        """One line for a round; a warning when something was not as it should be."""
        level = logging.WARNING if self._found else logging.DEBUG
        LOG.log(level, 'The ledger was audited: found %s, repaired %s', dict(self._found),
                dict(self._repaired))
        self._found.clear()
        self._repaired.clear()

    def audit(self, host: str, provider: str) -> list[Finding]:
        """Look at one host, and repair what has differed for as long as an audit interval.

        :returns: everything that differs
        """
        seen = look(self._ledger, host, provider)
        before, now = self._suspects.get(provider, {}), time.monotonic()
        found = {finding: before.get(finding, now) for finding in seen.findings}
        self._suspects[provider] = found
        self._found.update(finding.kind for finding in found)
        for finding, since in found.items():
            if now - since >= CONF.placement_client.audit_interval:
                done = repair(self._ledger, provider, finding, seen.known.get(finding.consumer))
                self._repaired[finding.kind] += done
                LOG.info('Audit of host %s: allocation of %s: %s, %s', host, finding.consumer,
                         finding.kind, 'repaired' if done else 'not repaired: the host is full')
        self._tell_excess(host, provider, seen.held)
        return list(found)

    def _tell_excess(self, host: str, provider: str, held: Held) -> None:
        """Say so, once, when more is held of a host than it has."""
        found = excess(held, self._ledger.capacity(provider))
        if found and found != self._excess.get(provider):
            LOG.warning('Host %s is over-committed: %s', host, ', '.join(
                f'{amount} of {most} {name} are held' for name, (amount, most) in found.items()))
        self._excess[provider] = found


def _rows(host: str, consumers: Collection[str]) -> Rows:
    statement = sa.select(*(_CONTAINER.c[name] for name in _READ)).where(
        _CONTAINER.c.container_type.in_(_OWN),
        sa.or_(_CONTAINER.c.host == host, _CONTAINER.c.uuid.in_(consumers)))
    with engine.reader() as session:
        return {row['uuid']: row for row in rows.every(session, statement)}


@engine.retry
def _turn(seconds: float) -> bool:
    """Whether this process makes the round; nobody else does for so many seconds."""
    table = models.quota_usages
    key: dict[str, ty.Any] = {'project_id': '', 'resource': _LEASE}
    with engine.writer() as session:
        taken = session.execute(sa.update(table).where(
            *(table.c[name] == value for name, value in key.items()),
            table.c.updated_at <= clock.utc_now(-seconds)).values(
            updated_at=clock.utc_now(), in_use=table.c.in_use + 1))
        if ty.cast('sa.CursorResult[ty.Any]', taken).rowcount:
            return True
        if rows.one(session, sa.select(table.c.id).where(
                *(table.c[name] == value for name, value in key.items()))):
            return False
    try:
        with engine.writer() as session:
            rows.insert(session, table, {**key, 'updated_at': clock.utc_now()})
    except db_exc.DBDuplicateEntry:
        return False
    return True
