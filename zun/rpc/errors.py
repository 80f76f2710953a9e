# SPDX-License-Identifier: Apache-2.0
"""Errors across the bus: the local class by name, the message, and no traceback."""

import collections.abc
import contextlib

import oslo_messaging as messaging

from zun.common import exception

_REMOTE_SUFFIX = '_Remote'
#: Libraries under oslo.messaging whose errors it lets through.
_BUS_LIBRARIES = ('kombu', 'amqp')


def local(error: exception.ZunException) -> exception.ZunException:
    """The local twin of an error that a remote process raised.

    oslo.messaging names the rebuilt class ``<name>_Remote`` and lets its text end in the remote
    traceback.
    """
    name = type(error).__name__.removesuffix(_REMOTE_SUFFIX)
    return exception.by_name(name)(error.message)


def _is_of_bus(error: Exception) -> bool:
    library = type(error).__module__.partition('.')[0]
    return isinstance(error, messaging.MessagingException) or library in _BUS_LIBRARIES


@contextlib.contextmanager
def translated() -> collections.abc.Iterator[None]:
    """Raise what a call answered as this process' own exceptions.

    :raises ZunException: the node's error; 503 or 504 when it was not reached or did not answer;
        a bare one, 500, for what the node did not raise on purpose
    """
    try:
        yield
    except messaging.MessagingTimeout:
        raise exception.NodeTimeout() from None
    except messaging.MessageUndeliverable:
        raise exception.BusUnavailable(reason='nobody takes the message') from None
    except messaging.RemoteError as error:
        raise exception.ZunException(f'Unexpected {error.exc_type} in another service.') from error
    except exception.ZunException as error:
        raise local(error) from None
    except Exception as error:
        if _is_of_bus(error):
            raise exception.BusUnavailable(reason=type(error).__name__) from error
        raise exception.ZunException(
            f'Unexpected {type(error).__name__} in another service.') from error
