# SPDX-License-Identifier: Apache-2.0
"""Networks of the engines."""

import typing as ty

from zun.api import handler
from zun.api.schemas import networks as schemas
from zun.control import networks as control


@handler.operation('networks.create', 'POST', 'networks',
                   summary='Make a Neutron network usable for containers',
                   policy='network:create', body=schemas.CREATE, json_only=True,
                   answer='network')
def create(call: handler.Call) -> dict[str, ty.Any]:
    return control.create(call.context, call.values.get('name'),
                                   call.values['neutron_net_id'])


@handler.operation('networks.delete', 'DELETE', 'networks/{neutron_net_id}',
                   summary='Delete what was made of a Neutron network', status=204,
                   policy='network:delete', answer='')
@handler.versioned('1.27')
def delete(call: handler.Call, neutron_net_id: str) -> None:
    control.delete(call.context, neutron_net_id)
