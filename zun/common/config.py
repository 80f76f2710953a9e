# SPDX-License-Identifier: Apache-2.0
"""Reading the configuration and setting up the log, once for each program."""

from collections.abc import Sequence

from oslo_log import log as logging
import oslo_messaging
from oslo_messaging import opts as messaging_opts
from oslo_middleware import cors
from oslo_policy import opts as policy_opts

from zun import version
import zun.conf
from zun.conf import keystone
from zun.conf import legacy

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

PROJECT = 'zun'
RABBIT = 'oslo_messaging_rabbit'

#: Libraries that would tell every request or every frame.
QUIET = ['docker=INFO', 'openstack=INFO', 'pyroute2=INFO', 'websockets=INFO']

CORS_ALLOW_HEADERS = [
    'X-Auth-Token',
    'X-Identity-Status',
    'X-Roles',
    'X-Service-Catalog',
    'X-User-Id',
    'X-Project-Id',
    'X-OpenStack-Request-ID',
    'X-Server-Management-Url',
    'OpenStack-API-Version',
]
CORS_EXPOSE_HEADERS = [
    'X-Auth-Token',
    'X-Subject-Token',
    'X-Service-Token',
    'X-OpenStack-Request-ID',
    'X-Server-Management-Url',
    'OpenStack-API-Version',
]
CORS_ALLOW_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH']


def set_config_defaults() -> None:
    """Set Zun's defaults of other libraries' options.

    oslo-config-generator calls it too, through the entry-point group oslo.config.opts.defaults.
    """
    cors.set_defaults(
        allow_headers=CORS_ALLOW_HEADERS,
        expose_headers=CORS_EXPOSE_HEADERS,
        allow_methods=CORS_ALLOW_METHODS,
    )
    logging.set_defaults(default_log_levels=[*logging.get_default_log_levels(), *QUIET])
    oslo_messaging.set_transport_defaults(control_exchange=PROJECT)
    policy_opts.set_defaults(CONF, policy_file='policy.yaml', enforce_new_defaults=False)
    CONF.set_default('auth_type', keystone.DEFAULT_AUTH_TYPE, group=keystone.AUTH_GROUP.name)
    CONF.register_opts(dict(messaging_opts.list_opts())[RABBIT], group=RABBIT)
    # Of 30 s, a host would be deaf for half a minute after the bus is back.
    CONF.set_default('rabbit_interval_max', 5, group=RABBIT)


def parse_args(
    argv: Sequence[str],
    *,
    program: str | None = None,
    default_config_files: Sequence[str] | None = None,
) -> None:
    """Read command line and configuration files into CONF. May be called again (reload).

    What set_override and set_default set stays; everything read before is forgotten.

    :param argv: arguments without the name of the program
    :param program: name of the program; ``<program>.conf`` is read after ``zun.conf``
    :param default_config_files: read these, and no default directory, when argv names no file;
        None: search ~/.zun, ~, /etc/zun and /etc
    :raises oslo_config.cfg.Error: a file or an argument cannot be used
    """
    CONF.clear()
    set_config_defaults()
    logging.register_options(CONF)
    explicit = default_config_files is not None
    CONF(
        list(argv),
        project=PROJECT,
        prog=program,
        version=version.version_string(),
        default_config_files=list(default_config_files or []) if explicit else None,
        default_config_dirs=[] if explicit else None,
    )


def setup_logging(program: str) -> None:
    """Send the log where the configuration says, and name options that are set in vain.

    :param program: name that syslog and the journal show
    """
    logging.setup(CONF, program, version.version_string(), fix_eventlet=False)
    legacy.report(CONF, LOG)
