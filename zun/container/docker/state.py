# SPDX-License-Identifier: Apache-2.0
"""The engine's view of a container in our terms (docs: node, state mapping)."""

import dataclasses
import datetime
import re
import typing as ty

from zun.common import states
from zun.common import units
from zun.container import driver
from zun.container.docker import errors
from zun.container.docker import host

_NAME = re.compile(
    r'/?zun-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})')
_TIME = re.compile(r'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d*)?(Z|[+-]\d\d:\d\d)')
_ZERO_YEAR = '0001'

LABEL_UUID = 'zun.uuid'
LABEL_KIND = 'zun.kind'
LABEL_HOST = 'zun.host'
LABEL_PROJECT = 'zun.project'
LABEL_GENERATION = 'zun.generation'
LABEL_OPERATION = 'zun.op'
LABEL_IMAGE = 'zun.image'

_MISSING = 'container state is missing'
_UNEXPECTED = 'unexpected container state'
_BY_WORD = {'paused': states.PAUSED, 'running': states.RUNNING, 'dead': states.DEAD,
            'restarting': states.RESTARTING, 'exited': states.STOPPED,
            'removing': states.STOPPED}
_ALIVE = frozenset({'running', 'paused', 'restarting'})
#: Statuses that a container which never ran may well have.
_NOT_STARTED = (states.CREATED, states.RESTARTING, states.ERROR, states.REBUILDING)


@dataclasses.dataclass(frozen=True)
class Mapped:
    """Status, reason and detail; None leaves what the row has."""

    status: str | None
    reason: str | None = None
    detail: str | None = None


def engine_name(uuid: str) -> str:
    """What the engine knows a container by."""
    return f'zun-{uuid}'


def uuid_of(name: str) -> str | None:
    """The container that has this name in the engine; None when it is none of ours."""
    found = _NAME.fullmatch(name)
    return found.group(1) if found else None


def parse_time(text: str | None) -> datetime.datetime | None:
    """A time of the engine as rows hold it: UTC, in whole seconds.

    None for never, which the engine writes as year 1, and for what is no time.
    """
    found = _TIME.fullmatch(text or '')
    if not found or found.group(1).startswith(_ZERO_YEAR):
        return None
    moment = datetime.datetime.fromisoformat(found.group(1) + found.group(2).replace('Z', '+00:00'))
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def age(since: datetime.datetime, now: datetime.datetime) -> str:
    """How long ago, in words; a time to come counts as now."""
    return units.age(min(since, now), now) or '0 seconds'


def by_word(word: str, previous: str | None) -> Mapped:
    """From the word that a listing has for the state.

    :param previous: the row's status; None when it is not known
    """
    word = word.lower()
    if word in _BY_WORD:
        return Mapped(_BY_WORD[word])
    if word == 'created':
        if previous == states.CREATING:
            return Mapped(states.CREATED)
        if previous is None or previous in _NOT_STARTED:
            return Mapped(None)
    return Mapped(states.UNKNOWN, _UNEXPECTED if word else _MISSING)


def by_state(state: dict[str, ty.Any] | None, previous: str | None,
             now: datetime.datetime) -> Mapped:
    """From the State of an inspect.

    :param previous: the row's status
    """
    if not state:
        return Mapped(states.UNKNOWN, _MISSING)
    started, finished = parse_time(state.get('StartedAt')), parse_time(state.get('FinishedAt'))
    if state.get('Paused'):
        return Mapped(states.PAUSED, detail=f'{_up(started, now)} (paused)')
    if state.get('Restarting'):
        return Mapped(states.RESTARTING, detail='Restarting')
    if state.get('Running'):
        health = ' (unhealthy)' if _health(state) == 'unhealthy' else ''
        return Mapped(states.RUNNING, detail=_up(started, now) + health)
    if state.get('Error'):
        return _failed(state, finished, now)
    if state.get('Dead') and state.get('Status') != 'removing':
        return Mapped(states.DEAD, detail='Dead')
    if started is None:
        fresh = previous == states.CREATING
        return Mapped(states.CREATED, detail='Created') if fresh else Mapped(None)
    return _ended(state, finished, now)


