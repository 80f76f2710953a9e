# SPDX-License-Identifier: Apache-2.0
"""Options of Zun's own identity: [keystone_auth], and [service_user] for service tokens."""

import copy

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

AUTH_GROUP = cfg.OptGroup(
    'keystone_auth',
    title='Identity of the service',
    help='The service user. Zun asks other services in its name. The options depend on auth_type; '
    'those of `password` are listed here.',
)
SERVICE_USER_GROUP = cfg.OptGroup(
    'service_user',
    title='Service token',
    help="Identity that is sent as X-Service-Token along with a user's token.",
)

SERVICE_USER_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'send_service_user_token',
        default=False,
        help="Send a service token with requests made with a user's token, so that work that "
        "outlives the user's token is still accepted.",
    ),
]

DEFAULT_AUTH_TYPE = 'password'


def _shared() -> list[cfg.Opt]:
    return [
        *ks_loading.get_session_conf_options(),
        *ks_loading.get_auth_common_conf_options(),
    ]


GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (AUTH_GROUP, _shared()),
    (SERVICE_USER_GROUP, [*_shared(), *SERVICE_USER_OPTS]),
]


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups as they appear in a sample: with the options of the password plugin."""
    listed = []
    for group, opts in GROUPS:
        shown = [copy.copy(opt) for opt in opts]
        cfg.set_defaults(shown, auth_type=DEFAULT_AUTH_TYPE)
        plugin = ks_loading.get_auth_plugin_conf_options(DEFAULT_AUTH_TYPE)
        listed.append((group, [*shown, *plugin]))
    return listed
