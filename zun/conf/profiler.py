# SPDX-License-Identifier: Apache-2.0
"""Options of osprofiler, a library that may be absent."""

import importlib.util

from oslo_config import cfg

GROUP = cfg.OptGroup('profiler', title='Profiler')


def _load() -> list[cfg.Opt]:
    """Return osprofiler's options; without osprofiler, the switch that then has no effect."""
    if importlib.util.find_spec('osprofiler') is None:
        return [cfg.BoolOpt('enabled', default=False, help='Trace requests with osprofiler.')]
    from osprofiler import opts

    return [opt for group, listed in opts.list_opts() if group == GROUP.name for opt in listed]


OPTS: list[cfg.Opt] = _load()
