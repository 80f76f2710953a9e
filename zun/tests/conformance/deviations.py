# SPDX-License-Identifier: Apache-2.0
"""Recorded steps that ours answers otherwise on purpose, each with its reason.

What ours answers instead is checked as strictly as the rest.
"""

import collections.abc
import copy
import dataclasses
import typing as ty

Json = dict[str, ty.Any]
Messages = list[Json]


@dataclasses.dataclass(frozen=True)
class Deviation:
    """
    :ivar skip: the step is not sent, as later ones build on the recorded answer
    :ivar status: instead of the recorded one; then only the code of the error is compared
    :ivar error: code of the error, without the prefix of the service
    :ivar body: instead of the recorded one
    :ivar patch: dotted path in the recorded body -> what is there instead
    :ivar messages: makes the messages of ours out of the recorded ones
    """

    reason: str
    skip: bool = False
    status: int | None = None
    error: str | None = None
    body: ty.Any = None
    patch: collections.abc.Mapping[str, ty.Any] = dataclasses.field(default_factory=dict)
    messages: collections.abc.Callable[[Messages], Messages] | None = None


#: (scenario, number of the step) -> deviation
Table = dict[tuple[str, int], Deviation]


class Newest(ty.NamedTuple):
    """The one number that stands in every answer.

    :ivar recorded: newest version of the reference
    :ivar refused: the first one that the reference refuses
    :ivar ours: three more, for ``follow`` of logs, the status of images and ``start_period``: each
        is in a version of its own, and whoever asks for an older one is answered as before
    :ivar above: the first one that ours refuses
    """

    recorded: str
    refused: str
    ours: str
    above: str


NEWEST = Newest('1.40', '1.41', '1.43', '1.44')
_VERSION = 'OpenStack-API-Version'
_MAXIMUM = 'openstack-api-maximum-version'


def _none(_messages: Messages) -> Messages:
    return []


def _search_first(messages: Messages) -> Messages:
    search = [{**message, 'server': None} for message in messages
              if message['method'] == 'image_search']
    return search + [message for message in messages if message['method'] != 'image_search']


def _only_search(messages: Messages) -> Messages:
    return _search_first(messages)[:1]


def _to_host(messages: Messages) -> Messages:
    return [{**message, 'server': 'compute-1'} for message in messages]


def _forced(_messages: Messages) -> Messages:
    return [{'kind': 'cast', 'method': 'container_delete', 'server': 'compute-1', 'args': {
        'container': {'$object': 'Container', 'uuid': '{{ypaused}}'}, 'force': True}}]


_REFUSED = Deviation(
    'what is refused is refused before a message is sent; the recording keeps the messages of '
    'the reference, which accepted it', messages=_none)
_VALIDATED = ('the image is searched before the request is accepted, so that nothing has to be '
              'undone, and by any node, as none is chosen yet')
_DELETING = 'status Deleting is saved when a delete is accepted'
_LEAK = 'the policy of init containers does not reach the containers of a capsule'

_REFUSALS = {
    'create-validation': (15, 196, 220, 221, 222, 223, 224, 238, 239, 240),
    'create-too-long': (3, 4, 5, 6),
    'get-container-host-down': (18,),
    'delete-container': (76,),
    'exec-attach': (18, 39),
    'create-mounts': (17,),
    'quota-enforcement': (16,),
    'quota-defaults-not-counted': (3,),
    'capsule-validation': (43,),
    'networks': (10,),
}

