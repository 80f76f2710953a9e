# SPDX-License-Identifier: Apache-2.0
"""The API's own HTTP server."""

import ssl
import threading
import typing as ty

from cheroot import wsgi
from cheroot.ssl import builtin
from oslo_log import log as logging
from oslo_service import service

from zun.common import exception
import zun.conf
from zun.rpc import transport
from zun.wsgi import wiring

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds a client may take between two packets of its request.
_CLIENT_TIMEOUT = 60
_BACKLOG = 1024


def tls() -> builtin.BuiltinSSLAdapter:
    """What ``[ssl]`` asks for.

    :raises ConfigInvalid: certificate and key, or the ciphers, cannot be used
    """
    options = CONF.ssl
    try:
        adapter = builtin.BuiltinSSLAdapter(options.cert_file or '', options.key_file or '',
                                            options.ca_file, options.ciphers)
    except OSError as error:
        raise exception.ConfigInvalid(error_msg=f'[ssl]: {error}') from None
    adapter.context.minimum_version = ssl.TLSVersion.TLSv1_2
    if options.ca_file:
        adapter.context.verify_mode = ssl.CERT_REQUIRED
    return adapter


class ApiService(service.ServiceBase):
    """One worker.

    :param shared_port: other workers listen on the same port
    """

    def __init__(self, shared_port: bool = False) -> None:
        self._shared_port = shared_port
        self._server: ty.Any = None
        self._thread: threading.Thread | None = None
        self._dispatcher: ty.Any = None

    def start(self) -> None:
        self._dispatcher = wiring.connect()
        self._dispatcher.start()
        address = (str(CONF.api.host_ip), CONF.api.port)
        self._server = wsgi.Server(
            address, wiring.application(), numthreads=CONF.api.threads,
            request_queue_size=_BACKLOG, timeout=_CLIENT_TIMEOUT, server_name='zun-api',
            reuse_port=self._shared_port,
            shutdown_timeout=min(CONF.graceful_shutdown_timeout or 60, 5))
        if CONF.api.enable_ssl_api:
            self._server.ssl_adapter = tls()
        self._server.prepare()
        self._thread = threading.Thread(target=self._server.serve, name='api', daemon=True)
        self._thread.start()
        LOG.info('Listening on %s port %s', *address)

    def stop(self, graceful: bool = False) -> None:
        if self._server is not None:
            self._server.stop()
        if self._dispatcher is not None:
            self._dispatcher.stop()
        transport.close()

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def reset(self) -> None:
        """Options that can change while it runs are read at use."""
