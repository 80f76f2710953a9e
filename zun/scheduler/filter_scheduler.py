# SPDX-License-Identifier: Apache-2.0
import collections
from collections.abc import Collection
import dataclasses
import random
import time

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.placement import ledger as placement_ledger
from zun.scheduler import driver
from zun.scheduler import filters
from zun.scheduler import guess
from zun.scheduler import host_state
from zun.scheduler import request
from zun.scheduler import weighers

CONF = zun.conf.CONF

#: Hosts whose rows are read at first; while none of them passes, so many times more.
_BATCH = 50
_GROWTH = 4
#: Seconds for which the number of hosts is believed, and which of them the ledger keeps closed.
_KNOWN_FOR = 30.0
_ROOM = 'with room'
_FRESH = 'not tried before'
Context = zun_context.RequestContext


class FilterScheduler(driver.SchedulerDriver):
    """Candidates of the ledger that pass the filters, ordered by weight."""

    def __init__(self, ledger: placement_ledger.Ledger) -> None:
        super().__init__(ledger)
        self._filters = filters.load(CONF.scheduler.available_filters,
                                     CONF.scheduler.enabled_filters)
        self._hosts = 0
        self._counted_at = -_KNOWN_FOR
        self._closed: frozenset[str] = frozenset()
        self._asked_at = -_KNOWN_FOR
        #: Whether hosts have all they have themselves, as far as the ledger was asked.
        self._flat = True

    def choose(self, context: Context, wanted: request.Request,
               refused: Collection[str] = (), repeated: bool = False) -> driver.Choice:
        wanted = _with_companions(context, wanted)
        search = _Search(wanted, refused, filters.needed(wanted, self._filters))
        if not (repeated or wanted.main.required) and self._optimistic():
            closed = self._closed_hosts()
            guesses = [guess.candidate_of(host, wanted) for host in host_state.read(
                wanted.requested_host or None, draw=_BATCH) if host.rp_uuid not in closed]
            hosts = search.passing([host for host in guesses if guess.may_take(host, wanted)])
            if hosts:
                return driver.Choice(weighers.ordered(hosts, wanted), search.trail, guessed=True)
        return self._of_candidates(wanted, search)

    def _optimistic(self) -> bool:
        """Whether to claim without asking for candidates (spec placement.md §7)."""
        options = CONF.scheduler
        if not self._flat or not _spreading():
            return False
        if options.optimistic:
            return True
        if self._ledger.draws or not options.optimistic_above:
            return False
        if time.monotonic() - self._counted_at >= _KNOWN_FOR:
            self._hosts, self._counted_at = host_state.count(), time.monotonic()
        return self._hosts > options.optimistic_above

    def _closed_hosts(self) -> frozenset[str]:
        """Providers whose hosts the ledger keeps closed, maybe for what no row of theirs tells."""
        if time.monotonic() - self._asked_at >= _KNOWN_FOR:
            self._closed, self._asked_at = frozenset(self._ledger.closed()), time.monotonic()
        return self._closed

    def _of_candidates(self, wanted: request.Request, search: '_Search') -> driver.Choice:
        known = host_state.read(wanted.requested_host) if wanted.requested_host else None
        try:
            in_tree, limit = request.scope(wanted.requested_host, wanted.hints,
                                           [host.rp_uuid for host in known or ()])
        except exception.NoValidHost as error:
            return driver.Choice([], [error.message])
        aggregates = [] if in_tree else CONF.scheduler.shard_aggregates
        for aggregate in [*random.sample(aggregates, len(aggregates)), None]:
            for most in self._looks(in_tree, limit):
                search.start()
                candidates = self._ledger.candidates(
                    wanted.resources, wanted.main.required, wanted.main.forbidden,
                    in_tree=in_tree, limit=most, member_of=aggregate)
                if candidates and in_tree is None:
                    self._flat = all(found.allocations.keys() == {found.provider}
                                     for found in candidates)
                hosts = search.among(candidates, known)
                if hosts:
                    return driver.Choice(weighers.ordered(hosts, wanted), search.trail)
                if most is None or len(candidates) < most:
                    break
        return driver.Choice([], search.trail)

    def _looks(self, in_tree: str | None, limit: int | None) -> list[int | None]:
        """How many candidates to ask for, until one passes."""
        few = (self._ledger.draws and in_tree is None and limit is not None and limit > _BATCH
               and _spreading())
        return [_BATCH, limit] if few else [limit]


