# SPDX-License-Identifier: Apache-2.0
"""The options as sample generator, validator and documentation list them."""

from oslo_config import cfg

import zun.conf
from zun.conf import database
from zun.conf import keystone
from zun.conf import legacy


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return all options of Zun by group.

    Groups of other libraries are left to their own namespaces, [profiler] and [keystone_auth]
    excepted: those have none.
    """
    listed: dict[str, tuple[cfg.OptGroup, list[cfg.Opt]]] = {}
    for group, opts in [*zun.conf.GROUPS, *keystone.list_opts()]:
        if group.name != database.GROUP.name:
            listed[group.name] = (group, [*opts])
    for entry in legacy.UNREAD:
        _, opts = listed.setdefault(entry.group, (cfg.OptGroup(entry.group), []))
        opts.append(entry.opt)
    return list(listed.values())
