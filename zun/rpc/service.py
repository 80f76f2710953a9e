# SPDX-License-Identifier: Apache-2.0
"""RPC servers: threads from a bounded pool, stopped in an orderly way."""

import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_messaging.rpc import dispatcher

from zun.rpc import serializer
from zun.rpc import transport as rpc_transport

LOG = logging.getLogger(__name__)


class Server:
    """One topic served under one name.

    :param endpoint: object whose public methods are offered; its ``target`` names the version
    """

    def __init__(self, topic: str, server: str, endpoint: ty.Any,
                 transport: messaging.Transport | None = None) -> None:
        self._server = messaging.get_rpc_server(
            transport or rpc_transport.get(), messaging.Target(topic=topic, server=server),
            [endpoint], executor='threading', serializer=serializer.ContextSerializer(),
            access_policy=dispatcher.DefaultRPCAccessPolicy)
        self.topic = topic

    def start(self) -> None:
        self._server.start()
        LOG.info('Serving topic %s', self.topic)

    def stop(self) -> None:
        """Take no further message."""
        self._server.stop()

    def wait(self) -> None:
        """Wait for the messages being dispatched."""
        self._server.wait()
