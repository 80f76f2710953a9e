# SPDX-License-Identifier: Apache-2.0
"""Image records of Glance, with the rights of the user."""

import functools
import typing as ty

from zun.common import clients
from zun.common import context as zun_context
from zun.common import rest

Context = zun_context.RequestContext

_GROUP = 'glance_client'
_GONE = 404


class Glance:
    """What the control layer needs of it."""

    def _service(self, context: Context) -> rest.Rest:
        return rest.Rest('image service', functools.partial(
            clients.rest_of_user, context, _GROUP, 'image'), '/v2')

    def create(self, context: Context, name: str, tags: ty.Sequence[str],
               properties: ty.Mapping[str, str]) -> str:
        """The id of a private image that waits for the data of an engine's image."""
        answer = self._service(context).send('POST', '/images', json={
            **properties, 'name': name, 'tags': list(tags), 'visibility': 'private',
            'container_format': 'docker', 'disk_format': 'raw'})
        return answer.json()['id']

    def delete(self, context: Context, image_id: str) -> None:
        """Remove an image; one that is gone is success."""
        self._service(context).send('DELETE', f'/images/{image_id}', absent=(_GONE,))
