# SPDX-License-Identifier: Apache-2.0
"""Image registries of projects."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api import paging
from zun.api.controllers import containers
from zun.api.schemas import registries as schemas
from zun.api.views import links
from zun.api.views import registries as views
from zun.control import registries as control

Registry = objects.Registry
Json = dict[str, ty.Any]
_PATH = 'registries/{registry_ident}'
_FILTERS = ('name', 'domain', 'username', 'project_id', 'user_id')
_LISTED = ('all_projects', *_FILTERS)
#: What a registry can be sorted by; the password is none of it.
_SORT_KEYS = frozenset(views.FIELDS) - {'password'}


def _linked(call: handler.Call, registry: Registry) -> Json:
    return views.View(call.context).linked(registry, call.host_url)


@handler.operation('registries.list', 'GET', 'registries', summary='List registries',
                   policy='registry:get_all', all_projects='registry:get_all_all_projects',
                   parameters=(*paging.PARAMETERS, *_LISTED), answer='registries')
def index(call: handler.Call) -> Json:
    containers.refuse_unknown(call.query, _LISTED)
    filters = containers.filters_of(call, _FILTERS, views.RULE_PREFIX)
    page = paging.parse_page(call.query, _SORT_KEYS)
    view = views.View(call.context)
    found = Registry.list(call.context, filters=filters, **page.as_dict())
    return paging.envelope(call, views.COLLECTION, page,
                           [view.show(registry) for registry in found], _LISTED)


@handler.operation('registries.create', 'POST', 'registries', summary='Create a registry',
                   status=201, policy='registry:create', body=schemas.CREATE, json_only=True,
                   answer='registry')
def create(call: handler.Call) -> Json:
    registry = control.create(call.context, call.values['registry'])
    call.location = links.url(call.host_url, views.COLLECTION, registry.uuid)
    return _linked(call, registry)


@handler.operation('registries.show', 'GET', _PATH, summary='Show a registry',
                   find=lookup.registry, policy='registry:get_one', answer='registry')
def show(call: handler.Call, registry: Registry) -> Json:
    return _linked(call, registry)


@handler.operation('registries.update', 'PATCH', _PATH, summary='Change a registry',
                   find=lookup.registry, policy='registry:update', body=schemas.UPDATE,
                   answer='registry')
def update(call: handler.Call, registry: Registry) -> Json:
    return _linked(call, control.update(call.context, registry,
                                                   call.values['registry']))


@handler.operation('registries.delete', 'DELETE', _PATH, summary='Delete a registry',
                   status=204, find=lookup.registry, policy='registry:delete', answer='')
def delete(call: handler.Call, registry: Registry) -> None:
    control.delete(call.context, registry)
