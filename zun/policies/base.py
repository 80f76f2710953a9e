# SPDX-License-Identifier: Apache-2.0
"""Who is who: the rules that the others refer to, and how a rule is written down.

New defaults know the roles reader, member and admin. What upstream allowed stays allowed beside
them until ``[oslo_policy]/enforce_new_defaults`` is set.
"""

import typing as ty

from oslo_policy import policy

ADMIN = 'rule:context_is_admin'
ADMIN_ROLE = 'role:admin'
READER = 'rule:project_reader_or_admin'
MEMBER = 'rule:project_member_or_admin'
NOBODY = 'rule:deny_everybody'

_OWNER = 'is_admin:True or project_id:%(project_id)s'
_SCOPE = ['project']
_DEPRECATED_SINCE = '19.0.0'
_REASON = 'It lets every role of a project do everything, also those that should only read.'

#: (method, path)
Operation = tuple[str, str]


def rule(name: str, check: str, description: str,
         *operations: Operation) -> policy.DocumentedRuleDefault:
    """A rule of the API, with upstream's default beside a new one."""
    old: dict[str, ty.Any] = {}
    if check in (READER, MEMBER):
        old['deprecated_rule'] = policy.DeprecatedRule(
            name=name, check_str=_OWNER, deprecated_reason=_REASON,
            deprecated_since=_DEPRECATED_SINCE)
    return policy.DocumentedRuleDefault(
        name=name, check_str=check, description=description, scope_types=_SCOPE,
        operations=[{'method': method, 'path': path} for method, path in operations], **old)


def list_rules() -> list[policy.RuleDefault]:
    return [
        policy.RuleDefault('context_is_admin', ADMIN_ROLE, 'Who is an administrator.'),
        policy.RuleDefault('admin_or_owner', _OWNER, 'An administrator, or the owner.'),
        policy.RuleDefault('admin_api', ADMIN, 'Calls for administrators.'),
        policy.RuleDefault('deny_everybody', '!', 'Nobody.'),
        policy.RuleDefault(
            'project_reader_or_admin', f'{ADMIN} or (role:reader and project_id:%(project_id)s)',
            'Who may look at what a project has.'),
        policy.RuleDefault(
            'project_member_or_admin', f'{ADMIN} or (role:member and project_id:%(project_id)s)',
            'Who may change what a project has.'),
    ]
