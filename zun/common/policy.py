# SPDX-License-Identifier: Apache-2.0
"""Who may do what: oslo.policy over the rules of zun.policies and the operator's file."""

import functools
import typing as ty

from oslo_policy import policy as oslo_policy

from zun import policies
from zun.common import context as zun_context
from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

Context = zun_context.RequestContext
Target = ty.Mapping[str, ty.Any]


@functools.cache
def _get() -> oslo_policy.Enforcer:
    enforcer = oslo_policy.Enforcer(CONF)
    # Changed defaults are no news to tell: the old ones still hold unless they are switched off.
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults(policies.list_rules())
    enforcer.load_rules()
    return enforcer


def reset() -> None:
    """Forget the rules: the next use reads options and file anew."""
    _get.cache_clear()


def _credentials(context: Context) -> dict[str, ty.Any]:
    return {**context.to_policy_values(), 'is_admin': context.is_admin}


def _owner(context: Context) -> Target:
    return {'project_id': context.project_id, 'user_id': context.user_id}


def allowed(context: Context, rule: str, target: Target | None = None) -> bool:
    """Whether the caller passes a rule, of the defaults or of the file alone.

    :param target: ``project_id`` and ``user_id`` of what is acted on; None: the caller's
    """
    return bool(_get().enforce(rule, dict(target or _owner(context)), _credentials(context)))


def enforce(context: Context, rule: str, target: Target | None = None) -> None:
    """Refuse a caller who does not pass a rule.

    :param target: ``project_id`` and ``user_id`` of what is acted on; None: the caller's
    :raises PolicyNotAuthorized: he does not
    """
    if not allowed(context, rule, target):
        raise exception.PolicyNotAuthorized(action=rule)


def exists(rule: str) -> bool:
    """Whether the defaults or the file have such a rule.

    Enforcing a rule looks for changes of the file; asking for many rules in a row does not.
    """
    return rule in _get().rules


def context_is_admin(context: Context) -> bool:
    """Whether the roles of a context make an administrator, whatever it says itself."""
    credentials = {**context.to_policy_values(), 'is_admin': False}
    return bool(_get().enforce('context_is_admin', dict(_owner(context)), credentials))
