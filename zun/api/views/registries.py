# SPDX-License-Identifier: Apache-2.0
"""How registries are shown: never with their password."""

import typing as ty

from zun import objects
from zun.api.views import fields
from zun.api.views import links
from zun.common import context as zun_context

COLLECTION = 'registries'
RULE_PREFIX = 'registry:get_one'
FIELDS = ('uuid', 'name', 'domain', 'username', 'password', 'project_id', 'user_id')
_CONCEALED = '***'

Json = dict[str, ty.Any]


class View:
    """Shows registries to one caller."""

    def __init__(self, context: zun_context.RequestContext) -> None:
        hidden = fields.hidden(context, RULE_PREFIX, FIELDS)
        self._shown = [name for name in FIELDS if name not in hidden]

    def show(self, registry: 'objects.Registry') -> Json:
        """One registry without links."""
        return {name: _CONCEALED if name == 'password' else getattr(registry, name)
                for name in self._shown}

    def linked(self, registry: 'objects.Registry', host_url: str) -> Json:
        """One registry with links, in its envelope."""
        return {'registry': {**self.show(registry),
                             'links': links.of(host_url, COLLECTION, registry.uuid)}}
