# SPDX-License-Identifier: Apache-2.0
"""Availability zones: the distinct zones of all services."""

import typing as ty

from zun.api import handler
from zun.api import paging
from zun.common import exception
from zun.control import services as control

_KEY = 'availability_zone'


@handler.operation('availability_zones.list', 'GET', 'availability_zones',
                   summary='List availability zones', policy='availability_zones:get_all',
                   parameters=paging.PARAMETERS, answer='availability_zones')
def index(call: handler.Call) -> dict[str, ty.Any]:
    page = paging.parse_page(call.query, (paging.ID, _KEY), _KEY)
    if page.marker is not None:
        raise exception.InvalidValue('Availability zones have no marker.')
    zones = sorted(control.zones(call.context), key=lambda zone: zone or '',
                   reverse=page.sort_dir == 'desc')
    return {'availability_zones': [{_KEY: zone} for zone in zones[:page.limit]], 'next': None}
