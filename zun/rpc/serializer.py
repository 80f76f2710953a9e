# SPDX-License-Identifier: Apache-2.0
"""What travels in a message: plain values, and a context without tokens."""

import typing as ty

import oslo_messaging as messaging

from zun.common import context as zun_context


class ContextSerializer(messaging.NoOpSerializer):
    """Messages carry ids, not rows; only the context needs translation."""

    def serialize_context(self, context: zun_context.RequestContext) -> dict[str, ty.Any]:
        return context.to_dict()

    def deserialize_context(self, context: dict[str, ty.Any]) -> zun_context.RequestContext:
        # The thread served another request before: its log lines now belong to this one.
        return zun_context.RequestContext.from_dict(context, overwrite=True)
