# SPDX-License-Identifier: Apache-2.0
"""The API as sources for os-api-ref, made from its OpenAPI document."""

import collections.abc
import itertools
import json
import re
import typing as ty

from zun.api import microversions
from zun.api import openapi

Json = dict[str, ty.Any]

_JSON = 'application/json'
_PLACES = ('header', 'path', 'query', 'body')
#: How deep members of bodies and answers are shown.
_BODY_DEPTH = 5
_ANSWER_DEPTH = 2
#: Collections whose resources are in states that do not allow everything.
_STATEFUL = ('containers', 'capsules', 'networks')
_ORIGIN = 'Made by tools/openapi; do not edit.'

TITLES = {
    'versions': ('Versions', 'What the API offers. No token is needed for `/`.'),
    'v1': ('Version 1', 'The collections of version 1.'),
    'containers': ('Containers', 'A container runs one image on one host. What takes longer is '
                   'answered with 202 and goes on in the background: `task_state` says what, '
                   '`status` and `status_reason` how it ended, and the list of actions tells '
                   'all of it.'),
    'capsules': ('Capsules', 'A capsule is a group of containers on one host that share '
                 'addresses and volumes.'),
    'images': ('Images', 'Images that are on hosts. For administrators, but for the search.'),
    'hosts': ('Hosts', 'Hosts that run containers. For administrators.'),
    'services': ('Services', 'Programs that manage the hosts. For administrators.'),
    'networks': ('Networks', 'What the engine knows of networks of Neutron. For administrators. '
                 'Containers need no network made in advance.'),
    'availability_zones': ('Availability zones', 'Groups of hosts that one can choose.'),
    'quotas': ('Quotas', 'What a project can have at most.'),
    'quota_classes': ('Quota classes', 'Limits of projects that have none of their own: those '
                      'of the class `default`.'),
    'registries': ('Registries', 'Accounts at registries of private images.'),
}


def files(samples: collections.abc.Collection[str] = ()) -> dict[str, str]:
    """The text of each file, by name.

    :param samples: names of the files with examples: ``<operation>-request.json``,
        ``<operation>-response.json``
    """
    document = openapi.document()
    parameters = _Parameters(document['components'])
    found = {}
    for tag, (title, about) in TITLES.items():
        lines = [f'.. {_ORIGIN}', '', *_heading(title, '='), about.replace('`', '``'), '']
        for path, operations in sorted(document['paths'].items()):
            for method, operation in sorted(operations.items()):
                if operation['tags'] == [tag]:
                    lines += _operation(path, method.upper(), operation, parameters, samples)
        found[f'{tag}.inc'] = _text(lines)
    found['parameters.yaml'] = parameters.text()
    found['status.yaml'] = _text(_statuses())
    return found


def _text(lines: list[str]) -> str:
    return '\n'.join(lines).rstrip() + '\n'


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), '']


def _example(operation: Json, part: str,
             samples: collections.abc.Collection[str]) -> list[str]:
    name = re.sub(r'[._]', '-', operation['operationId']) + f'-{part}.json'
    if name not in samples:
        return []
    return [f'.. literalinclude:: samples/{name}', '   :language: json', '']


def _operation(path: str, method: str, operation: Json, parameters: '_Parameters',
               samples: collections.abc.Collection[str]) -> list[str]:
    lines = [*_heading(operation['summary'], '-'), f'.. rest_method:: {method} {path}', '']
    since = operation['x-openstack-min-version']
    until = operation['x-openstack-max-version']
    if since != str(microversions.MIN):
        lines += [f'Since microversion {since}.', '']
    if operation.get('deprecated'):
        lines += [f'Until microversion {until}.', '']
    if 'x-openstack-policy' in operation:
        lines += [f"Policy: ``{operation['x-openstack-policy']}``.", '']
    success = next(iter(operation['responses']))
    lines += [*_heading('Response codes', '~'),
              '.. rest_status_code:: success status.yaml', '', f'   - {success}', '']
    errors = _errors(path, method, operation)
    if errors:
        lines += ['.. rest_status_code:: error status.yaml', '',
                  *(f'   - {status}' for status in errors), '']
    asked = [*parameters.of_query(operation), *parameters.of_body(operation)]
    if asked:
        lines += [*_heading('Request', '~'), '.. rest_parameters:: parameters.yaml', '',
                  *asked, '', *_example(operation, 'request', samples)]
    lines += _heading('Response', '~')
    answered = parameters.of_answer(operation['responses'][success])
    if answered:
        lines += ['.. rest_parameters:: parameters.yaml', '', *answered, '']
    else:
        lines += [_unnamed(operation['responses'][success]), '']
    return lines + _example(operation, 'response', samples)


