# SPDX-License-Identifier: Apache-2.0
"""Parameters of services."""

from zun.api.schemas import schema
from zun.api.schemas import types

_HOST = schema.Field('host', types.HOST_NAME, 'Host of the service.', required=True)
_BINARY = schema.Field('binary', types.NAME, 'Name of the program.', required=True)

ENABLE = schema.Schema('service_enable', _HOST, _BINARY)

DISABLE = schema.Schema(
    'service_disable', _HOST, _BINARY,
    schema.Field('disabled_reason', types.NAME, 'Why.'))

FORCE_DOWN = schema.Schema(
    'service_force_down', _HOST, _BINARY,
    schema.Field('forced_down', types.BOOLEAN, 'Whether it counts as down.', required=True))

DELETE = schema.Schema('service_delete', _HOST, _BINARY, open_=True)
