# SPDX-License-Identifier: Apache-2.0
"""Rules of networks."""

from oslo_policy import policy

from zun.policies import base


def list_rules() -> list[policy.RuleDefault]:
    return [
        base.rule('network:attach_external_network', base.ADMIN_ROLE,
                  'Attach a container to an external network that is not shared.',
                  ('POST', '/v1/containers'),
                  ('POST', '/v1/containers/{container_ident}/network_attach')),
        base.rule('network:create', base.ADMIN_ROLE, 'Make a network known to the hosts.',
                  ('POST', '/v1/networks')),
        base.rule('network:delete', base.ADMIN_ROLE, 'Remove a network from the hosts.',
                  ('DELETE', '/v1/networks/{neutron_net_id}')),
    ]
