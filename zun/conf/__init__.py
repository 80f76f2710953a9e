# SPDX-License-Identifier: Apache-2.0
"""Every option of Zun, registered on oslo.config's global CONF. Options are read at use."""

from oslo_config import cfg

from zun.conf import api
from zun.conf import base
from zun.conf import clients
from zun.conf import cni
from zun.conf import compute
from zun.conf import console
from zun.conf import database
from zun.conf import docker
from zun.conf import keystone
from zun.conf import legacy
from zun.conf import network
from zun.conf import profiler
from zun.conf import quota
from zun.conf import scheduler
from zun.conf import ssl
from zun.conf import storage

CONF = cfg.CONF

GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (base.GROUP, base.OPTS),
    (api.GROUP, api.OPTS),
    (cni.GROUP, cni.OPTS),
    (compute.GROUP, compute.OPTS),
    (database.GROUP, database.OPTS),
    (docker.GROUP, docker.OPTS),
    (profiler.GROUP, profiler.OPTS),
    (quota.GROUP, quota.OPTS),
    (scheduler.GROUP, scheduler.OPTS),
    (ssl.GROUP, ssl.OPTS),
    *clients.GROUPS,
    *console.GROUPS,
    *keystone.GROUPS,
    *network.GROUPS,
    *storage.GROUPS,
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every group and option, those without effect included."""
    for group, opts in GROUPS:
        if group.name != 'DEFAULT':
            conf.register_group(group)
        conf.register_opts(opts, None if group.name == 'DEFAULT' else group.name)
    for entry in legacy.REGISTERED:
        conf.register_opt(entry.opt, None if entry.group == 'DEFAULT' else entry.group)


register_opts(CONF)
