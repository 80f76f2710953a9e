# SPDX-License-Identifier: Apache-2.0
"""What is done to a container that exists.

Some actions are recorded and left to the node; for others the caller waits.
"""

import collections.abc
import contextlib
import datetime
import re
import typing as ty
import urllib.parse

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import image_name
from zun.common import states
import zun.conf
from zun.control import attachments
from zun.control import clients
from zun.control import normalise
from zun.control import removal
from zun.control import services

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
Args = dict[str, ty.Any]

#: Status of a container from the moment on that the action is accepted.
_ACCEPTED = {'delete': states.DELETING, 'reboot': states.RESTARTING,
             'rebuild': states.REBUILDING}
#: Actions whose message to the node is not named ``container_<action>``.
_MESSAGES = frozenset({'add_security_group', 'remove_security_group', 'network_attach',
                       'network_detach', 'resize_container'})
_SINCE = '%Y-%m-%d %H:%M:%S,%f'
#: What fits the engine's 64 bits.
_NUMBER = re.compile('[0-9]{1,18}')


def perform(context: Context, container: 'objects.Container', action: str,
            **args: ty.Any) -> None:
    """Record an action and tell the node.

    A message that cannot be sent is no failure: the node finds what is recorded.

    :param action: start, pause, unpause; stop, reboot (timeout: seconds); kill (signal); rebuild
        (image, image_driver); add_security_group, remove_security_group (name); network_attach
        (network or port, fixed_ip); network_detach (network or port)
    :raises InvalidStateException: not in this state, or the container was never placed
    """
    check(container, action)
    with contextlib.ExitStack() as undo:
        order(context, container, action,
              _PREPARE.get(action, _nothing)(context, container, undo, **args))
        undo.pop_all()


def check(container: 'objects.Container', action: str) -> None:
    """Refuse what the status does not allow, or what needs a node when there is none.

    :raises InvalidStateException
    """
    states.check(action, container.uuid, container.status)
    if not container.host:
        raise exception.InvalidStateException(
            action=action, id=container.uuid, actual_state=container.status)


def check_host(context: Context, container: 'objects.Container', action: str) -> None:
    """Refuse what the caller would have to wait for when the node is down.

    :raises InvalidStateException: as in :func:`check`
    :raises ContainerHostNotUp
    """
    check(container, action)
    if not services.host_is_up(context, container.host):
        raise exception.ContainerHostNotUp(container=container.uuid)


def order(context: Context, container: 'objects.Container', operation: str, args: Args,
          checked_as: str | None = None) -> None:
    """Accept an operation in one transaction, then tell the node.

    :param args: of the message, which are kept for the node too
    :param checked_as: name in the table of states, when that is another one
    :raises InvalidStateException: the status has changed meanwhile
    """
    _record(context, container, operation, args, states.ACTIONS[checked_as or operation])
    tell(context, container, operation, args)


def _record(context: Context, container: 'objects.Container', operation: str, args: Args,
            action: states.Action) -> None:
    try:
        objects.ContainerRequest.record(
            context, container.uuid, operation, args, expected_status=action.statuses,
            status=_ACCEPTED.get(operation), action=operation if action.recorded else None)
    except exception.Conflict:
        container.refresh(context.elevated())
        raise exception.InvalidStateException(
            action=action.name, id=container.uuid, actual_state=container.status) from None


def tell(context: Context, container: 'objects.ContainerBase', operation: str,
         args: Args) -> None:
    """Send the message of an operation that is recorded; a failure is the node's to notice."""
    message = operation if operation in _MESSAGES else f'container_{operation}'
    try:
        getattr(clients.get().compute, message)(context, container.host, container.uuid, **args)
    except exception.ZunException as error:
        LOG.warning('Container %s: %s waits until its node looks for work: %s', container.uuid,
                    operation, error.message)


def _nothing(context: Context, container: 'objects.Container',
             undo: contextlib.ExitStack) -> Args:
    return {}


def _timed(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
           timeout: int | str | None = None) -> Args:
    return {'timeout': normalise.number(timeout)}


def _signalled(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
               signal: str | None = None) -> Args:
    return {'signal': signal}


def _rebuilt(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
             image: str | None = None, image_driver: str | None = None) -> Args:
    run = container.status == states.RUNNING
    container.image = image or container.image
    container.image_driver = image_driver or container.image_driver
    container.save(expected={'status': container.status})
    return {'run': run}


def _more_groups(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
                 name: str) -> Args:
    group = _group(context, container, name)
    if group in (container.security_groups or []):
        raise exception.InvalidValue(f'Security group {group} has been added to container.')
    return {'security_group': group}


