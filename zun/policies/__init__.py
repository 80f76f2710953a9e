# SPDX-License-Identifier: Apache-2.0
"""The rules of the API: who may do what when no policy file says otherwise."""

from oslo_policy import policy

from zun.policies import base
from zun.policies import capsule
from zun.policies import container
from zun.policies import image
from zun.policies import network
from zun.policies import operation
from zun.policies import registry

_MODULES = (base, capsule, container, image, network, operation, registry)


def list_rules() -> list[policy.RuleDefault]:
    """All rules with their defaults."""
    return [rule for module in _MODULES for rule in module.list_rules()]
