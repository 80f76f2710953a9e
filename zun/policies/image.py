# SPDX-License-Identifier: Apache-2.0
"""Rules of images on hosts."""

from oslo_policy import policy

from zun.policies import base


def list_rules() -> list[policy.RuleDefault]:
    return [
        base.rule('image:pull', base.ADMIN, 'Pull an image to a host.', ('POST', '/v1/images')),
        base.rule('image:get_all', base.ADMIN, 'List pulled images.', ('GET', '/v1/images')),
        base.rule('image:get_one', base.ADMIN, 'Show a pulled image.',
                  ('GET', '/v1/images/{image_id}')),
        base.rule('image:search', base.READER, 'Search for images.',
                  ('GET', '/v1/images/{image_ident}/search')),
        base.rule('image:delete', base.ADMIN, 'Delete an image from its host.',
                  ('DELETE', '/v1/images/{image_ident}')),
    ]
