# SPDX-License-Identifier: Apache-2.0
"""Containers: list, create, show, change, delete."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api import microversions
from zun.api import paging
from zun.api.schemas import containers as schemas
from zun.api.views import containers as views
from zun.api.views import links
from zun.common import exception
from zun.common import policy
from zun.common import states
from zun.control import containers as control

Container = objects.Container
Json = dict[str, ty.Any]

_FILTERS = ('name', 'image', 'project_id', 'user_id', 'memory', 'host', 'task_state', 'status',
            'auto_remove')
_IGNORED = ('expand',)
_LISTED = ('all_projects', *_FILTERS)
#: interactive also gave a terminal from here on, and until there.
_TTY_FOLLOWS = (microversions.Version(1, 20), microversions.Version(1, 35))
_FORCE_SINCE = '1.7'
_STOP_SINCE = '1.12'


def linked(call: handler.Call, container: Container) -> Json:
    """The view of one container."""
    return views.View(call.context, [container]).linked(container, call.host_url)


def refuse_unknown(query: Json, known: ty.Collection[str]) -> None:
    """:raises InvalidValue: names the parameters that a list does not know"""
    unknown = [name for name in query if name not in known and name not in paging.PARAMETERS]
    if unknown:
        raise exception.InvalidValue(f'Unknown parameters: {", ".join(unknown)}')


def filters_of(call: handler.Call, names: ty.Iterable[str], rule_prefix: str) -> Json:
    """The filters of a list.

    :raises PolicyNotAuthorized: the caller may not see the field of a filter
    """
    given = {name: call.query[name] for name in names if name in call.query}
    for name in given:
        rule = f'{rule_prefix}:{name}'
        if policy.exists(rule):
            policy.enforce(call.context, rule)
    return given


def _flag(value: ty.Any) -> ty.Any:
    if isinstance(value, list):
        return [_flag(item) for item in value]
    return handler.parse_boolean(value, 'auto_remove')


@handler.operation('containers.list', 'GET', 'containers', summary='List containers',
                   policy='container:get_all', all_projects='container:get_all_all_projects',
                   parameters=(*paging.PARAMETERS, *_LISTED, *_IGNORED), answer='containers')
def index(call: handler.Call) -> Json:
    refuse_unknown(call.query, (*_LISTED, *_IGNORED))
    filters = filters_of(call, _FILTERS, views.RULE_PREFIX)
    if 'auto_remove' in filters:
        filters['auto_remove'] = _flag(filters['auto_remove'])
    page = paging.parse_page(call.query, views.FIELDS)
    found = Container.list(call.context, filters=filters, **page.as_dict())
    view = views.View(call.context, found)
    return paging.envelope(call, views.COLLECTION, page,
                           [view.show(container) for container in found], _LISTED)


@handler.operation('containers.create', 'POST', 'containers', summary='Create a container',
                   status=202, policy='container:create', query=schemas.QUERY_CREATE,
                   body=schemas.CREATE, aside='run', json_only=True, answer='container')
def create(call: handler.Call) -> Json:
    values = call.values
    run = [places['run'] for places in (call.query, call.given) if 'run' in places]
    values['run'] = handler.parse_boolean(run[0] if len(run) == 1 else run or None,
                                          'run or interactive')
    if _TTY_FOLLOWS[0] <= call.version <= _TTY_FOLLOWS[1] and 'interactive' in values:
        values['tty'] = values['interactive']
    if 'runtime' in values:
        policy.enforce(call.context, 'container:create:runtime')
    if values.get('privileged'):
        policy.enforce(call.context, 'container:create:privileged')
    if 'image_pull_policy' in values:
        policy.enforce(call.context, 'container:create:image_pull_policy')
    if 'host' in values:
        policy.enforce(call.context, 'container:create:requested_destination')
    container = control.create(call.context, values)
    call.location = links.url(call.host_url, views.COLLECTION, container.uuid)
    return linked(call, container)


@handler.operation('containers.show', 'GET', 'containers/{container_ident}',
                   summary='Show a container', find=lookup.container,
                   policy='container:get_one', all_projects='container:get_one_all_projects',
                   parameters=('all_projects',), answer='container')
def show(call: handler.Call, container: Container) -> Json:
    return linked(call, container)


@handler.operation('containers.update', 'PATCH', 'containers/{container_ident}',
                   summary='Change a container', find=lookup.container,
                   policy='container:update', arguments=schemas.UPDATE, answer='container')
def update(call: handler.Call, container: Container) -> Json:
    return linked(call, control.update(call.context, container, call.values))


@handler.operation('containers.delete', 'DELETE', 'containers/{container_ident}',
                   summary='Delete a container', status=204, find=lookup.container,
                   policy='container:delete', all_projects='container:delete_all_projects',
                   arguments=schemas.QUERY_DELETE, answer='')
def delete(call: handler.Call, container: Container) -> None:
    stop = call.values.get('stop', False)
    force = call.values.get('force', False)
    for name, given, since in (('stop', stop, _STOP_SINCE), ('force', force, _FORCE_SINCE)):
        if given and call.version < microversions.parse(since):
            raise exception.InvalidParamInVersion(
                param=name, req_version=call.version, min_version=since)
    if force:
        policy.enforce(call.context, 'container:delete_force')
    if stop and container.status == states.RUNNING:
        policy.enforce(call.context, 'container:stop',
                       {'project_id': container.project_id, 'user_id': container.user_id})
    control.delete(call.context, container, force=force, stop=stop)
