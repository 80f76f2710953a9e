# SPDX-License-Identifier: Apache-2.0
"""The ledger in Placement. A refused write is decided by what is read back, never by its text.

Placement does not prevent over-allocation under concurrency; the node's own claim does.
"""

from collections.abc import Collection, Iterator
import contextlib
import dataclasses
import math
import socket
import threading
import time
import typing as ty

from oslo_log import log as logging

from zun.common import exception
import zun.conf
from zun.placement import client
from zun.placement import ledger

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Five conflicts are survived though every other try has the wrong generation.
_CLAIM_TRIES = 7
_RELEASE_TRIES = 5
_REPORT_TRIES = 5
#: Traits of this prefix are ours alone; all others on a provider are left as they are.
_OUR_TRAITS = 'CUSTOM_ZUN_'
_NOVA_TRAITS = 'COMPUTE_'
_NOVA_NODE = 'COMPUTE_NODE'
_UNTYPED = 'unknown'
_MOST_FOREIGN = 50_000
_RATIO_OPTIONS = {ledger.VCPU: 'cpu_allocation_ratio', ledger.MEMORY_MB: 'ram_allocation_ratio',
                  ledger.DISK_GB: 'disk_allocation_ratio'}
_NOBODY = '00000000-0000-0000-0000-000000000000'


@dataclasses.dataclass(frozen=True)
class _Reported:
    """What was reported of a provider, to spare reading it again at once."""

    inventories: dict[str, ledger.Inventory]
    traits: frozenset[str]
    at: float

    def covers(self, inventories: dict[str, ledger.Inventory], traits: frozenset[str]) -> bool:
        refresh = CONF.compute.resource_provider_association_refresh
        fresh = not refresh or time.monotonic() - self.at < refresh
        return fresh and (inventories, traits) == (self.inventories, self.traits)


