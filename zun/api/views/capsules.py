# SPDX-License-Identifier: Apache-2.0
"""How capsules are shown: one way from 1.32 on, another below."""

import collections.abc
import typing as ty

from zun import objects
from zun.api import microversions
from zun.api.views import containers
from zun.api.views import fields
from zun.api.views import links
from zun.common import context as zun_context

COLLECTION = 'capsules'
RULE_PREFIX = 'capsule:get'
FIELDS = ('uuid', 'links', 'project_id', 'user_id', 'created_at', 'updated_at', 'addresses',
          'status', 'status_reason', 'restart_policy', 'name', 'labels', 'annotations', 'memory',
          'cpu', 'host', 'containers', 'init_containers')

_NEW_VIEW = microversions.Version(1, 32)
_OLD_NAMES = {'name': 'meta_name', 'labels': 'meta_labels'}
_OLD_CONSTANTS: dict[str, ty.Any] = {
    'capsule_version': '', 'containers_uuids': [], 'init_containers_uuids': [],
    'volumes_info': {}}

Json = dict[str, ty.Any]


class View:
    """Shows capsules, whose members are loaded, to one caller at one version."""

    def __init__(self, context: zun_context.RequestContext, version: microversions.Version,
                 host_url: str,
                 capsules: collections.abc.Iterable['objects.Capsule']) -> None:
        self._hidden = fields.hidden(context, RULE_PREFIX, FIELDS)
        self._version = version
        self._host_url = host_url
        self._members = containers.View(
            context, [member for capsule in capsules
                      for member in (*capsule.containers, *capsule.init_containers)])

    def show(self, capsule: 'objects.Capsule') -> Json:
        """One capsule with its members."""
        view = {
            'uuid': capsule.uuid,
            'links': links.of(self._host_url, COLLECTION, capsule.uuid),
            'project_id': capsule.project_id,
            'user_id': capsule.user_id,
            'created_at': fields.time(capsule.created_at),
            'updated_at': fields.time(capsule.updated_at),
            'addresses': capsule.addresses or {},
            'status': capsule.status,
            'status_reason': capsule.status_reason,
            'restart_policy': capsule.restart_policy or {},
            'name': capsule.name,
            'labels': capsule.labels or {},
            'annotations': capsule.annotations,
            'memory': capsule.memory,
            'cpu': capsule.cpu,
            'host': capsule.host,
            'containers': [self._members.show(member) for member in capsule.containers],
            'init_containers': [self._members.show(member)
                                for member in capsule.init_containers],
        }
        shown = {name: value for name, value in view.items() if name not in self._hidden}
        return shown if self._version >= _NEW_VIEW else _old(shown)


def _old(view: Json) -> Json:
    renamed = {_OLD_NAMES.get(name, name): value for name, value in view.items()}
    if 'restart_policy' in renamed:
        renamed['restart_policy'] = renamed['restart_policy'].get('Name')
    return {**renamed, **_OLD_CONSTANTS}
