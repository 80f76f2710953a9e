# SPDX-License-Identifier: Apache-2.0
"""How services are shown."""

import typing as ty

from zun import objects
from zun.api.views import fields
import zun.conf

CONF = zun.conf.CONF

_PLAIN = ('id', 'host', 'binary', 'disabled', 'disabled_reason', 'forced_down', 'report_count')
_TIMES = ('last_seen_up', 'created_at', 'updated_at')


def show(service: 'objects.ZunService') -> dict[str, ty.Any]:
    """One service with its state, up or down."""
    return {
        **{name: getattr(service, name) for name in _PLAIN},
        **{name: fields.time_t(getattr(service, name)) for name in _TIMES},
        'availability_zone': service.availability_zone or CONF.default_availability_zone,
        'state': 'up' if service.is_up() else 'down',
    }
