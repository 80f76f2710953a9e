# SPDX-License-Identifier: Apache-2.0
"""What can be done to a container: one table, and one function for most of it."""

import base64
import collections.abc
import dataclasses
import typing as ty

from zun import objects
from zun.api import handler
from zun.api import long_texts
from zun.api import lookup
from zun.api import microversions
from zun.api.controllers import containers
from zun.api.schemas import actions as schemas
from zun.api.schemas import containers as container_schemas
from zun.api.schemas import schema as api_schema
from zun.api.views import containers as views
from zun.common import exception
import zun.conf
from zun.control import actions as control
from zun.control import containers as control_containers

CONF = zun.conf.CONF

_LARGE = ('get_archive', 'put_archive')

Container = objects.Container
Apply = collections.abc.Callable[[handler.Call, Container], ty.Any]

_BASE64_SINCE = microversions.Version(1, 25)
_BY_PORT_SINCE = microversions.Version(1, 18)
#: Bytes of a body: of one with an archive, and of all others.
_ARCHIVE_LIMIT = 256 << 20
_BODY_LIMIT = 1 << 20


def _cast(name: str) -> Apply:
    """The node is told; nobody waits."""
    def apply(call: handler.Call, container: Container) -> None:
        control.perform(call.context, container, name, **call.values)
    return apply


def check_image_driver(name: str) -> None:
    """:raises ValidationError: it is not enabled"""
    if name not in CONF.image_driver_list:
        raise exception.ValidationError(
            'Invalid input for image_driver, it should be within the image drivers list')


def _rebuild(call: handler.Call, container: Container) -> None:
    if 'image_driver' in call.values:
        check_image_driver(call.values['image_driver'])
    _cast('rebuild')(call, container)


def _commit(call: handler.Call, container: Container) -> dict[str, str]:
    return {'uuid': control.commit(call.context, container, **call.values)}


def _logs(call: handler.Call, container: Container) -> str | collections.abc.Iterator[str]:
    values = dict(call.values)
    show = control.follow_logs if values.pop('follow', False) else control.logs
    return show(call.context, container, **values)