class PlacementLedger(ledger.Ledger):
    """
    :param connection: None: the one that ``[placement_client]`` describes
    """

    def __init__(self, connection: client.Connection | None = None) -> None:
        self._connection = connection or client.Connection()
        self._reported: dict[str, _Reported] = {}
        self._foreign: set[str] = set()
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """
        :raises ConfigInvalid: Placement is too old
        """
        client.find_provider(self._connection, uuid=_NOBODY)
        for trait in (ledger.DISABLED_TRAIT, ledger.NODE_TRAIT):
            client.ensure_trait(self._connection, trait)

    # Scheduler --------------------------------------------------------------------------------

    def candidates(self, resources: ledger.Resources, required: Collection[str] = (),
                   forbidden: Collection[str] = (), in_tree: str | None = None,
                   limit: int | None = None,
                   member_of: str | None = None) -> list[ledger.Candidate]:
        wanted = client.query({'': client.Group(resources, required, forbidden)}, limit=limit,
                              in_tree=in_tree, member_of=member_of)
        answer = client.candidates(self._connection, wanted)
        if answer.status == 400 and forbidden:
            # An unknown trait is refused even as a forbidden one: a fresh or restored Placement.
            for trait in forbidden:
                client.ensure_trait(self._connection, trait)
            answer = client.candidates(self._connection, wanted)
        if answer.status != 200:
            raise client.error(answer)
        return list(_candidates(answer.body))

    def claim(self, consumer: ledger.Consumer, candidate: ledger.Candidate) -> bool:
        generation = None
        for attempt in range(_CLAIM_TRIES):
            answer = client.put_allocations(self._connection, consumer, candidate.allocations,
                                            generation)
            if answer.done:
                return True
            if answer.no_room or (answer.status == 400 and self._vanished(candidate)):
                return False
            if not answer.raced:
                raise client.error(answer)
            held = client.get_allocations(self._connection, consumer.uuid)
            if not held.allocations:
                # A failed claim leaves a record that no read shows and that only 0 matches.
                generation = 0 if generation is None else None
            elif (held.allocations, held.project_id) == (candidate.allocations,
                                                         consumer.project_id):
                return True  # an earlier try of ours, whose answer was lost
            elif held.generation != generation:
                raise exception.ConsumerConflict(consumer=consumer.uuid)
            client.pause(attempt, 0.1)
        raise _contended(f'the claim of {consumer.uuid}')

    def _vanished(self, candidate: ledger.Candidate) -> bool:
        return any(client.find_provider(self._connection, uuid=provider) is None
                   for provider in candidate.allocations)

    def resize(self, consumer: ledger.Consumer, resources: ledger.Resources) -> bool:
        for attempt in range(_CLAIM_TRIES):
            held = client.get_allocations(self._connection, consumer.uuid)
            if not held.allocations:
                return True  # it was never claimed here: the node's own books decide
            wanted = _resized(held.allocations, resources)
            if wanted == held.allocations:
                return True
            answer = client.put_allocations(self._connection, consumer, wanted, held.generation)
            if answer.done:
                return True
            if answer.no_room:
                return False
            if not answer.raced:
                raise client.error(answer)
            client.pause(attempt, 0.1)
        raise _contended(f'the resize of {consumer.uuid}')

    def release(self, consumer_uuid: str, provider: str | None = None) -> None:
        ours: set[str] = set()

        def none_of(held: dict[str, ledger.Resources]) -> dict[str, ledger.Resources] | None:
            if provider not in (None, *held):
                return None
            ours.update(() if ours else held)
            if not ours >= set(held):
                LOG.info('%s is moving: its allocations are left to the move', consumer_uuid)
                return None
            return {}

        self._reduce(consumer_uuid, none_of)

    def leave(self, consumer_uuid: str, provider: str) -> None:
        def others(held: dict[str, ledger.Resources]) -> dict[str, ledger.Resources] | None:
            if provider not in held:
                return None
            rest = {name: resources for name, resources in held.items() if name != provider}
            # Of what hosts share nothing is left to a container that has no host.
            return rest if any(ledger.MEMORY_MB in item for item in rest.values()) else {}

        self._reduce(consumer_uuid, others)

    def _reduce(self, consumer_uuid: str, decide: ty.Callable[
            [dict[str, ledger.Resources]], dict[str, ledger.Resources] | None]) -> None:
        """Read, decide what stays, write; again when somebody was faster. None: leave all."""
        for attempt in range(_RELEASE_TRIES):
            held = client.get_allocations(self._connection, consumer_uuid)
            rest = decide(held.allocations) if held.allocations else None
            if rest is None:
                return
            # What was allocated before there were types has one that no write accepts.
            kind = 'CONTAINER' if held.kind in (None, _UNTYPED) else held.kind
            consumer = ledger.Consumer(consumer_uuid, held.project_id or '', held.user_id or '',
                                       kind)
            answer = client.put_allocations(self._connection, consumer, rest, held.generation)
            if answer.done:
                return
            if not answer.raced:
                raise client.error(answer)
            client.pause(attempt, 0.1)
        raise _contended(f'the release of {consumer_uuid}')

    def held(self, consumer_uuid: str) -> dict[str, ledger.Resources]:
        return client.get_allocations(self._connection, consumer_uuid).allocations

    def owns(self, consumer_uuid: str, provider: str) -> bool:
        """What is somebody else's stays so, and is asked for once."""
        if consumer_uuid in self._foreign:
            return False
        ours = self._owns(consumer_uuid, provider)
        if not ours:
            if len(self._foreign) >= _MOST_FOREIGN:
                self._foreign.clear()
            self._foreign.add(consumer_uuid)
        return ours

    def _owns(self, consumer_uuid: str, provider: str) -> bool:
        kind = client.get_allocations(self._connection, consumer_uuid).kind
        if kind in ('CONTAINER', 'CAPSULE'):
            return True
        if kind not in (None, _UNTYPED):
            return False
        # Made before there were types: ours, unless Nova is on the host too.
        traits, _generation = client.get_part(self._connection, provider, 'traits')
        return not any(name.startswith(_NOVA_TRAITS) for name in traits)

    # Node -------------------------------------------------------------------------------------

    def ensure_provider(self, uuid: str, name: str) -> str:
        """
        :raises ResourceProviderNotFound: the host is shared with Nova, which has no provider yet
        """
        if CONF.compute.host_shared_with_nova:
            return self._shared_provider(name)
        found = client.find_provider(self._connection, uuid=uuid)
        if found is not None:
            self._rename(found, name)
            return uuid
        for _attempt in range(2):
            answer = client.create_provider(self._connection, uuid, name)
            if answer.done or client.find_provider(self._connection, uuid=uuid):
                return uuid
            former = client.find_provider(self._connection, name=name)
            if answer.status != 409 or former is None:
                raise client.error(answer)
            removed = client.delete_provider(self._connection, former['uuid'])
            if removed.status == 409:
                LOG.warning('Host %s goes on with its former provider %s, which still holds '
                            'allocations', name, former['uuid'])
                return ty.cast(str, former['uuid'])
        raise _contended(f'the provider of {name}')

    def _shared_provider(self, name: str) -> str:
        for candidate in dict.fromkeys((name, socket.gethostname(), socket.getfqdn())):
            found = client.find_provider(self._connection, name=candidate)
            if found is not None:
                return ty.cast(str, found['uuid'])
        raise exception.ResourceProviderNotFound(name_or_uuid=name)

    def _rename(self, provider: dict[str, ty.Any], name: str) -> None:
        if provider['name'] == name:
            return
        answer = client.rename_provider(self._connection, provider['uuid'], name)
        if not answer.done:
            LOG.warning('Provider %s keeps the name %s: %s', provider['uuid'], provider['name'],
                        answer.detail)

    def report(self, provider: str, inventories: dict[str, ledger.Inventory],
               traits: Collection[str] = ()) -> None:
        wanted = frozenset({ledger.NODE_TRAIT, *traits})
        known = self._reported.get(provider)
        if known is not None and known.covers(inventories, wanted):
            return
        self._forget_report(provider)
        with _of_provider(provider):
            if not CONF.compute.host_shared_with_nova:
                self._change(provider, 'inventories',
                             lambda have: self._inventories(provider, have, inventories))
            self._change(provider, 'traits', lambda have: _traits(have, wanted))
        with self._lock:
            self._reported[provider] = _Reported(dict(inventories), wanted, time.monotonic())

    def set_disabled(self, provider: str, disabled: bool) -> None:
        def changed(have: list[str]) -> list[str]:
            others = set(have) - {ledger.DISABLED_TRAIT}
            return sorted(others | ({ledger.DISABLED_TRAIT} if disabled else set()))

        self._forget_report(provider)
        with contextlib.suppress(exception.NotFound):  # then it is no candidate either
            self._change(provider, 'traits', changed)

    def _forget_report(self, provider: str) -> None:
        with self._lock:
            self._reported.pop(provider, None)

    def _change(self, provider: str, part: str, decide: ty.Callable[[ty.Any], ty.Any]) -> None:
        """Read, decide, write when that differs; again when somebody was faster."""
        for attempt in range(_REPORT_TRIES):
            have, generation = client.get_part(self._connection, provider, part)
            want = decide(have)
            if _same(part, have, want):
                return
            if part == 'traits':
                for name in sorted(set(want) - set(have)):
                    client.ensure_trait(self._connection, name)
            answer = client.put_part(self._connection, provider, part, want, generation)
            if answer.done:
                return
            if answer.status != 409:
                raise client.error(answer)
            client.pause(attempt, 0.2)
        raise _contended(f'the {part} of provider {provider}')

    def _inventories(self, provider: str, have: dict[str, dict[str, ty.Any]],
                     want: dict[str, ledger.Inventory]) -> dict[str, dict[str, ty.Any]]:
        new = {name: _inventory(name, item, have.get(name)) for name, item in want.items()}
        shrinking = [name for name, item in have.items()
                     if name not in new or new[name]['total'] < item['total']]
        if not shrinking:
            return new
        usages, _generation = client.get_part(self._connection, provider, 'usages')
        for name in shrinking:
            used, held = usages.get(name, 0), have[name]
            if name not in new:
                if used:  # a class in use cannot be removed: keep others from taking more
                    new[name] = {**held, 'reserved': held['total']}
            elif used > _capacity(new[name]):
                LOG.warning('Provider %s: %d of %s are in use, %d are left', provider, used, name,
                            _capacity(new[name]))
                offered = new[name]['total'] - new[name]['reserved']
                new[name] = {**new[name], 'total': held['total'], 'max_unit': held['total'],
                             'reserved': held['total'] - offered}
        return new

    def allocations_on(self, provider: str) -> dict[str, ledger.Resources]:
        try:
            found, _generation = client.get_part(self._connection, provider, 'allocations')
        except exception.NotFound:
            return {}
        return {consumer: dict(item['resources']) for consumer, item in found.items()}

    def capacity(self, provider: str) -> ledger.Resources:
        try:
            have, _generation = client.get_part(self._connection, provider, 'inventories')
        except exception.NotFound:
            return {}
        return {name: _capacity(item) for name, item in have.items()}

    def providers(self) -> dict[str, str]:
        """Those with one of our traits: upstream marks disabled hosts only."""
        return {found['uuid']: found['name'] for trait in (ledger.NODE_TRAIT, ledger.DISABLED_TRAIT)
                for found in client.list_providers(self._connection, [trait])}

    def closed(self) -> set[str]:
        return {found['uuid'] for found in client.list_providers(
            self._connection, [ledger.DISABLED_TRAIT])}

    def unmarked(self) -> dict[str, str]:
        """Those with free CPUs that are not Nova's: upstream does not mark its hosts."""
        found = client.list_providers(
            self._connection, [f'!{trait}' for trait in (
                ledger.NODE_TRAIT, ledger.DISABLED_TRAIT, _NOVA_NODE)],
            {ledger.VCPU: 1, ledger.MEMORY_MB: 1})
        return {provider['uuid']: provider['name'] for provider in found
                if provider['parent_provider_uuid'] is None}

    def forget(self, provider: str) -> None:
        self._forget_report(provider)
        try:
            traits, _generation = client.get_part(self._connection, provider, 'traits')
        except exception.NotFound:
            return
        if any(name.startswith(_NOVA_TRAITS) for name in traits):
            # Nova's own: only what is ours goes from it.
            self._change(provider, 'traits', lambda have: _traits(have, frozenset()))
            return
        answer = client.delete_provider(self._connection, provider)
        if not answer.done and answer.status != 404:
            raise client.error(answer)