def _ended(state: dict[str, ty.Any], finished: datetime.datetime | None,
           now: datetime.datetime) -> Mapped:
    if finished is None:
        return Mapped(states.UNKNOWN, _UNEXPECTED, '')
    detail = f"Exited({state.get('ExitCode')}) {age(finished, now)} ago "
    if state.get('OOMKilled'):
        return Mapped(states.STOPPED, 'The container ran out of memory.',
                      f'{detail}(out of memory)')
    return Mapped(states.STOPPED, detail=detail)


def _failed(state: dict[str, ty.Any], finished: datetime.datetime | None,
            now: datetime.datetime) -> Mapped:
    """It was to start, and could not."""
    ago = f'{age(finished, now)} ago ' if finished else ''
    detail = f"Exited({state.get('ExitCode')}) {ago}(error)"
    status = {'created': states.ERROR, 'exited': states.STOPPED,
              'removing': states.STOPPED, 'dead': states.DEAD}.get(state.get('Status', ''))
    return Mapped(status, errors.readable(state['Error']), detail)


def _up(started: datetime.datetime | None, now: datetime.datetime) -> str:
    return f'Up {age(started or now, now)}'


def _health(state: dict[str, ty.Any]) -> str | None:
    health = (state.get('Health') or {}).get('Status')
    return None if health == 'none' else health


def _exit_code(state: dict[str, ty.Any]) -> int | None:
    alive = state.get('Running') or state.get('Paused')
    ran = parse_time(state.get('StartedAt')) is not None
    return state.get('ExitCode') if not alive and (ran or state.get('Error')) else None


def observed(inspected: dict[str, ty.Any], uuid: str, previous: str | None,
             hostname: str | None, now: datetime.datetime) -> driver.Observed:
    """From an inspect.

    :param previous: the row's status
    :param hostname: the row's; the engine's counts when there is none
    """
    state = inspected.get('State') or {}
    config = inspected.get('Config') or {}
    outcome = by_state(state, previous, now)
    runtime = (inspected.get('HostConfig') or {}).get('Runtime')
    return driver.Observed(
        uuid=uuid, engine_id=inspected['Id'], status=outcome.status,
        status_reason=outcome.reason, status_detail=outcome.detail,
        started_at=parse_time(state.get('StartedAt')),
        finished_at=parse_time(state.get('FinishedAt')),
        exit_code=_exit_code(state), health=_health(state),
        hostname=config.get('Hostname') if hostname is None else hostname,
        ports=_ports(config, inspected.get('NetworkSettings') or {}),
        runtime=runtime.removeprefix(host.RUNTIME_PREFIX) if runtime else None,
        command=tuple(config.get('Cmd') or ()), entrypoint=tuple(config.get('Entrypoint') or ()),
        running=bool(state.get('Running')), **_labelled(config.get('Labels')))


def listed(containers: list[dict[str, ty.Any]]) -> dict[str, driver.Observed]:
    """From a listing: what bears one of our names, whoever made it."""
    found = {}
    for item in containers:
        uuid = next(filter(None, map(uuid_of, item.get('Names') or ())), None)
        if uuid is None:
            continue
        word = item.get('State', '')
        outcome = by_word(word, None)
        found[uuid] = driver.Observed(
            uuid=uuid, engine_id=item.get('Id', ''), status=outcome.status,
            status_reason=outcome.reason, running=word in _ALIVE, **_labelled(item.get('Labels')))
    return found


def _labelled(labels: dict[str, str] | None) -> dict[str, ty.Any]:
    """What we noted when it was made; an imported container has none of it."""
    labels = labels or {}
    generation = labels.get(LABEL_GENERATION, '')
    return {'generation': int(generation) if generation.isdigit() else 0,
            'operation': labels.get(LABEL_OPERATION, ''), 'host': labels.get(LABEL_HOST)}


def _ports(config: dict[str, ty.Any], network: dict[str, ty.Any]) -> tuple[int, ...]:
    """Exposed ports; where one is published, the host's port for it."""
    bound = network.get('Ports') or {}
    return tuple(int(bound[port][0]['HostPort'] if bound.get(port) else port.partition('/')[0])
                 for port in config.get('ExposedPorts') or {})
