# SPDX-License-Identifier: Apache-2.0
"""osprofiler in the API's pipeline: a pass-through unless it is installed and switched on."""

import collections.abc
import importlib.util
import typing as ty

import zun.conf

CONF = zun.conf.CONF

Wsgi = collections.abc.Callable[..., ty.Any]


class WsgiMiddleware:
    """For the paste file: ``paste.filter_factory = zun.common.profiler:WsgiMiddleware.factory``."""

    @classmethod
    def factory(cls, global_conf: dict[str, str],
                **local_conf: str) -> collections.abc.Callable[[Wsgi], Wsgi]:
        """A filter that traces requests when ``[profiler]/enabled`` says so."""
        if not CONF.profiler.enabled or importlib.util.find_spec('osprofiler') is None:
            return lambda app: app
        from osprofiler import initializer
        from osprofiler import web

        initializer.init_from_conf(CONF, context={}, project='zun', service='api', host=CONF.host)
        return ty.cast('collections.abc.Callable[[Wsgi], Wsgi]',
                       web.WsgiMiddleware.factory(global_conf, **local_conf))