TABLE: Table = {
    **{(name, number): _REFUSED for name, numbers in _REFUSALS.items() for number in numbers},
    ('routing', 54): Deviation(
        'load balancers ask HEAD / or OPTIONS / whether the API is there, and take what answers '
        '405 out of service', status=200),
    ('routing', 61): Deviation(
        'methods cannot be overridden: _method is a parameter that the list does not know',
        status=400, error='invalid-value'),
    ('logs-top-stats', 10): Deviation(
        'a number of lines that is none is refused, where the reference sends all lines',
        status=400, error='invalid-value', messages=_none),
    ('create-validation', 53): Deviation(
        'memory is stored as a number is written, without leading zeros',
        patch={'memory': '512'}),
    ('create-no-valid-host', 3): Deviation(
        'the action is recorded when the request is accepted, and ends in Error',
        patch={'containerActions': {'$match': 'length', 'value': 1}}),
    **{('create-image-validation', number): Deviation(_VALIDATED, messages=_search_first)
       for number in (1, 5, 6)},
    **{('create-image-validation', number): Deviation(_VALIDATED, messages=_only_search)
       for number in (2, 3, 4)},
    ('get-container', 38): Deviation(
        'a container is shown from its row; the node is not asked and cannot fail', status=200),
    ('get-container-host-down', 17): Deviation(
        'an administrator can force a delete while the node is down; that has a test of its own',
        skip=True),
    ('delete-container', 27): Deviation(
        _DELETING, status=409, error='invalid-state-exception', messages=_none),
    ('delete-container', 38): Deviation(
        'an administrator can force a delete of a paused container', status=204,
        messages=_forced),
    ('capsule-list-get-delete', 42): Deviation(_DELETING, patch={'status': 'Deleting'}),
    ('client-request-shapes', 27): Deviation(
        _DELETING, patch={'containers.0.status': 'Deleting'}),
    ('client-request-shapes', 28): Deviation(_DELETING, patch={'status': 'Deleting'}),
    ('client-request-shapes', 31): Deviation(
        _DELETING, status=409, error='invalid-state-exception', messages=_none),
    ('capsule-volumes', 4): Deviation(_LEAK, patch={
        f'containers.{number}.restart_policy': {'Name': 'always', 'MaximumRetryCount': '0'}
        for number in (0, 1)}),
    ('capsule-volumes', 8): Deviation(_LEAK, patch={
        f'capsules.3.containers.{number}.restart_policy':
            {'Name': 'always', 'MaximumRetryCount': '0'} for number in (0, 1)}),
    ('networks', 14): Deviation(
        'the host that has the network removes it', messages=_to_host),
}


def expected_of(scenario: Json, table: Table = TABLE) -> Json:
    """A scenario with what ours does."""
    name = scenario['name']
    steps = [_deviated(_renumbered(step), table.get((name, step['n'])))
             for step in scenario['steps']]
    return {**scenario, 'steps': [step for step in steps if step is not None]}


def _renumbered(step: Json) -> Json:
    """A step with our newest version in place of the reference's, and what is above it."""
    if step['op'] != 'request':
        return step
    changed = copy.deepcopy(step)
    asked, answered = changed['request']['headers'], changed['response'].get('headers', {})
    if asked.get(_VERSION) == f'container {NEWEST.refused}':
        asked[_VERSION] = f'container {NEWEST.above}'
    if asked.get(_VERSION, '').lower() == 'container latest':
        answered[_VERSION.lower()] = f'container {NEWEST.ours}'
    if _MAXIMUM in answered:
        answered[_MAXIMUM] = answered[_MAXIMUM].replace(NEWEST.recorded, NEWEST.ours)
    _renumber(changed['response'].get('body'))
    return changed


def _renumber(body: ty.Any) -> None:
    """Documents of versions, and errors that tell the range."""
    for member in body.values() if isinstance(body, dict) else \
            body if isinstance(body, list) else ():
        _renumber(member)
    if isinstance(body, dict) and body.get('max_version') == NEWEST.recorded:
        body['max_version'] = NEWEST.ours


def _deviated(step: Json, deviation: Deviation | None) -> Json | None:
    if deviation is None:
        return step
    if deviation.skip:
        return None
    changed = copy.deepcopy(step)
    if deviation.status is not None:
        changed['response'] = {'status': deviation.status}
        if deviation.error is not None:
            changed['response']['body'] = _error(deviation.status, deviation.error)
    if deviation.body is not None:
        changed['response']['body'] = deviation.body
    for path, value in deviation.patch.items():
        _put(changed['response']['body'], path.split('.'), value)
    if deviation.messages is not None:
        changed['rpc'] = deviation.messages(changed['rpc'])
    return changed


def _put(body: ty.Any, path: list[str], value: ty.Any) -> None:
    *inner, last = (int(part) if part.isdigit() else part for part in path)
    for part in inner:
        body = body[part]
    body[last] = value


def _error(status: int, code: str) -> Json:
    text = {'$match': 'any_text'}
    return {'errors': [{'request_id': '', 'code': f'container.{code}', 'status': status,
                        'title': text, 'detail': text, 'links': []}]}
