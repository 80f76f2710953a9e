# SPDX-License-Identifier: Apache-2.0
"""Notifications for other services, where ``[oslo_messaging_notifications]`` asks for them."""

import functools
import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging

from zun.common import context as zun_context
import zun.conf
from zun.rpc import serializer

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)


@functools.cache
def _notifier() -> messaging.Notifier:
    # Without a retry: a bus that is down must not hold up what is told of.
    return messaging.Notifier(messaging.get_notification_transport(CONF), retry=0,
                              serializer=serializer.ContextSerializer())


def emit(context: zun_context.RequestContext, publisher: str, event: str,
         payload: dict[str, ty.Any]) -> None:
    """Tell that something happened; one that cannot be sent is left out, with a line in the log.

    :param publisher: ``<program>:<host>``
    """
    try:
        _notifier().prepare(publisher_id=publisher).info(context, event, payload)
    except messaging.MessagingException as error:
        LOG.warning('Notification %s cannot be sent: %s', event, error)
