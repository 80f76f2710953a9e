# SPDX-License-Identifier: Apache-2.0
"""How containers and what belongs to them are shown."""

import collections.abc
import datetime
import re
import typing as ty

from oslo_utils import timeutils

from zun import objects
from zun.api.views import fields
from zun.api.views import links
from zun.common import context as zun_context
from zun.common import units

COLLECTION = 'containers'
RULE_PREFIX = 'container:get_one'

_PLAIN = ('uuid', 'name', 'project_id', 'user_id', 'image', 'cpu', 'cpu_policy', 'memory',
          'status', 'status_reason', 'status_detail', 'task_state', 'workdir', 'hostname',
          'image_driver', 'image_pull_policy', 'host', 'runtime')
_FLAGS = ('auto_remove', 'auto_heal', 'interactive', 'tty', 'privileged')
_LISTS = ('ports', 'security_groups')
_OBJECTS = ('environment', 'labels', 'addresses', 'restart_policy', 'healthcheck')
_TIMES = ('created_at', 'updated_at')
#: Shown when the container itself names none.
_EFFECTIVE = {'command': 'effective_command', 'entrypoint': 'effective_entrypoint'}
FIELDS = (*_PLAIN, *_FLAGS, *_LISTS, *_OBJECTS, *_TIMES, *_EFFECTIVE, 'disk', 'registry_id')

#: Words of the engine that hold an age, before, within and after it.
_AGED = re.compile(r'(Up |Exited\(-?\d+\) )(\d+ [a-z]+)(.*)')

Json = dict[str, ty.Any]


class View:
    """Shows containers to one caller.

    :param containers: all that are to be shown; what they refer to is read in one query
    """

    def __init__(self, context: zun_context.RequestContext,
                 containers: collections.abc.Iterable['objects.ContainerBase']) -> None:
        hidden = fields.hidden(context, RULE_PREFIX, FIELDS)
        self._shown = frozenset(FIELDS) - hidden
        self._plain = [name for name in _PLAIN if name not in hidden]
        self._registries = objects.Registry.uuids(
            context, (container.registry_id for container in containers))

    def show(self, container: 'objects.ContainerBase') -> Json:
        """One container without links."""
        view = {name: getattr(container, name) for name in self._plain}
        if 'status_detail' in view:
            view['status_detail'] = status_detail(container, timeutils.utcnow())
        view.update({name: bool(getattr(container, name)) for name in _FLAGS})
        view.update({name: getattr(container, name) or [] for name in _LISTS})
        view.update({name: getattr(container, name) or {} for name in _OBJECTS})
        view.update({name: getattr(container, name) or getattr(container, effective) or []
                     for name, effective in _EFFECTIVE.items()})
        view.update({name: fields.time(getattr(container, name)) for name in _TIMES})
        view['disk'] = container.disk or 0
        view['registry_id'] = self._registries.get(container.registry_id)
        if len(self._shown) < len(FIELDS):
            view = {name: value for name, value in view.items() if name in self._shown}
        return view

    def linked(self, container: 'objects.ContainerBase', host_url: str) -> Json:
        """One container with its links."""
        return {**self.show(container),
                'links': links.of(host_url, COLLECTION, container.uuid)}


def status_detail(container: 'objects.ContainerBase', now: datetime.datetime) -> str | None:
    """The status in the words of the engine, as old as it is now.

    The node writes them when something happens, and the age in them goes stale.
    """
    words = _AGED.fullmatch(container.status_detail or '')
    if words is None:
        return container.status_detail
    begin, end = words.group(1, 3)
    since = container.started_at if begin == 'Up ' else container.finished_at
    if since is None:
        return container.status_detail
    return f"{begin}{units.age(since, now) or '0 seconds'}{end}"


def network_list(addresses: dict[str, list[Json]] | None, by_port: bool) -> list[Json]:
    """The networks of a container.

    :param by_port: one item for each port, else one for each address
    """
    pairs = [(network, address) for network, found in (addresses or {}).items()
             for address in found]
    if not by_port:
        return [{'net_id': network, 'port_id': address['port'], **_fixed_ip(address)}
                for network, address in pairs]
    ports: dict[tuple[str, str], list[Json]] = {}
    for network, address in pairs:
        ports.setdefault((network, address['port']), []).append(_fixed_ip(address))
    return [{'net_id': network, 'port_id': port, 'fixed_ips': found}
            for (network, port), found in ports.items()]


def _fixed_ip(address: Json) -> Json:
    return {'subnet_id': address['subnet_id'], 'version': address['version'],
            'ip_address': address['addr']}


def action(found: 'objects.ContainerAction') -> Json:
    """One verb that was applied to a container."""
    return {
        'action': found.action, 'container_uuid': found.container_uuid,
        'request_id': found.request_id, 'user_id': found.user_id,
        'project_id': found.project_id, 'start_time': fields.time_t(found.start_time),
        'finish_time': fields.time_t(found.finish_time), 'message': found.message,
    }


def event(found: 'objects.ContainerActionEvent', traceback: bool) -> Json:
    """One step of an action; the traceback is for administrators."""
    return {
        'event': found.event, 'start_time': fields.time_t(found.start_time),
        'finish_time': fields.time_t(found.finish_time), 'result': found.result,
        'traceback': found.traceback if traceback else None,
    }
