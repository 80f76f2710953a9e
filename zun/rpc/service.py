# SPDX-License-Identifier: Apache-2.0
"""RPC servers: threads from a bounded pool, stopped in an orderly way."""

import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_messaging.rpc import dispatcher

from zun.common import exception
from zun.rpc import serializer
from zun.rpc import transport as rpc_transport

LOG = logging.getLogger(__name__)


class _Endpoint:
    """An endpoint whose refusals are answers: only what it did not raise on purpose is logged."""

    def __init__(self, endpoint: ty.Any) -> None:
        self.target = endpoint.target
        self._endpoint = endpoint

    def __getattr__(self, name: str) -> ty.Any:
        return messaging.expected_exceptions(exception.ZunException)(
            getattr(self._endpoint, name))


class Server:
    """One topic served under one name.

    :param endpoint: object whose public methods are offered; its ``target`` names the version
    :param workers: messages handled at a time; None: ``[DEFAULT]/executor_thread_pool_size``
    """

    def __init__(self, topic: str, server: str, endpoint: ty.Any,
                 transport: messaging.Transport | None = None,
                 workers: int | None = None) -> None:
        self._server = messaging.get_rpc_server(
            transport or rpc_transport.get(), messaging.Target(topic=topic, server=server),
            [_Endpoint(endpoint)], serializer=serializer.ContextSerializer(),
            access_policy=dispatcher.DefaultRPCAccessPolicy)
        self._workers = workers
        self._started = False
        self.topic = topic

    def start(self) -> None:
        self._server.start(override_pool_size=self._workers)
        self._started = True
        LOG.info('Serving topic %s', self.topic)

    def stop(self) -> None:
        """Take no further message."""
        if self._started:  # oslo.messaging would wait for a start
            self._server.stop()

    def wait(self) -> None:
        """Wait for the messages being dispatched."""
        if self._started:
            self._server.wait()
