# SPDX-License-Identifier: Apache-2.0
"""The service of zun-wsproxy."""

import threading

from oslo_log import log as logging
from oslo_service import service

from zun.common import loops
import zun.conf
from zun.console import proxy

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_WORKERS = 8
_START_SECONDS = 15.0
_STOP_SECONDS = 10.0
#: Open files: of a session, and of everything else.
_FILES_PER_SESSION = 3
_FILES = 256


class ProxyService(service.ServiceBase):
    """
    :raises ConfigInvalid: from start(), when certificates or address cannot be used
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread: loops.LoopThread | None = None
        self._proxy: proxy.Proxy | None = None

    def start(self) -> None:
        loops.allow_open_files(_FILES + _FILES_PER_SESSION * CONF.websocket_proxy.max_sessions)
        thread, served = loops.LoopThread('wsproxy', _WORKERS), proxy.Proxy()
        thread.start(served.start(), _START_SECONDS)
        self._thread, self._proxy = thread, served

    def stop(self, graceful: bool = False) -> None:
        """Take no more clients, close the sessions with 1001, for 10 seconds at most."""
        if self._thread is not None and self._proxy is not None:
            self._thread.stop(self._proxy.stop(), _STOP_SECONDS)
            self._thread = None
        self._stopped.set()

    def wait(self) -> None:
        self._stopped.wait()

    def reset(self) -> None:
        """SIGHUP: read the certificates again."""
        if self._thread is not None and self._proxy is not None:
            self._thread.call(self._reload, self._proxy)

    @staticmethod
    def _reload(served: proxy.Proxy) -> None:
        try:
            served.reload()
        except Exception:
            LOG.exception('The certificates could not be read again: the old ones stay')