def _fewer_groups(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
                  name: str) -> Args:
    group = _group(context, container, name)
    if group not in (container.security_groups or []):
        raise exception.InvalidValue(f'Security group {group} was not added to container.')
    return {'security_group': group}


def _group(context: Context, container: 'objects.Container', name: str) -> str:
    found = clients.get().network.resolve_security_groups(context, [name], container.project_id)
    if not found:
        raise exception.InvalidValue('The networks of this cloud have no security groups.')
    return found[0]


def _attached(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
              network: str | None = None, port: str | None = None,
              fixed_ip: str | None = None) -> Args:
    wanted = attachments.wanted(context, container, network, port, fixed_ip)
    clients.get().network.claim(context, container.uuid, [wanted])
    undo.callback(removal.disclaim, context, container.uuid, [wanted])
    return {'requested_network': wanted}


def _detached(context: Context, container: 'objects.Container', undo: contextlib.ExitStack,
              network: str | None = None, port: str | None = None) -> Args:
    return {'network': attachments.attached(context, container, network, port)}


#: action -> what makes the node's arguments out of the user's; it registers how to undo it
_PREPARE: dict[str, collections.abc.Callable[..., Args]] = {
    'stop': _timed, 'reboot': _timed, 'kill': _signalled, 'rebuild': _rebuilt,
    'add_security_group': _more_groups, 'remove_security_group': _fewer_groups,
    'network_attach': _attached, 'network_detach': _detached,
}


def commit(context: Context, container: 'objects.Container', repository: str,
           tag: str | None = None) -> str:
    """Have a snapshot taken into a new image of the image service.

    :returns: the id of the image, which has its data when the node is done
    :raises InvalidValue: repository or tag are no name of an image
    """
    check_host(context, container, 'commit')
    label = tag or image_name.DEFAULT_TAG
    _check_name(repository, label)
    image = clients.get().images.create(context, repository, [label], {
        'zun_container_uuid': container.uuid, 'zun_host': container.host})
    try:
        _record(context, container, 'commit',
                {'repository': repository, 'tag': tag, 'image_uuid': image},
                states.ACTIONS['commit'])
        clients.get().compute.container_commit(
            context, container.host, container.uuid, repository, tag, image)
    except exception.ZunException:
        _forget_commit(context, container.uuid, image)
        raise
    return image


def _check_name(repository: str, tag: str) -> None:
    """The domain of a registry has no meaning in the image service."""
    try:
        parsed = image_name.parse(f'{repository}:{tag}')
    except (exception.NameEmpty, exception.NameTooLong, exception.ReferenceInvalidFormat):
        parsed = None
    if parsed is None or parsed.domain or (parsed.path, parsed.tag) != (repository, tag):
        raise exception.InvalidValue(
            f"'{repository}' with tag '{tag}' is no name of an image without a registry.")


def _forget_commit(context: Context, container_uuid: str, image: str) -> None:
    try:
        objects.ContainerRequest.finish_operation(context, container_uuid, context.request_id)
        objects.ContainerAction.finish(context, container_uuid, context.request_id, 'commit',
                                       message='Error')
    except exception.ZunException as error:
        LOG.warning('The failed commit %s stays open: %s', context.request_id, error.message)
    try:
        clients.get().images.delete(context, image)
    except exception.ZunException as error:
        LOG.warning('Image %s of a failed commit is left behind: %s', image, error.message)


def logs(context: Context, container: 'objects.Container', stdout: bool = True,
         stderr: bool = True, timestamps: bool = False, tail: str | int | None = None,
         since: str | int | None = None) -> str | collections.abc.Iterator[str]:
    """What a container printed; in pieces when that is much.

    :param tail: lines from the end; nothing or ``all``: all
    :param since: seconds since the epoch, or UTC as ``YYYY-MM-DD hh:mm:ss,f`` or in ISO 8601
    """
    check_host(context, container, 'logs')
    if not (stdout or stderr):
        return ''
    return clients.get().compute.container_logs(
        context, container.host, container.uuid, stdout, stderr, timestamps, _lines(tail),
        moment(since))


def follow_logs(context: Context, container: 'objects.Container', stdout: bool = True,
                stderr: bool = True, timestamps: bool = False, tail: str | int | None = None,
                since: str | int | None = None) -> str:
    """The URL of a console that shows the log as it grows; parameters as of :func:`logs`.

    :raises InvalidValue: there would be nothing to follow
    """
    if not (stdout or stderr):
        raise exception.InvalidValue('follow needs stdout or stderr.')
    check_host(context, container, 'logs')
    token = clients.get().compute.container_follow_logs(
        context, container.host, container.uuid, stdout, stderr, timestamps, _lines(tail),
        moment(since))
    return _console(token, container.uuid)


