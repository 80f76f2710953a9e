# SPDX-License-Identifier: Apache-2.0
"""Services: which are up, which take new containers."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api.schemas import services as schemas
from zun.api.views import services as views
from zun.control import services as control

Json = dict[str, ty.Any]
_ABLED = ('host', 'binary', 'disabled', 'disabled_reason')
_FORCED = ('host', 'binary', 'forced_down')


def _part(service: objects.ZunService, names: tuple[str, ...]) -> Json:
    return {'service': {name: getattr(service, name) for name in names}}


@handler.operation('services.list', 'GET', 'services', summary='List services',
                   policy='zun-service:get_all', answer='services')
def index(call: handler.Call) -> Json:
    return {'services': [views.show(service)
                         for service in objects.ZunService.list(call.context)]}


@handler.operation('services.delete', 'DELETE', 'services',
                   summary='Delete the record of a service', policy='zun-service:delete',
                   arguments=schemas.DELETE)
def delete(call: handler.Call) -> None:
    control.delete(call.context, **call.values)


@handler.operation('services.enable', 'PUT', 'services/enable',
                   summary='Let a service take new containers', policy='zun-service:enable',
                   arguments=schemas.ENABLE, answer='service_ability')
def enable(call: handler.Call) -> Json:
    return _part(control.enable(call.context, **call.values), _ABLED)


@handler.operation('services.disable', 'PUT', 'services/disable',
                   summary='Give a service no new containers', policy='zun-service:disable',
                   arguments=schemas.DISABLE, answer='service_ability')
def disable(call: handler.Call) -> Json:
    values = call.values
    return _part(control.disable(call.context, values['host'], values['binary'],
                                          reason=values.get('disabled_reason')), _ABLED)


@handler.operation('services.force_down', 'PUT', 'services/force_down',
                   summary='Say that a service is down', policy='zun-service:force_down',
                   arguments=schemas.FORCE_DOWN, answer='service_forced_down')
def force_down(call: handler.Call) -> Json:
    return _part(control.force_down(call.context, **call.values), _FORCED)
