# SPDX-License-Identifier: Apache-2.0
"""A node and a scheduler that answer as recorded, and what they were told in the recorded words.

The reference sends whole objects and leaves numbers as text; ours sends ids, and numbers as such.
"""

import base64
import collections.abc
import datetime
import typing as ty

import sqlalchemy as sa

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.db import engine
from zun.db import models
from zun.rpc import compute as rpc_compute

Json = dict[str, ty.Any]

_STOP_SECONDS = 10
_NO_HOST = 'There are not enough hosts available.'
_UNEXPECTED = 'Unexpected exception occurred.'
_SINCE = '%Y-%m-%d %H:%M:%S,%f'


def _admin() -> zun_context.RequestContext:
    return zun_context.get_admin_context()


def update_row(table: str, where: Json, values: Json) -> None:
    """Write columns of the rows with these values."""
    target = models.metadata.tables[table]
    with engine.writer() as session:
        session.execute(sa.update(target).values(values).where(
            *(target.c[name] == value for name, value in where.items())))


def raise_recorded(error: Json) -> ty.NoReturn:
    """Raise what the node raised, as the RPC client hands it on."""
    if error['class'] == 'MessagingTimeout':
        raise exception.NodeTimeout
    raise getattr(exception, error['class'])(error.get('message'), **error.get('kwargs', {}))


class Recorder:
    """Keeps the messages of one request, and plays what was recorded for it.

    :ivar messages: as the ``rpc`` of a step
    """

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.script: list[Json] = []

    def begin(self, script: list[Json]) -> None:
        self.messages = []
        self.script = list(script)

    def expected(self, method: str) -> Json:
        """The first recorded message of a method that did not come yet."""
        for message in self.script:
            if message['method'] == method:
                self.script.remove(message)
                return message
        return {'args': {}}

    def add(self, kind: str, method: str, args: Json, server: str | None = None) -> Json:
        """Note a message in the recorded words; the recorded one."""
        recorded = self.expected(method)
        self.messages.append({
            'kind': kind, 'method': method, 'server': server,
            'args': {name: _as_recorded(name, value, recorded['args'])
                     for name, value in args.items()}})
        return recorded


def _as_recorded(name: str, value: ty.Any, recorded: Json) -> ty.Any:
    """The recorded form of a value when both mean the same."""
    if name in recorded and _plain(name, recorded[name]) == _plain(name, value):
        return recorded[name]
    return value


