# SPDX-License-Identifier: Apache-2.0
"""Errors across the bus: the local class by name, the message, and no traceback."""

import collections.abc
import contextlib

import oslo_messaging as messaging

from zun.common import exception

_REMOTE_SUFFIX = '_Remote'


def local(error: BaseException) -> exception.ZunException:
    """The local twin of an error that a remote process raised.

    oslo.messaging names the rebuilt class ``<name>_Remote`` and appends the remote traceback to
    its message after a line break.
    """
    name = type(error).__name__.removesuffix(_REMOTE_SUFFIX)
    if isinstance(error, messaging.RemoteError):
        return exception.by_name(error.exc_type or '')(error.value or 'Unexpected remote error.')
    text = getattr(error, 'message', None) or str(error)
    return exception.by_name(name)(text.split('\nTraceback (most recent call last)')[0].strip())


@contextlib.contextmanager
def translated() -> collections.abc.Iterator[None]:
    """Raise what a call answered as this process' own exceptions.

    :raises ZunException: the node's error, or 503/504 when it did not answer
    """
    try:
        yield
    except messaging.MessagingTimeout:
        raise exception.NodeTimeout() from None
    except messaging.MessageDeliveryFailure as error:
        raise exception.BusUnavailable(reason=type(error).__name__) from error
    except exception.ZunException as error:
        raise local(error) from None
    except messaging.RemoteError as error:
        raise local(error) from None
