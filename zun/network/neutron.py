# SPDX-License-Identifier: Apache-2.0
"""What Zun asks of Neutron: the one class that speaks its API.

Networks, subnets, ports and groups are dictionaries as the Networking API v2.0 has them.
"""

import functools
import typing as ty

from zun.common import clients
from zun.common import context as zun_context
from zun.common import rest

_GROUP = 'neutron_client'
_GONE = 404
_CHANGED = 412

Item = dict[str, ty.Any]


class Neutron:
    """Every method raises what :meth:`zun.common.rest.Rest.send` does.

    :param service: how requests are sent
    """

    def __init__(self, service: rest.Rest) -> None:
        self._service = service

    @classmethod
    def of(cls, context: zun_context.RequestContext | None) -> 'Neutron':
        """With the rights of the user of an API request; for None, with those of the service."""
        connect = functools.partial(clients.rest, _GROUP, 'network') if context is None else \
            functools.partial(clients.rest_of_user, context, _GROUP, 'network')
        return cls(rest.Rest('network service', connect, '/v2.0'))

    def list_networks(self, **filters: ty.Any) -> list[Item]:
        return self._list('networks', filters)

    def list_subnets(self, **filters: ty.Any) -> list[Item]:
        return self._list('subnets', filters)

    def list_ports(self, **filters: ty.Any) -> list[Item]:
        return self._list('ports', filters)

    def list_security_groups(self, **filters: ty.Any) -> list[Item]:
        return self._list('security_groups', filters)

    def get_port(self, port_id: str) -> Item | None:
        """A port by its id; None: there is none."""
        answer = self._service.send('GET', f'/ports/{port_id}', absent=(_GONE,))
        return answer and answer.json()['port']

    def update_port(self, port_id: str, changes: Item, revision: int | None = None) -> bool:
        """Change a port.

        :param revision: change it only while it has this revision_number
        :returns: False: it is gone, or has been changed meanwhile
        """
        headers = {} if revision is None else {'If-Match': f'revision_number={revision}'}
        return self._service.send('PUT', f'/ports/{port_id}', absent=(_GONE, _CHANGED),
                                  headers=headers, json={'port': changes}) is not None

    def delete_port(self, port_id: str) -> None:
        """Delete a port; one that is gone is success."""
        self._service.send('DELETE', f'/ports/{port_id}', absent=(_GONE,))

    def _list(self, kind: str, filters: Item) -> list[Item]:
        answer = self._service.send('GET', f'/{kind.replace("_", "-")}',
                                    params={key: str(value) for key, value in filters.items()})
        return answer.json()[kind]
