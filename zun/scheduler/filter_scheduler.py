# SPDX-License-Identifier: Apache-2.0
from collections.abc import Collection
import dataclasses
import random

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.placement import ledger as placement_ledger
from zun.scheduler import driver
from zun.scheduler import filters
from zun.scheduler import host_state
from zun.scheduler import request
from zun.scheduler import weighers

CONF = zun.conf.CONF
Context = zun_context.RequestContext


class FilterScheduler(driver.SchedulerDriver):
    """Candidates of the ledger that pass the filters, ordered by weight."""

    def __init__(self, ledger: placement_ledger.Ledger) -> None:
        super().__init__(ledger)
        self._filters = filters.load(CONF.scheduler.available_filters,
                                     CONF.scheduler.enabled_filters)

    def choose(self, context: Context, wanted: request.Request,
               refused: Collection[str] = (), repeated: bool = False) -> driver.Choice:
        wanted = _with_companions(context, wanted)
        trail: list[str] = []
        if CONF.scheduler.optimistic and not repeated and not wanted.main.required:
            hosts = self._passing([_untold(host, wanted) for host in host_state.read(
                wanted.requested_host or None)], wanted, refused, trail)
            if hosts:
                return driver.Choice(weighers.ordered(hosts, wanted), trail)
        return self._of_candidates(wanted, refused, trail)

    def _of_candidates(self, wanted: request.Request, refused: Collection[str],
                       trail: list[str]) -> driver.Choice:
        providers = [host.rp_uuid for host in host_state.read(wanted.requested_host)] \
            if wanted.requested_host else []
        try:
            in_tree, limit = request.scope(wanted.requested_host, wanted.hints, providers)
        except exception.NoValidHost as error:
            return driver.Choice([], [error.message])
        aggregates = [] if in_tree else CONF.scheduler.shard_aggregates
        for aggregate in [*random.sample(aggregates, len(aggregates)), None]:
            candidates = self._ledger.candidates(
                wanted.resources, wanted.main.required, wanted.main.forbidden, in_tree=in_tree,
                limit=limit, member_of=aggregate)
            hosts = self._passing(_hosts_of(candidates), wanted, refused, trail)
            if hosts:
                return driver.Choice(weighers.ordered(hosts, wanted), trail)
        return driver.Choice([], trail)

    def _passing(self, hosts: list[host_state.HostState], wanted: request.Request,
                 refused: Collection[str], trail: list[str]) -> list[host_state.HostState]:
        remaining = driver.left(hosts, wanted, refused)
        trail.append(f'{len(hosts)} with room')
        if len(remaining) < len(hosts):
            trail.append(f'{len(remaining)} not tried before')
        chain = filters.needed(wanted, self._filters)
        passing, steps = filters.survivors(remaining, wanted, chain)
        trail.extend(steps)
        return passing


def _hosts_of(candidates: list[placement_ledger.Candidate]) -> list[host_state.HostState]:
    if not candidates:
        return []
    by_provider: dict[str, list[placement_ledger.Candidate]] = {}
    for candidate in candidates:
        by_provider.setdefault(candidate.provider, []).append(candidate)
    hosts = host_state.read(providers=by_provider)
    for host in hosts:
        host.candidates = by_provider[host.rp_uuid]
    return hosts


def _untold(host: host_state.HostState, wanted: request.Request) -> host_state.HostState:
    """The host with a candidate made of its own row, which the ledger has not been asked about."""
    host.candidates = [placement_ledger.Candidate(
        host.rp_uuid, {host.rp_uuid: dict(wanted.resources)},
        {placement_ledger.VCPU: host.cpus, placement_ledger.MEMORY_MB: host.mem_total,
         placement_ledger.DISK_GB: host.disk_total},
        {placement_ledger.VCPU: round(host.cpu_used), placement_ledger.MEMORY_MB: host.mem_used,
         placement_ledger.DISK_GB: host.disk_used})]
    return host


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
