# SPDX-License-Identifier: Apache-2.0
"""The message bus: exchange ``zun``, one transport a process."""

import functools
import typing as ty

import oslo_messaging as messaging

from zun.common import exception
import zun.conf
from zun.rpc import serializer

CONF = zun.conf.CONF

EXCHANGE = 'zun'
#: Remote exceptions are rebuilt only from these modules.
ALLOWED_MODULES = [exception.__name__]


@functools.cache
def get() -> messaging.Transport:
    """The process' transport, made at first use and never before a fork."""
    messaging.set_transport_defaults(control_exchange=EXCHANGE)
    return messaging.get_rpc_transport(CONF, allowed_remote_exmods=ALLOWED_MODULES)


def close() -> None:
    """Drop the transport, for an orderly end and for tests."""
    if get.cache_info().currsize:
        get().cleanup()
        get.cache_clear()


def client(topic: str, version: str, transport: messaging.Transport | None = None) -> ty.Any:
    """An RPC client of one topic."""
    return messaging.get_rpc_client(
        transport or get(), messaging.Target(topic=topic, version=version),
        serializer=serializer.ContextSerializer())
