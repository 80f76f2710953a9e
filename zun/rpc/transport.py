# SPDX-License-Identifier: Apache-2.0
"""The message bus: exchange ``zun``, one transport a process."""

import threading
import typing as ty

import oslo_messaging as messaging

from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.rpc import serializer

CONF = zun.conf.CONF

EXCHANGE = 'zun'
#: Remote exceptions are rebuilt only from these modules.
ALLOWED_MODULES = [exception.__name__]
#: Tries to connect beyond the first, with pauses of 1, 3 and 5 seconds.
RETRIES = 3
#: Of calls: without a queue that takes it there is an error, and no answer to wait for.
_TAKEN = messaging.TransportOptions(at_least_once=True)
#: Nobody listens here.
_NOWHERE = 'zun-nowhere'

_lock = threading.Lock()
_transport: messaging.Transport | None = None


def get() -> messaging.Transport:
    """The process' transport, made at first use and never before a fork."""
    global _transport
    with _lock:
        if _transport is None:
            messaging.set_transport_defaults(control_exchange=EXCHANGE)
            _transport = messaging.get_rpc_transport(
                CONF, allowed_remote_exmods=ALLOWED_MODULES)
        return _transport


def close() -> None:
    """Drop the transport, for an orderly end and for tests."""
    global _transport
    with _lock:
        found, _transport = _transport, None
    if found is not None:
        found.cleanup()


class Client:
    """An RPC client of one topic that does not wait for ever for a bus that is down."""

    def __init__(self, topic: str, version: str,
                 transport: messaging.Transport | None = None) -> None:
        self._client = messaging.get_rpc_client(
            transport or get(), messaging.Target(topic=topic, version=version),
            serializer=serializer.ContextSerializer(), retry=RETRIES)
        self._has_answers = False

    def cast(self, context: zun_context.RequestContext, method: str, args: dict[str, ty.Any],
             server: str | None = None) -> None:
        """Send a message; nobody need be there to read it.

        :param server: the one to read it; None: any of the topic
        """
        self._client.prepare(**_options(server)).cast(context, method, **args)

    def call(self, context: zun_context.RequestContext, method: str, args: dict[str, ty.Any],
             server: str | None = None, timeout: float | None = None) -> ty.Any:
        """Send a message and wait for the answer.

        :param timeout: seconds; None: ``[DEFAULT]/rpc_response_timeout``
        :raises MessageUndeliverable: nobody listens, as after a restart of the bus; at once
        """
        if not self._has_answers:
            # The first call makes a queue for answers, and waits for the bus without an end.
            self._client.prepare(topic=_NOWHERE).cast(context, 'connect')
            self._has_answers = True
        options = {**_options(server), 'transport_options': _TAKEN}
        if timeout is not None:
            options['timeout'] = timeout
        return self._client.prepare(**options).call(context, method, **args)


def _options(server: str | None) -> dict[str, ty.Any]:
    return {} if server is None else {'server': server}