def _execute(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return control.execute(call.context, container, **call.values)


def _execute_resize(call: handler.Call, container: Container) -> None:
    values = call.values
    control.execute_resize(call.context, container, values['exec_id'],
                                   height=values['h'], width=values['w'])


def _attach(call: handler.Call, container: Container) -> str:
    return control.attach(call.context, container)


def _resize(call: handler.Call, container: Container) -> None:
    control.resize(call.context, container, height=call.values['h'],
                           width=call.values['w'])


def _top(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return control.top(call.context, container, **call.values)


def _stats(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return control.stats(call.context, container)


def _get_archive(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    archive = control.get_archive(call.context, container, call.values['path'])
    if call.version < _BASE64_SINCE:
        archive['data'] = (base64.b64decode(part).decode('latin-1') for part in archive['data'])
    return archive


def _put_archive(call: handler.Call, container: Container) -> None:
    path, data = call.values['path'], long_texts.pieces(call.values['data'])
    if isinstance(path, long_texts.LongText):
        raise exception.InvalidValue('The path is too long.')
    if call.version < _BASE64_SINCE:
        data = _latin(data)
    control.put_archive(call.context, container, path, data)


def _latin(pieces: collections.abc.Iterable[str]) -> collections.abc.Iterator[str]:
    """Each character is a byte, so that the bytes of any file survive as text; as base64.

    :raises InvalidValue: a character is none
    """
    data = b''
    try:
        for piece in pieces:
            data += piece.encode('latin-1')
            whole = len(data) - len(data) % 3
            yield base64.b64encode(data[:whole]).decode()
            data = data[whole:]
    except UnicodeEncodeError:
        raise exception.InvalidValue(
            "The text in 'data' holds characters that are no bytes.") from None
    yield base64.b64encode(data).decode()


def _rename(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return containers.linked(
        call, control_containers.rename(call.context, container, call.values['name']))


def _resize_container(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return containers.linked(
        call, control_containers.resize(call.context, container, call.values))


def _network_list(call: handler.Call, container: Container) -> dict[str, ty.Any]:
    return {'networks': views.network_list(
        container.addresses, by_port=call.version >= _BY_PORT_SINCE)}


@dataclasses.dataclass(frozen=True)
class Action:
    """One verb. Its rule is ``container:<name>``.

    :ivar takes: schema of query and body together; None: no parameters, unknown ones are ignored
    :ivar query_only: only the query string is read
    """

    name: str
    summary: str
    apply: Apply
    takes: api_schema.Schema | None = None
    method: str = 'POST'
    status: int = 202
    query_only: bool = False
    since: str = '1.1'
    until: str | None = None
    answer: str = 'null'


ACTIONS = (
    Action('start', 'Start a container', _cast('start')),
    Action('stop', 'Stop a container', _cast('stop'), schemas.TIMEOUT),
    Action('reboot', 'Restart a container', _cast('reboot'), schemas.TIMEOUT),
    Action('rebuild', 'Create a container anew', _rebuild, schemas.REBUILD),
    Action('pause', 'Pause a container', _cast('pause')),
    Action('unpause', 'Let a paused container go on', _cast('unpause')),
    Action('kill', 'Send a signal to a container', _cast('kill'), schemas.KILL),
    Action('logs', 'Show or follow the log of a container', _logs, schemas.LOGS, 'GET', 200,
           answer='text'),
    Action('execute', 'Run a command in a container', _execute, schemas.EXECUTE, status=200,
           answer='execution'),
    Action('execute_resize', 'Resize the terminal of a command', _execute_resize,
           schemas.EXECUTE_RESIZE, status=200),
    Action('attach', 'Show the URL of the console of a container', _attach, None, 'GET', 200,
           answer='text'),
    Action('resize', 'Resize the terminal of a container', _resize, schemas.RESIZE, status=200),
    Action('resize_container', 'Change cpu and memory without waiting', _resize_container,
           container_schemas.UPDATE, since='1.19', answer='container'),
    Action('top', 'Show the processes of a container', _top, schemas.TOP, 'GET', 200,
           answer='processes'),
    Action('get_archive', 'Copy a file or directory out of a container', _get_archive,
           schemas.GET_ARCHIVE, 'GET', 200, answer='archive'),
    Action('put_archive', 'Copy files into a container', _put_archive, schemas.PUT_ARCHIVE,
           status=200),
    Action('stats', 'Show what a container uses', _stats, None, 'GET', 200,
           answer='statistics'),
    Action('commit', 'Take a snapshot of a container', _commit, schemas.COMMIT,
           query_only=True, answer='reference'),
    Action('rename', 'Rename a container', _rename, schemas.RENAME, status=200, until='1.13',
           answer='container'),
    Action('add_security_group', 'Add a security group to a container',
           _cast('add_security_group'), schemas.SECURITY_GROUP, until='1.14'),
    Action('remove_security_group', 'Remove a security group from a container',
           _cast('remove_security_group'), schemas.SECURITY_GROUP, until='1.14'),
    Action('network_attach', 'Attach a network to a container', _cast('network_attach'),
           schemas.NETWORK_ATTACH, status=200, since='1.8'),
    Action('network_detach', 'Detach a network from a container', _cast('network_detach'),
           schemas.NETWORK_DETACH, query_only=True, since='1.6'),
    Action('network_list', 'List the networks of a container', _network_list, None, 'GET', 200,
           since='1.13', answer='networks'),
)


def _declare(action: Action) -> None:
    handler.register(handler.Operation(
        id=f'containers.{action.name}', method=action.method,
        path=f'containers/{{container_ident}}/{action.name}', function=action.apply,
        summary=action.summary, status=action.status, policy=f'container:{action.name}',
        find=lookup.container, answer=action.answer,
        # Upstream's clients know 404 for an action called with the other method.
        hidden_methods=frozenset({'GET', 'POST'}), large=action.name in _LARGE,
        body_limit=_ARCHIVE_LIMIT if action.name == 'put_archive' else _BODY_LIMIT,
        since=microversions.parse(action.since),
        until=None if action.until is None else microversions.parse(action.until),
        query=action.takes if action.query_only else None,
        arguments=None if action.query_only else action.takes))


for _action in ACTIONS:
    _declare(_action)
