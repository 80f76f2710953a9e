# SPDX-License-Identifier: Apache-2.0
"""Volumes of Cinder, with the rights of the user."""

import functools
import typing as ty

from keystoneauth1 import adapter
from oslo_utils import uuidutils

from zun.common import clients
from zun.common import context as zun_context
from zun.common import exception
from zun.common import rest

Context = zun_context.RequestContext
Volume = dict[str, ty.Any]

_GROUP = 'cinder_client'
_TYPES = ('block-storage', 'volumev3')
_GONE = 404


def _connect(context: Context) -> adapter.Adapter:
    """Cinder is known under two service types; its endpoints may end in a project's id."""
    for service_type in _TYPES:
        endpoint = clients.rest(_GROUP, service_type).get_endpoint()
        if endpoint:
            break
    else:
        raise exception.ServiceMissing(service='block storage service')
    base, _, last = endpoint.rstrip('/').rpartition('/')
    own = endpoint if last == 'v3' else f'{base}/{context.project_id}'
    return clients.rest_of_user(context, _GROUP, service_type, endpoint_override=own)


class Cinder:
    """What the control layer needs of it."""

    def _service(self, context: Context) -> rest.Rest:
        return rest.Rest('block storage service', functools.partial(_connect, context), '/v3')

    def find(self, context: Context, ident: str) -> Volume:
        """The volume of an id or a unique name.

        :raises VolumeNotFound: there is none, or no Cinder
        :raises Conflict: an ambiguous name
        """
        try:
            found = self._find(self._service(context), ident)
        except exception.ServiceMissing:
            found = []
        if not found:
            raise exception.VolumeNotFound(volume=ident)
        if len(found) > 1:
            raise exception.Conflict(
                'Multiple cinder volumes exist with same name. Please use the uuid instead.')
        return found[0]

    def _find(self, service: rest.Rest, ident: str) -> list[Volume]:
        if uuidutils.is_uuid_like(ident):
            answer = service.send('GET', f'/volumes/{ident}', absent=(_GONE,))
            if answer is not None:
                return [answer.json()['volume']]
        return service.send('GET', '/volumes/detail', params={'name': ident}).json()['volumes']

    def create(self, context: Context, size: int) -> str:
        """The id of a new volume of so many GiB. :raises VolumeCreateFailed"""
        try:
            answer = self._service(context).send('POST', '/volumes',
                                                 json={'volume': {'size': size}})
        except exception.ZunException as error:
            raise exception.VolumeCreateFailed(creation_failed=error.message) from error
        return answer.json()['volume']['id']

    def delete(self, context: Context, volume_id: str) -> None:
        """Remove a volume; one that is gone is success."""
        self._service(context).send('DELETE', f'/volumes/{volume_id}', absent=(_GONE,))
