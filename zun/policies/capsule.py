# SPDX-License-Identifier: Apache-2.0
"""Rules of capsules."""

from oslo_policy import policy

from zun.policies import base

_ALL = '/v1/capsules/'
_ONE = '/v1/capsules/{capsule_ident}'


def list_rules() -> list[policy.RuleDefault]:
    return [
        base.rule('capsule:create', base.MEMBER, 'Create a capsule.', ('POST', _ALL)),
        base.rule('capsule:delete', base.MEMBER, 'Delete a capsule.', ('DELETE', _ONE)),
        base.rule('capsule:delete_all_projects', base.ADMIN,
                  'Delete a capsule of any project.', ('DELETE', _ONE)),
        base.rule('capsule:get', base.READER, 'Show a capsule.', ('GET', _ONE)),
        base.rule('capsule:get:host', base.ADMIN, 'See the host of capsules.',
                  ('GET', _ONE), ('GET', _ALL), ('POST', _ALL)),
        base.rule('capsule:get_one_all_projects', base.ADMIN,
                  'Show a capsule of any project.', ('GET', _ONE)),
        base.rule('capsule:get_all', base.READER, 'List capsules.', ('GET', _ALL)),
        base.rule('capsule:get_all_all_projects', base.ADMIN,
                  'List the capsules of all projects.', ('GET', _ALL)),
    ]