@contextlib.contextmanager
def _of_provider(provider: str) -> Iterator[None]:
    try:
        yield
    except exception.NotFound:
        raise exception.ResourceProviderNotFound(name_or_uuid=provider) from None


def _contended(what: str) -> exception.LedgerUnavailable:
    return exception.LedgerUnavailable(reason=f'{what} is still contended')


def _candidates(body: dict[str, ty.Any]) -> Iterator[ledger.Candidate]:
    summaries = body['provider_summaries']
    trees: dict[str, list[dict[str, ty.Any]]] = {}
    for provider, summary in summaries.items():
        trees.setdefault(summary.get('root_provider_uuid') or provider, []).append(
            summary['resources'])
    for request in body['allocation_requests']:
        allocations = {provider: dict(item['resources'])
                       for provider, item in request['allocations'].items()}
        # Shared storage has a root of its own; the host is where the memory is.
        main = next((provider for provider, item in allocations.items()
                     if ledger.MEMORY_MB in item), next(iter(allocations)))
        root = summaries[main].get('root_provider_uuid') or main
        yield ledger.Candidate(root, allocations, _total(trees[root], 'capacity'),
                               _total(trees[root], 'used'))


def _total(tree: list[dict[str, ty.Any]], key: str) -> ledger.Resources:
    sums: ledger.Resources = {}
    for resources in tree:
        for name, item in resources.items():
            sums[name] = sums.get(name, 0) + item[key]
    return sums


