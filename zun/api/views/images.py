# SPDX-License-Identifier: Apache-2.0
"""How pulled images are shown."""

import typing as ty

from zun import objects
from zun.api.views import links

COLLECTION = 'images'
FIELDS = ('uuid', 'image_id', 'repo', 'tag', 'size', 'project_id', 'host')


def show(image: 'objects.Image', host_url: str) -> dict[str, ty.Any]:
    """One image on one host."""
    return {**{name: getattr(image, name) for name in FIELDS},
            'links': links.of(host_url, COLLECTION, image.uuid)}
