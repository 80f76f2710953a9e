# SPDX-License-Identifier: Apache-2.0
"""Bodies and parameters of images."""

from zun.api.schemas import schema
from zun.api.schemas import types

Field = schema.Field

CREATE = schema.Schema(
    'image_create',
    Field('repo', types.LOOSE_NAME, 'Reference of an image, with its tag.', required=True),
    Field('host', types.LOOSE_NAME, 'Name or uuid of the host that pulls it.', required=True),
    Field('tag', types.LOOSE_NAME.nullable(), 'No effect: the tag is part of repo.'),
    Field('image_id', types.LOOSE_NAME.nullable(), 'Shown until the image is pulled.'),
    Field('size', schema.Type({'type': ['string', 'integer', 'null'],
                               'pattern': '^[0-9]+[bBkKmMgG]?$', 'maxLength': 255}, str),
          'Shown until the image is pulled.'),
    Field('image_pull_policy', types.PULL_POLICY, 'No effect.'))

SEARCH = schema.Schema(
    'image_search',
    Field('image_driver', types.IMAGE_DRIVER, 'Where to search.'),
    Field('exact_match', types.BOOLEAN, 'Only images of exactly this name.'))