def _plain(name: str, value: ty.Any) -> ty.Any:
    """A value in one form: numbers as such, nothing as None."""
    if value in ('', 'None'):
        return None
    if name == 'since' and isinstance(value, str) and ',' in value:
        moment = datetime.datetime.strptime(value, _SINCE).replace(tzinfo=datetime.UTC)
        return float(moment.timestamp())
    if name == 'extra_spec':
        return {key: member for key, member in value.items() if member}
    if name == 'requested_networks':
        return [{**net, 'pci_request_id': net.get('pci_request_id')} for net in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None if name == 'tail' else value
    return value


def _object(kind: str, uuid: str) -> Json:
    return {'$object': kind, 'uuid': uuid}


class Node(rpc_compute.Client):
    """The client of all nodes; nothing is sent."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def _cast(self, context: ty.Any, host: str, method: str, **args: ty.Any) -> None:
        uuid = args.get('container_uuid')
        if method == 'container_delete':
            if args.pop('stop'):
                self._recorder.add('cast', 'container_stop', {
                    'container': _container(uuid), 'timeout': _STOP_SECONDS}, host)
        elif method in ('network_attach',):
            args['requested_network'] = {
                name: value for name, value in args['requested_network'].items()
                if name != 'pci_request_id'}
        self._recorder.add('cast', method, _words(args), host)

    def _call(self, context: ty.Any, host: str | None, method: str, _extra_time: float = 0,
              **args: ty.Any) -> ty.Any:
        uuid = args.get('container_uuid')
        if 'archive' in method:
            args.update(self._archive(method, args))
        args.pop('image_uuid', None)
        if method == 'container_exec_resize':
            del args['container_uuid']
        recorded = self._recorder.add('call', method, _words(args, method), host)
        return self._reply(recorded, uuid)

    def _archive(self, method: str, args: Json) -> Json:
        """The flag that the reference sends, and plain data when it is off."""
        flag = 'encode_data' if method == 'container_get_archive' else 'decode_data'
        recorded = next((message['args'] for message in self._recorder.script
                         if message['method'] == method), {flag: True})
        if 'data' in args and not recorded[flag]:
            return {flag: False, 'data': base64.b64decode(args['data']).decode()}
        return {flag: recorded[flag]}

    def _reply(self, recorded: Json, uuid: str | None) -> ty.Any:
        reply = recorded.get('reply')
        if recorded.get('method') == 'container_get_archive' and isinstance(reply, list):
            data = reply[0] if recorded['args']['encode_data'] else base64.b64encode(
                reply[0].encode()).decode()
            return {'data': data, 'stat': reply[1]}
        if isinstance(reply, dict) and '$error' in reply:
            raise_recorded(reply['$error'])
        if isinstance(reply, dict) and reply.get('$object') == 'Container':
            if reply['set']:
                update_row('container', {'uuid': uuid}, reply['set'])
            return None
        if isinstance(reply, dict) and reply.get('$object') == 'ZunNetwork':
            return reply['fields']
        return reply


def _container(uuid: str | None) -> Json:
    try:
        kind = type(objects.Container.get_any_type(_admin(), uuid)).__name__
    except exception.ContainerNotFound:
        kind = 'Container'
    return _object(kind, uuid)


def _words(args: Json, method: str = '') -> Json:
    """Our arguments under the recorded names."""
    words = dict(args)
    if 'container_uuid' in words:
        words['container'] = _container(words.pop('container_uuid'))
    if 'image_uuid' in words:
        image = objects.Image.get_by_uuid(_admin(), words.pop('image_uuid'))
        words['image'] = {**_object('Image', image.uuid), 'repo': image.repo, 'tag': image.tag,
                          'host': image.host}
    if method == 'image_search':
        words['image_driver_name'] = words.pop('image_driver')
        words['registry'] = None
    if method == 'network_delete':
        words = {'network': {'$object': 'ZunNetwork',
                             'neutron_net_id': words['neutron_net_id']}}
    return words


class Scheduler:
    """Places containers after the request was answered, where the scenario says."""

    def __init__(self, recorder: Recorder, world: collections.abc.Callable[[], Json]) -> None:
        self._recorder = recorder
        self._world = world
        self._waiting: list[str] = []

    def schedule_container(self, context: ty.Any, container_uuid: str, generation: int) -> None:
        self._waiting.append(container_uuid)

    def work(self) -> None:
        """Do what is waiting."""
        while self._waiting:
            self._place(objects.Container.get_any_type(_admin(), self._waiting.pop(0)))

    def _place(self, container: objects.ContainerBase) -> None:
        asked = objects.ContainerRequest.get(_admin(), container.uuid)
        capsule = isinstance(container, objects.Capsule)
        kind = 'Capsule' if capsule else 'Container'
        spec = {'hints': asked.hints, 'availability_zone': asked.availability_zone,
                'requested_host': asked.requested_host}
        self._recorder.add('schedule', 'select_destinations', {
            'containers': [_object(kind, container.uuid)], 'extra_spec': spec})
        outcome = self._world()['scheduler']
        if outcome.get('error'):
            self._fail(container, outcome['error'])
            return
        container.host = outcome['host']
        container.save()
        self._recorder.add('cast', 'container_create', {
            'limits': outcome['limits'], 'requested_networks': asked.requested_networks,
            'requested_volumes': _volumes(container, capsule),
            'container': _object(kind, container.uuid), 'run': bool(asked.run),
            'pci_requests': asked.pci_requests}, container.host)

    def _fail(self, container: objects.ContainerBase, error: str) -> None:
        members = [*container.containers, *container.init_containers] if isinstance(
            container, objects.Capsule) else []
        for one in (container, *members):
            one.status = states.ERROR
            one.status_reason = _NO_HOST if error == 'NoValidHost' else _UNEXPECTED
            one.save()


def _volumes(container: objects.ContainerBase, capsule: bool) -> Json:
    """The mappings of a container, or of the members of a capsule that have some."""
    owners = [container.uuid]
    if capsule:
        owners = [member.uuid for member in (*container.containers, *container.init_containers)]
    found = {uuid: [_mapping(mapping, capsule) for mapping in objects.VolumeMapping.list(
        _admin(), filters={'container_uuid': uuid})] for uuid in owners}
    return {uuid: mappings for uuid, mappings in found.items() if mappings or not capsule}


def _mapping(mapping: objects.VolumeMapping, capsule: bool) -> Json:
    shown = {'$object': 'VolumeMapping', 'container_path': mapping.container_path}
    if capsule:
        return shown
    return {**shown, 'cinder_volume_id': mapping.cinder_volume_id,
            'volume_provider': mapping.volume_provider, 'auto_remove': mapping.auto_remove,
            'contents': mapping.contents}
