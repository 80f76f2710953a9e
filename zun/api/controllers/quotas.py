# SPDX-License-Identifier: Apache-2.0
"""Quotas of projects."""

import typing as ty

from zun.api import handler
from zun.api.schemas import quotas as schemas
from zun.control import quotas as control

_PATH = 'quotas/{project_id}'
Json = dict[str, ty.Any]


@handler.operation('quotas.show', 'GET', _PATH, summary='Show the quota of a project',
                   policy='quota:get', parameters=('usages',), answer='quota')
def show(call: handler.Call, project_id: str) -> Json:
    if handler.parse_boolean(call.query.get('usages'), 'usages'):
        return control.usages(call.context, project_id)
    return control.limits(call.context, project_id)


@handler.operation('quotas.defaults', 'GET', _PATH + '/defaults',
                   summary='Show what a project gets when it has no limits of its own',
                   policy='quota:get_default', answer='quota',
                   hidden_methods=frozenset({'PUT'}))
def defaults(call: handler.Call, _project_id: str) -> Json:
    return control.defaults(call.context)


@handler.operation('quotas.update', 'PUT', _PATH, summary='Set limits of a project',
                   policy='quota:update', arguments=schemas.UPDATE, answer='quota')
def update(call: handler.Call, project_id: str) -> Json:
    return control.update(call.context, project_id, call.values)


@handler.operation('quotas.delete', 'DELETE', _PATH, summary='Forget the limits of a project',
                   policy='quota:delete')
def delete(call: handler.Call, project_id: str) -> None:
    control.delete(call.context, project_id)
