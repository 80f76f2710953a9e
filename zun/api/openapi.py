# SPDX-License-Identifier: Apache-2.0
"""The API as an OpenAPI 3.1 document, made from the declarations of its operations."""

import re
import typing as ty

from zun.api import answers
from zun.api import controllers  # noqa: F401  (declares the operations)
from zun.api import handler
from zun.api import microversions
from zun.api.schemas import schema as api_schema
from zun.conf import base

Json = dict[str, ty.Any]

_JSON = 'application/json'
_IDENT = re.compile(r'\{(\w+)\}')
_LISTS = {
    'limit': 'Most items of the page.',
    'marker': 'Uuid of the last item of the page before.',
    'sort_key': 'Field to sort by.',
    'sort_dir': 'asc or desc.',
    'all_projects': 'Look in all projects; for administrators.',
    'usages': 'Show what is in use too.',
    'expand': 'No effect.',
}
_IDENTS = {
    'capsule_ident': 'Uuid or name of the capsule.',
    'class_name': 'Name of the class.',
    'container_ident': 'Uuid or name of the container.',
    'host_ident': 'Uuid or name of the host.',
    'image': 'Words to search for.',
    'image_uuid': 'Uuid of the image.',
    'neutron_net_id': 'Id of the network in Neutron.',
    'project_id': 'Id of the project.',
    'registry_ident': 'Uuid or name of the registry.',
    'request_id': 'Id of the request.',
}
_FILTER = 'Only items with this value; repeated: with any of these.'
_OPTIONS = {'optionMinimum': 'minimum', 'optionMaximum': 'maximum'}


def document() -> Json:
    """The document: operations, parameters, bodies and answers at the newest version.

    Bounds that are options have their defaults.
    """
    paths: dict[str, Json] = {}
    for operation in handler.all_operations():
        path = paths.setdefault(_path(operation), {})
        path[operation.method.lower()] = _operation(operation)
    return {
        'openapi': '3.1.0',
        'info': {
            'title': 'OpenStack Containers API', 'version': str(microversions.MAX),
            'description': 'Containers and capsules on the hosts of a cloud. What fails is '
                           'answered with one `error`.',
            'license': {'name': 'Apache-2.0', 'identifier': 'Apache-2.0'}},
        'servers': [{'url': '/'}],
        'security': [{'token': []}],
        'paths': paths,
        'components': {
            'securitySchemes': {'token': {
                'type': 'apiKey', 'in': 'header', 'name': 'X-Auth-Token'}},
            'parameters': {'version': {
                'name': microversions.HEADER, 'in': 'header', 'schema': {
                    'type': 'string', 'examples': [
                        f'{microversions.SERVICE_TYPE} {microversions.MAX}']},
                'description': 'Microversion of the request.'}},
            'schemas': answers.SCHEMAS},
    }


def _path(operation: handler.Operation) -> str:
    if not operation.path or operation.path == 'v1':
        return f'/{operation.path}'
    return f'/v1/{operation.path}'


def _operation(operation: handler.Operation) -> Json:
    version = operation.until or microversions.MAX
    found: Json = {
        'operationId': operation.id,
        'summary': operation.summary,
        'tags': [operation.path.split('/')[0] or 'versions'],
        'x-openstack-min-version': str(operation.since),
        'x-openstack-max-version': str(version),
        'parameters': _parameters(operation, version),
        'responses': {
            str(operation.status): _answer(operation),
            'default': {'description': 'What went wrong.', 'content': {
                _JSON: {'schema': answers.ref('error')}}}},
    }
    if operation.until is not None:
        found['deprecated'] = True
    if operation.policy:
        found['x-openstack-policy'] = operation.policy
    body = operation.body or (None if operation.method in ('GET', 'DELETE')
                              else operation.arguments)
    if body is not None and body.fields:
        found['requestBody'] = {
            'required': operation.json_only,
            'content': {_JSON: {'schema': _plain(_described(body, version))}}}
    return found


def _answer(operation: handler.Operation) -> Json:
    answer: Json = {'description': operation.summary + '.'}
    if operation.answer:
        answer['content'] = {_JSON: {'schema': answers.ref(operation.answer)}}
    return answer


def _parameters(operation: handler.Operation, version: microversions.Version) -> list[Json]:
    found: list[Json] = [
        {'name': name, 'in': 'path', 'required': True, 'schema': {'type': 'string'},
         'description': _IDENTS[name]}
        for name in _IDENT.findall(operation.path)]
    if operation.path:
        found.append({'$ref': '#/components/parameters/version'})
    found += [{'name': name, 'in': 'query', 'schema': {'type': 'string'},
               'description': _LISTS.get(name, _FILTER)} for name in operation.parameters]
    for schema in (operation.query, operation.arguments):
        if schema is not None:
            # What a body may give as well is required in one of both places.
            found += _queried(schema, version, required=schema is operation.query
                              or operation.method in ('GET', 'DELETE'))
    return found


def _queried(schema: api_schema.Schema, version: microversions.Version,
             required: bool) -> list[Json]:
    return [{'name': field.name, 'in': 'query', 'description': _meaning(field),
             'required': field.required and required, 'schema': _plain(field.type.schema)}
            for field in schema.at(version).fields]


def _described(schema: api_schema.Schema, version: microversions.Version) -> Json:
    """The JSON Schema of a body, with what its fields mean and since when they do."""
    compiled = schema.at(version)
    properties = {}
    for field in compiled.fields:
        properties[field.name] = {**field.document, 'description': _meaning(field)}
    return {**compiled.document, 'title': schema.name, 'properties': properties}


def _meaning(field: api_schema.Field) -> str:
    """What a field means, and since when."""
    since = microversions.parse(field.gate or field.since)
    note = f' Since {since}.' if since > microversions.MIN else ''
    return field.description + note


def _plain(schema: ty.Any) -> ty.Any:
    """A schema in the keywords of JSON Schema alone."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found: Json = {}
    for key, value in schema.items():
        if key in _OPTIONS:
            found[_OPTIONS[key]] = _default(value)
        elif key == 'optionEnum':
            found['enum'] = [*_default(value), 'None', None]
        elif key == 'maxBytes':
            found['x-max-bytes'] = value
        elif key == 'format' and value == 'ip':
            found['anyOf'] = [{'format': 'ipv4'}, {'format': 'ipv6'}]
        else:
            found[key] = _plain(value)
    return found


def _default(option: str) -> ty.Any:
    return next(opt.default for opt in base.OPTS if opt.name == option)