def _unnamed(response: Json) -> str:
    reference = response.get('content', {}).get(_JSON, {}).get('schema', {}).get('$ref', '')
    return {'text': 'A JSON string.', 'search_results': 'A JSON array of what was found.',
            'v1': 'A JSON object with a link to each collection.'}.get(
                reference.rpartition('/')[2], 'Nothing.')


def _errors(path: str, method: str, operation: Json) -> list[int]:
    found = []
    if operation['parameters'] or 'requestBody' in operation:
        found.append(400)
    if 'x-openstack-policy' in operation:
        found += [401, 403]
    if '{' in path:
        found.append(404)
    if path != '/':
        found.append(406)
    if method != 'GET' and operation['tags'][0] in _STATEFUL:
        found.append(409)
    if 'requestBody' in operation:
        found += [413, 415] if operation['requestBody']['required'] else [413]
    return found


def _statuses() -> list[str]:
    meanings = {
        200: 'Done.', 201: 'Created.', 202: 'Accepted; it goes on in the background.',
        204: 'Done; for a container, it may go on in the background.',
        400: 'The request is not valid.', 401: 'There is no valid token.',
        403: 'The policy does not allow it, or a quota is exceeded.',
        404: 'There is no such resource.',
        406: 'The microversion is not known.',
        409: 'The state of the resource does not allow it now.',
        413: 'The body is too large.',
        415: 'The media type is not JSON.'}
    return [f'# {_ORIGIN}', *(
        line for status, meaning in meanings.items()
        for line in (f'{status}:', f'  default: {json.dumps(meaning)}'))]


class _Parameters:
    """All parameters, each described once."""

    def __init__(self, components: Json) -> None:
        self._components = components
        self._keys: dict[tuple[str, ...], str] = {}
        self._taken: set[str] = set()

    def text(self) -> str:
        """The file of them, in the order that os-api-ref wants."""
        lines = [f'# {_ORIGIN}']
        for entry, key in sorted(self._keys.items(), key=lambda item: (
                _PLACES.index(item[0][1]), item[1].lower(), item[1])):
            _, place, kind, required, description = entry
            lines += [f'{json.dumps(key)}:', f'  description: {json.dumps(description)}',
                      f'  in: {place}', f'  required: {required}', f'  type: {json.dumps(kind)}']
        return _text(lines)

    def of_query(self, operation: Json) -> list[str]:
        lines = []
        for parameter in operation['parameters']:
            found = self._resolve(parameter)
            lines.append(self._line(found['name'], found['in'], found['schema'],
                                    found.get('required', False), found['description']))
        return lines

    def of_body(self, operation: Json) -> list[str]:
        content = operation.get('requestBody', {}).get('content', {})
        return self._members(content.get(_JSON, {}).get('schema', {}), '', _BODY_DEPTH)

    def of_answer(self, response: Json) -> list[str]:
        content = response.get('content', {})
        return self._members(content.get(_JSON, {}).get('schema', {}), '', _ANSWER_DEPTH)

    def _resolve(self, schema: Json) -> Json:
        while '$ref' in schema:
            _, kind, name = schema['$ref'].rsplit('/', 2)
            schema = self._components[kind][name]
        return schema

    def _members(self, schema: Json, prefix: str, depth: int) -> list[str]:
        if not depth:
            return []
        schema = self._resolve(schema)
        if schema.get('type') == 'array':
            schema = self._resolve(schema['items'])
        if 'properties' not in schema and 'anyOf' in schema:
            schema = self._resolve(schema['anyOf'][0])
        lines = []
        for name, member in schema.get('properties', {}).items():
            found = {**self._resolve(member), **member}
            lines.append(self._line(prefix + name, 'body', found,
                                    name in schema.get('required', ()),
                                    found.get('description', '')))
            if name != 'links':
                lines += self._members(found, f'{prefix}{name}.', depth - 1)
        return lines

    def _line(self, name: str, place: str, schema: Json, required: bool,
              description: str) -> str:
        entry = (name, place, _kind(schema), str(required).lower(),
                 description.replace('`', '``'))
        key = self._keys.get(entry)
        if key is None:
            key = self._keys[entry] = self._free(
                re.sub(r'\W+', '_', name).strip('_') + ('' if place == 'body' else f'_{place}'))
        return f'   - {json.dumps(name)}: {json.dumps(key)}'

    def _free(self, name: str) -> str:
        key = next(key for key in itertools.chain(
            (name,), (f'{name}_{number}' for number in itertools.count(2)))
            if key.lower() not in self._taken)
        self._taken.add(key.lower())
        return key


def _kind(schema: Json) -> str:
    kinds = schema.get('type', 'object')
    return kinds if isinstance(kinds, str) else ' or '.join(kinds)
