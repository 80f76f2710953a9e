# SPDX-License-Identifier: Apache-2.0
"""Rules of what operators look after: services, hosts, zones, quotas."""

from oslo_policy import policy

from zun.policies import base

_QUOTA = '/v1/quotas/{project_id}'
_QUOTA_CLASS = '/v1/quota_classes/{quota_class_name}'


def _services() -> list[policy.RuleDefault]:
    return [
        base.rule('zun-service:get_all', base.ADMIN, 'List services.', ('GET', '/v1/services')),
        base.rule('zun-service:delete', base.ADMIN, 'Remove a service.',
                  ('DELETE', '/v1/services')),
        base.rule('zun-service:disable', base.ADMIN, 'Keep new containers off a host.',
                  ('PUT', '/v1/services/disable')),
        base.rule('zun-service:enable', base.ADMIN, 'Let new containers on a host.',
                  ('PUT', '/v1/services/enable')),
        base.rule('zun-service:force_down', base.ADMIN, 'Declare a service to be down.',
                  ('PUT', '/v1/services/force_down')),
        base.rule('host:get_all', base.ADMIN, 'List hosts.', ('GET', '/v1/hosts')),
        base.rule('host:get', base.ADMIN, 'Show a host.', ('GET', '/v1/hosts/{host_ident}')),
        base.rule('availability_zones:get_all', base.READER, 'List availability zones.',
                  ('GET', '/v1/availability_zones')),
    ]


def _quotas() -> list[policy.RuleDefault]:
    return [
        base.rule('quota:get', base.READER, 'Show the quota of a project.', ('GET', _QUOTA)),
        base.rule('quota:get_default', base.READER, 'Show the default quota.',
                  ('GET', f'{_QUOTA}/defaults')),
        base.rule('quota:update', base.ADMIN, 'Set the quota of a project.', ('PUT', _QUOTA)),
        base.rule('quota:delete', base.ADMIN, 'Give a project the default quota again.',
                  ('DELETE', _QUOTA)),
        base.rule('quota_class:get', base.ADMIN, 'Show a quota class.', ('GET', _QUOTA_CLASS)),
        base.rule('quota_class:update', base.ADMIN, 'Set a quota class.', ('PUT', _QUOTA_CLASS)),
    ]


def list_rules() -> list[policy.RuleDefault]:
    return [*_services(), *_quotas()]
