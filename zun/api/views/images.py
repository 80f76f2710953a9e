# SPDX-License-Identifier: Apache-2.0
"""How pulled images are shown."""

import typing as ty

from zun import objects
from zun.api import microversions
from zun.api.views import fields
from zun.api.views import links

COLLECTION = 'images'
_FIELDS = ('uuid', 'image_id', 'repo', 'tag', 'size', 'project_id', 'host')
#: Field -> first version that shows it.
SINCE = {'status': '1.42', 'status_reason': '1.42'}


def names(version: microversions.Version) -> tuple[str, ...]:
    """The fields that a version shows."""
    return (*_FIELDS, *fields.known(SINCE, version))


def show(image: 'objects.Image', host_url: str,
         version: microversions.Version) -> dict[str, ty.Any]:
    """One image on one host."""
    return {**{name: getattr(image, name) for name in names(version)},
            'links': links.of(host_url, COLLECTION, image.uuid)}
