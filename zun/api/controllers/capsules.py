# SPDX-License-Identifier: Apache-2.0
"""Capsules: list, create, show, delete."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api import paging
from zun.api.schemas import capsules as schemas
from zun.api.views import capsules as views
from zun.api.views import links
from zun.control import capsules as control

Capsule = objects.Capsule
Json = dict[str, ty.Any]


def _view(call: handler.Call, capsules: list[Capsule]) -> list[Json]:
    view = views.View(call.context, call.version, call.host_url, capsules)
    return [view.show(capsule) for capsule in capsules]


@handler.operation('capsules.list', 'GET', 'capsules', summary='List capsules',
                   policy='capsule:get_all', all_projects='capsule:get_all_all_projects',
                   parameters=(*paging.PARAMETERS, 'all_projects'), answer='capsules')
def index(call: handler.Call) -> Json:
    page = paging.parse_page(call.query, views.FIELDS)
    found = Capsule.list(call.context, **page.as_dict())
    Capsule.load_members(call.context, found)
    return paging.envelope(call, views.COLLECTION, page, _view(call, found), ['all_projects'])


@handler.operation('capsules.create', 'POST', 'capsules', summary='Create a capsule',
                   status=202, policy='capsule:create', body=schemas.CREATE, json_only=True,
                   answer='capsule')
def create(call: handler.Call) -> Json:
    capsule = control.create(call.context, call.values['template'])
    call.location = links.url(call.host_url, views.COLLECTION, capsule.uuid)
    return _view(call, [capsule])[0]


@handler.operation('capsules.show', 'GET', 'capsules/{capsule_ident}',
                   summary='Show a capsule', find=lookup.capsule, policy='capsule:get',
                   answer='capsule')
def show(call: handler.Call, capsule: Capsule) -> Json:
    return _view(call, [capsule])[0]


@handler.operation('capsules.delete', 'DELETE', 'capsules/{capsule_ident}',
                   summary='Delete a capsule', status=204, find=lookup.capsule,
                   policy='capsule:delete', all_projects='capsule:delete_all_projects',
                   parameters=('all_projects',), answer='')
def delete(call: handler.Call, capsule: Capsule) -> None:
    control.delete(call.context, capsule)
