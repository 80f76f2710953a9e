# SPDX-License-Identifier: Apache-2.0
"""Client of zun-scheduler."""

import oslo_messaging as messaging

from zun.common import context as zun_context
from zun.rpc import errors
from zun.rpc import transport as rpc_transport

TOPIC = 'zun-scheduler'
VERSION = '2.0'


class Client:
    """Any scheduler takes the message; none keeps state."""

    def __init__(self, transport: messaging.Transport | None = None) -> None:
        self._client = rpc_transport.Client(TOPIC, VERSION, transport)

    def schedule_container(self, context: zun_context.RequestContext, container_uuid: str,
                           generation: int) -> None:
        """Cast: find a host for a container or capsule that waits in Creating.

        :param generation: of its container_request; a request that has moved on is left alone
        """
        with errors.translated():
            self._client.cast(context, 'schedule_container',
                              {'container_uuid': container_uuid, 'generation': generation})
