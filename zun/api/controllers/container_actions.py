# SPDX-License-Identifier: Apache-2.0
"""What was done to a container."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api.views import containers as views
from zun.common import exception
from zun.common import policy

_PATH = 'containers/{container_ident}/container_actions'


@handler.operation('container_actions.list', 'GET', _PATH,
                   summary='List what was done to a container', policy='container:actions',
                   answer='container_actions')
def index(call: handler.Call, ident: str) -> dict[str, ty.Any]:
    container = lookup.container(call, ident)
    found = objects.ContainerAction.get_by_container_uuid(call.context, container.uuid)
    return {'containerActions': [views.action(action) for action in found]}


@handler.operation('container_actions.show', 'GET', _PATH + '/{request_id}',
                   summary='Show what a request did to a container',
                   policy='container:actions', answer='container_action')
def show(call: handler.Call, ident: str, request_id: str) -> dict[str, ty.Any]:
    # The suffix was on the id of the request, not on the container's.
    call.suffixed = None
    container = lookup.container(call, ident)
    action = objects.ContainerAction.get_by_request_id(
        call.context, container.uuid, request_id)
    if action is None:
        raise exception.ResourceNotFound(name='Action', id=request_id)
    traceback = policy.allowed(call.context, 'container:action:events')
    events = objects.ContainerActionEvent.get_by_action(call.context, action.id)
    return {**views.action(action),
            'events': [views.event(event, traceback) for event in events]}
