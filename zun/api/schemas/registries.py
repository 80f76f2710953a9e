# SPDX-License-Identifier: Apache-2.0
"""Bodies of registries."""

from zun.api.schemas import schema
from zun.api.schemas import types

_PASSWORD_BYTES = 4096


def _body(name: str, domain_required: bool) -> schema.Schema:
    members = types.members((
        schema.Field('domain', types.NAME, 'Host with a dot or a port, or `localhost`.',
                     required=domain_required),
        schema.Field('name', types.OBJECT_NAME, 'Name to refer to it by.'),
        schema.Field('username', types.NAME, 'User to log in as.'),
        schema.Field('password', types.text(1, _PASSWORD_BYTES), 'Password or access token.')))
    return schema.Schema(name, schema.Field('registry', members, 'The registry.', required=True))


CREATE = _body('registry_create', domain_required=True)
UPDATE = _body('registry_update', domain_required=False)