def _spreading() -> bool:
    """Whether a draw of the hosts will do. To fill them up takes all of them."""
    return CONF.scheduler.host_weight_policy == 'spread'


class _Search:
    """The way from candidates to hosts that pass.

    :param chain: the filters of this request
    """

    def __init__(self, wanted: request.Request, refused: Collection[str],
                 chain: list[filters.HostFilter]) -> None:
        self._wanted = wanted
        self._refused = refused
        self._chain = chain
        self.start()

    def start(self) -> None:
        """Count anew."""
        self._steps: collections.Counter[str] = collections.Counter()

    @property
    def trail(self) -> list[str]:
        """How many hosts each step has left, of all that were looked at."""
        return [f'{count} {step}' for step, count in self._steps.items()]

    def among(self, candidates: list[placement_ledger.Candidate],
              known: list[host_state.HostState] | None = None) -> list[host_state.HostState]:
        """The hosts that pass among the best candidates; the rows of the others are not read.

        :param known: the only hosts that are wanted, as they were read
        """
        by_provider: dict[str, list[placement_ledger.Candidate]] = {}
        for candidate in candidates:
            by_provider.setdefault(candidate.provider, []).append(candidate)
        if not candidates:
            self._steps[_ROOM] += 0
        ranked = [state.rp_uuid for state in weighers.ordered(
            [host_state.HostState(rp_uuid=provider, candidates=found)
             for provider, found in by_provider.items()], self._wanted)]
        gradual = known is None and weighers.of_candidates_alone()
        begin, size = 0, _BATCH if gradual else len(ranked)
        while begin < len(ranked):
            hosts = host_state.read(providers=ranked[begin:begin + size]) if known is None \
                else [host for host in known if host.rp_uuid in by_provider]
            for host in hosts:
                host.candidates = by_provider[host.rp_uuid]
            found = self.passing(hosts)
            if found:
                return found
            begin, size = begin + size, size * _GROWTH
        return []

    def passing(self, hosts: list[host_state.HostState]) -> list[host_state.HostState]:
        """Those that no filter holds back, and that have not failed before."""
        remaining = driver.left(hosts, self._wanted, self._refused)
        self._steps[_ROOM] += len(hosts)
        if len(remaining) < len(hosts) or _FRESH in self._steps:
            self._steps[_FRESH] += len(remaining)
        found, left = filters.survivors(remaining, self._wanted, self._chain)
        for name, count in left.items():
            self._steps[f'after {name}'] += count
        return found


def _with_companions(context: Context, wanted: request.Request) -> request.Request:
    """The request with the hosts of the containers that its hints name."""
    same, different = wanted.hints.get('same_host'), wanted.hints.get('different_host')
    if not same and not different:
        return wanted
    return dataclasses.replace(
        wanted, same_hosts=_hosts_with(context, wanted, same) if same else None,
        different_hosts=_hosts_with(context, wanted, different))


def _hosts_with(context: Context, wanted: request.Request,
                uuids: str | list[str] | None) -> frozenset[str]:
    """Hosts of these containers, as far as they belong to the same project."""
    found = set()
    for uuid in [uuids] if isinstance(uuids, str) else uuids or ():
        try:
            container = objects.Container.get_any_type(context.elevated(), str(uuid))
        except exception.ContainerNotFound:
            continue
        if container.host and container.project_id == wanted.consumer.project_id:
            found.add(container.host)
    return frozenset(found)