def _resized(allocations: dict[str, ledger.Resources],
             resources: ledger.Resources) -> dict[str, ledger.Resources]:
    """The same providers with new amounts; what is no longer wanted goes."""
    main = next((provider for provider, item in allocations.items()
                 if ledger.MEMORY_MB in item), next(iter(allocations)))
    placed: dict[str, ledger.Resources] = {}
    for name, amount in resources.items():
        owner = next((provider for provider, item in allocations.items() if name in item), main)
        placed.setdefault(owner, {})[name] = amount
    return placed


def _capacity(inventory: dict[str, ty.Any]) -> int:
    return math.floor((inventory['total'] - inventory['reserved'])
                      * inventory['allocation_ratio'])


def _inventory(name: str, wanted: ledger.Inventory,
               held: dict[str, ty.Any] | None) -> dict[str, ty.Any]:
    """One class as Placement stores it. A ratio set there stays unless an option overrides it."""
    option = _RATIO_OPTIONS.get(name)
    keep = held is not None and option is not None and not CONF.compute[option]
    ratio = held['allocation_ratio'] if keep and held else wanted.allocation_ratio
    return {'total': wanted.total, 'reserved': min(wanted.reserved, wanted.total), 'min_unit': 1,
            'max_unit': wanted.total, 'step_size': 1, 'allocation_ratio': ratio}


def _traits(have: list[str], ours: frozenset[str]) -> list[str]:
    return sorted({name for name in have if not name.startswith(_OUR_TRAITS)} | ours)


def _same(part: str, have: ty.Any, want: ty.Any) -> bool:
    if part == 'traits':
        return set(have) == set(want)
    return have.keys() == want.keys() and all(
        _same_inventory(have[name], want[name]) for name in want)


def _same_inventory(have: dict[str, ty.Any], want: dict[str, ty.Any]) -> bool:
    return all(math.isclose(have.get(key, -1), value, abs_tol=1e-6, rel_tol=0)
               for key, value in want.items())
