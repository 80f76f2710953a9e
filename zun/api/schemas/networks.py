# SPDX-License-Identifier: Apache-2.0
"""Bodies of networks."""

from zun.api.schemas import schema
from zun.api.schemas import types

Field = schema.Field

CREATE = schema.Schema(
    'network_create',
    Field('name', types.LOOSE_NAME.nullable(), 'No effect.', required=True),
    Field('neutron_net_id', types.LOOSE_NAME, 'Id of a Neutron network.', required=True))