def _lines(tail: str | int | None) -> int | None:
    """:raises InvalidValue: it is no number"""
    text = '' if tail is None else str(tail)
    if text in ('', 'all'):
        return None
    if not _NUMBER.fullmatch(text):
        raise exception.InvalidValue(f"tail: '{text}' is no number of lines.")
    return int(text)


def moment(since: str | int | None) -> str | None:
    """A time as seconds since the epoch.

    >>> moment('2026-01-02 03:04:05,5')
    '1767323045.5'
    :raises InvalidValue: it is none
    """
    text = '' if since is None else str(since)
    if not text or _NUMBER.fullmatch(text):
        return text or None
    try:
        time = datetime.datetime.strptime(text, _SINCE) if ',' in text \
            else datetime.datetime.fromisoformat(text)
    except ValueError:
        raise exception.InvalidValue(f"since: '{text}' is no time.") from None
    seconds = time.replace(tzinfo=time.tzinfo or datetime.UTC).timestamp()
    return f'{seconds:.6f}'.rstrip('0').rstrip('.')


def execute(context: Context, container: 'objects.Container', command: str, run: bool = True,
            interactive: bool = False) -> dict[str, ty.Any]:
    """Run a command, or prepare a console for it.

    :returns: ``{'output', 'exit_code', 'exec_id', 'proxy_url'}``
    """
    check_host(context, container, 'execute')
    answer = clients.get().compute.container_exec(
        context, container.host, container.uuid, command, run, interactive)
    url = None
    if answer.get('token'):
        url = _console(answer['token'], container.uuid, exec_id=answer['exec_id'])
    return {'output': answer['output'], 'exit_code': answer['exit_code'],
            'exec_id': answer['exec_id'], 'proxy_url': url}


def _console(token: str, container_uuid: str, **more: str) -> str:
    query = urllib.parse.urlencode({'token': token, 'uuid': container_uuid, **more})
    return f'{CONF.websocket_proxy.base_url}?{query}'


def execute_resize(context: Context, container: 'objects.Container', exec_id: str,
                   height: int | str, width: int | str) -> None:
    """Resize the terminal of a command, in characters."""
    check_host(context, container, 'execute_resize')
    clients.get().compute.container_exec_resize(
        context, container.host, container.uuid, exec_id, int(height), int(width))


def attach(context: Context, container: 'objects.Container') -> str:
    """The URL of a console of the container.

    :raises NoInteractiveFlag: it was not created for that
    """
    states.check('attach', container.uuid, container.status)
    if not container.interactive:
        raise exception.NoInteractiveFlag()
    check_host(context, container, 'attach')
    token = clients.get().compute.container_attach(context, container.host, container.uuid)
    return _console(token, container.uuid)


def resize(context: Context, container: 'objects.Container', height: int | str,
           width: int | str) -> None:
    """Resize the terminal of the container, in characters."""
    check_host(context, container, 'resize')
    clients.get().compute.container_resize(
        context, container.host, container.uuid, int(height), int(width))


def top(context: Context, container: 'objects.Container',
        ps_args: str | None = None) -> dict[str, ty.Any]:
    """``{'Titles': [...], 'Processes': [[...]]}``"""
    check_host(context, container, 'top')
    return clients.get().compute.container_top(
        context, container.host, container.uuid, ps_args)


def stats(context: Context, container: 'objects.Container') -> dict[str, ty.Any]:
    """One sample of what a container uses."""
    check_host(context, container, 'stats')
    return clients.get().compute.container_stats(context, container.host, container.uuid)


def get_archive(context: Context, container: 'objects.Container',
                path: str) -> dict[str, ty.Any]:
    """``{'data': tar as base64 text in parts, 'stat': {...}}`` at every version of the API.

    The parts come while they are asked for, and each can be decoded by itself.
    """
    check_host(context, container, 'get_archive')
    return clients.get().compute.container_get_archive(
        context, container.host, container.uuid, path)


def put_archive(context: Context, container: 'objects.Container', path: str,
                data: collections.abc.Iterable[str]) -> None:
    """
    :param data: tar as base64 text in pieces, at every version of the API
    """
    check_host(context, container, 'put_archive')
    clients.get().compute.container_put_archive(
        context, container.host, container.uuid, path, data)
