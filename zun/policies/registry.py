# SPDX-License-Identifier: Apache-2.0
"""Rules of registries."""

from oslo_policy import policy

from zun.policies import base

_ALL = '/v1/registries'
_ONE = '/v1/registries/{registry_ident}'


def list_rules() -> list[policy.RuleDefault]:
    return [
        base.rule('registry:create', base.MEMBER, 'Create a registry.', ('POST', _ALL)),
        base.rule('registry:delete', base.MEMBER, 'Delete a registry.', ('DELETE', _ONE)),
        base.rule('registry:get_one', base.READER, 'Show a registry.', ('GET', _ONE)),
        base.rule('registry:get_all', base.READER, 'List registries.', ('GET', _ALL)),
        base.rule('registry:get_all_all_projects', base.ADMIN,
                  'List the registries of all projects.', ('GET', _ALL)),
        base.rule('registry:update', base.MEMBER, 'Change a registry.', ('PATCH', _ONE)),
    ]
