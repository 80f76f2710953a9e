# SPDX-License-Identifier: Apache-2.0
"""The REST API of Placement: one function a call, generations always explicit.

Reads return what they read and raise when they cannot. Writes return the answer, because what a
refusal means is for the caller to decide, by reading the object again and never from a text.
"""

from collections.abc import Collection, Mapping
import dataclasses
import json
import random
import time
import typing as ty
import urllib.parse

from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import exceptions as ks_exc
from oslo_context import context as oslo_context
from oslo_log import log as logging
from oslo_utils import versionutils

from zun.common import clients
from zun.common import exception
import zun.conf
from zun.placement import ledger

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: The one version of every call: this, or the newest that is offered down to the least.
VERSION = '1.39'
LEAST_VERSION = '1.31'
_TYPED_CONSUMERS = '1.38'

CONCURRENT = 'placement.concurrent_update'
_UNDEFINED = 'placement.undefined_code'
_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_MOST_RETRY_AFTER = 30.0
#: Seconds after a candidates query that timed out: at once it would double Placement's load.
_AFTER_TIMEOUT = 5.0

Json = dict[str, ty.Any]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Placement said to a request that reached it.

    :ivar code: of the first error, empty when there is none
    """

    status: int
    body: Json
    code: str = ''
    detail: str = ''

    @property
    def done(self) -> bool:
        return self.status < 300

    @property
    def raced(self) -> bool:
        """Some generation was not the one sent: read again to learn whose."""
        return self.status == 409 and self.code == CONCURRENT

    @property
    def no_room(self) -> bool:
        """The answer to an allocation that does not fit."""
        return self.status == 409 and self.code == _UNDEFINED


def pause(attempt: int, first: float, least: float = 0.0) -> None:
    """Sleep at random, at most ``first`` seconds doubled with every attempt."""
    time.sleep(max(least, random.uniform(0, first * 2 ** attempt)))


class Connection:
    """The way to Placement, shared by the threads of a process.

    :param adapter: hands every status to its caller; None: as ``[placement_client]`` says
    """

    def __init__(self, adapter: ks_adapter.Adapter | None = None) -> None:
        self._adapter = adapter
        self._version: str | None = None

    def version(self) -> str:
        """The version of every call, asked for once.

        :raises ConfigInvalid: Placement is too old
        """
        if self._version is None:
            offered = self._retried('GET', '/', None, None, False).body.get('versions', [])
            newest = offered[0].get('max_version', '') if offered else 'no version'
            if not offered or not _at_least(newest, LEAST_VERSION):
                raise exception.ConfigInvalid(
                    error_msg=f'Placement offers {newest}; {LEAST_VERSION} is needed')
            self._version = newest if _at_least(VERSION, newest) else VERSION
        return self._version

    @property
    def typed(self) -> bool:
        """Whether consumers have a type."""
        return _at_least(self.version(), _TYPED_CONSUMERS)

    def send(self, method: str, path: str, body: Json | None = None,
             expensive: bool = False) -> Answer:
        """One request at the pinned version; transient failures are repeated within bounds.

        :param expensive: a time-out is answered with a longer pause and one repetition
        :raises LedgerUnavailable: no usable answer
        :raises LedgerForbidden: the service user may not do this
        """
        answer = self._retried(method, path, body, self.version(), expensive)
        if answer.status == 406:  # another release since the version was asked for
            self._version = None
            answer = self._retried(method, path, body, self.version(), expensive)
        if answer.status in (401, 403):
            raise exception.LedgerForbidden(
                reason=f'{answer.status} {answer.detail} ({method} {_bare(path)})')
        if method != 'GET' and answer.done:
            LOG.info('Placement: %s %s %s', method, path, _content(body))
        return answer

    def _retried(self, method: str, path: str, body: Json | None, version: str | None,
                 expensive: bool) -> Answer:
        attempts = CONF.placement_client.max_retries + 1
        for attempt in range(attempts):
            least, timed_out, final = 0.0, False, attempt + 1 == attempts
            try:
                answer, retry_after = self._once(method, path, body, version)
            except ks_exc.ConnectTimeout:
                reason = f'{method} {_bare(path)} timed out'
                timed_out = True
                final = final or (expensive and attempt > 0)
                least = _AFTER_TIMEOUT if expensive else 0.0
            except (ks_exc.Unauthorized, ks_exc.Forbidden) as error:
                raise exception.LedgerForbidden(reason=str(error)) from None
            except ks_exc.ClientException as error:
                reason = f'{type(error).__name__}: {error}'
            else:
                if answer.status not in _TRANSIENT:
                    return answer
                reason = f'{method} {_bare(path)} answered {answer.status}'
                least = retry_after
            if final:
                break
            pause(attempt, 0.5, least)
        raise exception.LedgerUnavailable(reason=reason, timed_out=timed_out)

    def _once(self, method: str, path: str, body: Json | None,
              version: str | None) -> tuple[Answer, float]:
        if self._adapter is None:
            self._adapter = clients.rest('placement_client', 'placement')
        headers = {'Accept': 'application/json'}
        if version:
            headers['OpenStack-API-Version'] = f'placement {version}'
        context = oslo_context.get_current()
        if context is not None:
            headers['X-Openstack-Request-Id'] = context.global_id
        begun = time.monotonic()
        response = self._adapter.request(path, method, headers=headers, json=body)
        answer = _parsed(response)
        LOG.debug('Placement: %s %s: %s %s in %.3f s (%s)', method, _bare(path), answer.status,
                  answer.code, time.monotonic() - begun,
                  response.headers.get('x-openstack-request-id'))
        return answer, _retry_after(response.headers.get('Retry-After'))


def _at_least(version: str, least: str) -> bool:
    return (versionutils.convert_version_to_tuple(version)
            >= versionutils.convert_version_to_tuple(least))


def _bare(path: str) -> str:
    return path.partition('?')[0]


def _retry_after(text: str | None) -> float:
    return min(float(text), _MOST_RETRY_AFTER) if text and text.isdigit() else 0.0


def _parsed(response: ty.Any) -> Answer:
    try:
        body = response.json() if response.content else {}
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    first: Json = next(iter(body.get('errors') or ()), {})
    return Answer(response.status_code, body, first.get('code') or '',
                  ' '.join((first.get('detail') or body.get('message') or '').split()))


def _content(body: Json | None) -> str:
    """What a write says, for the log: Placement keeps no trail of its own."""
    shown = {name: value for name, value in (body or {}).items()
             if name in ('allocations', 'inventories', 'traits', 'name', 'uuid')}
    return json.dumps(shown) if shown else ''


def error(answer: Answer) -> exception.ZunException:
    """What to raise for an answer that means neither success nor anything to decide upon."""
    text = f'Placement answered {answer.status}: {answer.detail or answer.code}'
    if answer.status == 404:
        return exception.NotFound(text)
    if answer.status == 409:
        return exception.Conflict(text)
    return exception.ZunException(text)


def _read(connection: Connection, path: str) -> Json:
    answer = connection.send('GET', path)
    if answer.status != 200:
        raise error(answer)
    if not answer.body:  # a proxy's page
        raise exception.LedgerUnavailable(reason=f'GET {_bare(path)} gave no JSON')
    return answer.body


# Candidates -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Group:
    """Resources and traits that are asked for together."""

    resources: ledger.Resources
    required: Collection[str] = ()
    forbidden: Collection[str] = ()


def query(groups: Mapping[str, Group], limit: int | None = None, in_tree: str | None = None,
          member_of: str | None = None, group_policy: str | None = None) -> str:
    """The query string of a request for candidates, its parameters sorted.

    :param groups: suffix -> group; the suffix of the main group is empty
    """
    params: dict[str, str | int] = {}
    for suffix, group in groups.items():
        params[f'resources{suffix}'] = _amounts(group.resources)
        traits = [*sorted(group.required), *(f'!{name}' for name in sorted(group.forbidden))]
        if traits:
            params[f'required{suffix}'] = ','.join(traits)
    if group_policy is None and sum(1 for suffix in groups if suffix) > 1:
        group_policy = 'none'
    options = {'limit': limit, 'in_tree': in_tree, 'member_of': member_of,
               'group_policy': group_policy}
    params |= {name: value for name, value in options.items() if value is not None}
    return urllib.parse.urlencode(sorted(params.items()))


def _amounts(resources: ledger.Resources) -> str:
    return ','.join(f'{name}:{amount}' for name, amount in sorted(resources.items()))


def candidates(connection: Connection, query_string: str) -> Answer:
    """200 with ``allocation_requests`` and ``provider_summaries``; 400 for an unknown trait."""
    return connection.send('GET', f'/allocation_candidates?{query_string}', expensive=True)


# Consumers ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Held:
    """What a consumer has; all empty when Placement knows none, or only an orphan record."""

    allocations: dict[str, ledger.Resources]
    generation: int | None = None
    project_id: str | None = None
    user_id: str | None = None
    kind: str | None = None


def get_allocations(connection: Connection, consumer: str) -> Held:
    body = _read(connection, f'/allocations/{consumer}')
    found = {provider: dict(item['resources'])
             for provider, item in body.get('allocations', {}).items()}
    return Held(found, body.get('consumer_generation'), body.get('project_id'),
                body.get('user_id'), body.get('consumer_type'))


def put_allocations(connection: Connection, consumer: ledger.Consumer,
                    allocations: Mapping[str, ledger.Resources],
                    generation: int | None) -> Answer:
    """Set all that a consumer has.

    :param generation: of the consumer as it was read; None: there is no such consumer
    """
    body: Json = {
        'allocations': {provider: {'resources': resources}
                        for provider, resources in allocations.items()},
        'project_id': consumer.project_id, 'user_id': consumer.user_id,
        'consumer_generation': generation}
    if connection.typed:
        body['consumer_type'] = consumer.kind
    return connection.send('PUT', f'/allocations/{consumer.uuid}', body)


# Providers ------------------------------------------------------------------------------------


def find_provider(connection: Connection, *, uuid: str | None = None,
                  name: str | None = None) -> Json | None:
    """A provider by one of the two."""
    wanted = {'uuid': uuid} if uuid else {'name': name}
    body = _read(connection, f'/resource_providers?{urllib.parse.urlencode(wanted)}')
    return next(iter(body['resource_providers']), None)


def list_providers(connection: Connection, traits: Collection[str],
                   resources: ledger.Resources | None = None) -> list[Json]:
    """The providers that have traits, and room; none when Placement does not know a trait.

    :param traits: one with ``!`` before it must be absent
    """
    wanted = {'required': ','.join(traits)}
    if resources:
        wanted['resources'] = _amounts(resources)
    answer = connection.send('GET', f'/resource_providers?{urllib.parse.urlencode(wanted)}')
    if answer.status == 400:
        return []
    if answer.status != 200:
        raise error(answer)
    return ty.cast(list[Json], answer.body['resource_providers'])


def create_provider(connection: Connection, uuid: str, name: str) -> Answer:
    """409 when either the uuid or the name is taken."""
    return connection.send('POST', '/resource_providers', {'uuid': uuid, 'name': name})


def rename_provider(connection: Connection, uuid: str, name: str) -> Answer:
    return connection.send('PUT', f'/resource_providers/{uuid}', {'name': name})


def delete_provider(connection: Connection, uuid: str) -> Answer:
    """409 while something is allocated from it."""
    return connection.send('DELETE', f'/resource_providers/{uuid}')


def get_part(connection: Connection, uuid: str, part: str) -> tuple[ty.Any, int]:
    """Inventories, traits, usages or allocations of a provider, and its generation.

    :raises NotFound: there is no such provider
    """
    body = _read(connection, f'/resource_providers/{uuid}/{part}')
    return body[part], body['resource_provider_generation']


def put_part(connection: Connection, uuid: str, part: str, value: ty.Any,
             generation: int) -> Answer:
    """Replace the whole set of inventories or traits of a provider."""
    return connection.send('PUT', f'/resource_providers/{uuid}/{part}',
                           {'resource_provider_generation': generation, part: value})


def ensure_trait(connection: Connection, name: str) -> None:
    """Make a trait known; one that is known already is success."""
    answer = connection.send('PUT', f'/traits/{name}')
    if not answer.done:
        raise error(answer)
