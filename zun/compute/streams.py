# SPDX-License-Identifier: Apache-2.0
"""Console sessions of this node: what its verbs prepare, resize and end.

A verb leaves a row and gives a ticket; the rest happens when the client comes, see
:mod:`zun.compute.stream_server`.
"""

import dataclasses
import threading
import typing as ty

from oslo_utils import netutils

from zun import objects
from zun.common import commands
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
import zun.conf
from zun.container import streams as container_streams
from zun.objects import console_session
from zun.rpc import notifications
from zun.rpc import stream as rpc_stream

CONF = zun.conf.CONF
Context = zun_context.RequestContext
Session = console_session.ConsoleSession


class Live(ty.Protocol):
    """A session whose client is connected, or just connects."""

    container_uuid: str
    kind: str

    def resize(self, height: int, width: int) -> None:
        """Size of its terminal, now or once it is there; waits until it is done.

        :raises Invalid: the process has ended
        :raises EngineUnavailable: it takes too long
        """

    def end(self, ending: rpc_stream.Ending) -> None:
        """Close it soon."""


class Registry:
    """The live sessions of this process, by id. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: dict[str, Live] = {}

    def add(self, session_id: str, live: Live) -> None:
        with self._lock:
            self._live[session_id] = live

    def remove(self, session_id: str) -> None:
        with self._lock:
            self._live.pop(session_id, None)

    def get(self, session_id: str) -> Live | None:
        with self._lock:
            return self._live.get(session_id)

    def of(self, container_uuid: str) -> list[Live]:
        """Those of one container."""
        with self._lock:
            return [live for live in self._live.values()
                    if live.container_uuid == container_uuid]

    def __len__(self) -> int:
        return len(self._live)


#: A process has one node.
LIVE = Registry()


def configured() -> bool:
    """Whether this node offers consoles: it has certificates, or proxy and node share a host."""
    options = CONF.console
    if not options.enabled:
        return False
    return options.listen_address.startswith(rpc_stream.UNIX) or bool(
        options.cert_file and options.key_file and options.ca_file)


def node_url() -> str:
    """Where proxies reach this node.

    :raises OperationNotSupported: it is not configured for that
    """
    if not configured():
        raise exception.OperationNotSupported('The console is not configured on this host.')
    options = CONF.console
    if options.listen_address.startswith(rpc_stream.UNIX):
        return options.listen_address
    address = netutils.escape_ipv6(options.node_address or CONF.my_ip)
    return f'wss://{address}:{options.listen_port}'


def prepare_attach(node: compute_node.Node, context: Context,
                   container: 'objects.Container') -> str:
    """The ticket of a console of the container itself.

    :raises NoInteractiveFlag: the container was not created for that
    :raises OperationNotSupported: consoles are not configured
    :raises Conflict: it has too many already
    """
    if not container.interactive:
        raise exception.NoInteractiveFlag()
    return _issue(node, context, container, console_session.ATTACH, bool(container.tty))[1]


def prepare_exec(node: compute_node.Node, context: Context, container: 'objects.Container',
                 command: str, interactive: bool) -> tuple[str, str]:
    """The id and the ticket of a command, which runs once the client is there.

    :param command: split as a shell would
    :param interactive: with input and a terminal
    :returns: 64 hexadecimal digits, and the ticket
    :raises Invalid: the command is empty or has an open quote
    :raises OperationNotSupported, Conflict: as in :func:`prepare_attach`
    """
    session, token = _issue(node, context, container, console_session.EXEC, interactive,
                            {'command': commands.split(command)})
    return session.exec_id, token


def prepare_logs(node: compute_node.Node, context: Context, container: 'objects.Container',
                 window: container_streams.LogWindow) -> str:
    """The ticket of a stream of the container's log, into which nobody can type.

    :raises OperationNotSupported, Conflict: as in :func:`prepare_attach`
    """
    return _issue(node, context, container, console_session.LOGS, bool(container.tty),
                  dataclasses.asdict(window))[1]


def _issue(node: compute_node.Node, context: Context, container: 'objects.Container', kind: str,
           tty: bool, params: dict[str, ty.Any] | None = None) -> tuple[Session, str]:
    url = node_url()
    check_room(container.uuid)
    session, token = Session.issue(context, container, kind, url, tty, params)
    notify(context, node.host, 'ticket.create', session)
    return session, token


def check_room(container_uuid: str) -> None:
    """:raises Conflict: the container has as many sessions as it may have"""
    limit = CONF.console.max_sessions_per_container
    if len(LIVE.of(container_uuid)) >= limit:
        raise exception.Conflict(
            f'Container {container_uuid} has {limit} console sessions, which is the limit.')


def notify(context: Context, host: str, event: str, session: Session) -> None:
    """Tell other services of a session: ``console.<event>``."""
    fields = ('id', 'container_uuid', 'project_id', 'user_id', 'kind', 'exec_id',
              'client_address', 'close_code')
    notifications.emit(context, f'zun-compute:{host}', f'console.{event}',
                       {name: getattr(session, name) for name in fields})


def resize_exec(node: compute_node.Node, container: 'objects.Container', exec_id: str,
                height: int, width: int) -> None:
    """Size of a command's terminal; before its start it is kept until then.

    A size of 0, which clients send when they know none, changes nothing.

    :raises Invalid: there is no such command, or it has ended
    """
    session = Session.find_exec(container.uuid, exec_id)
    if session is None:
        raise exception.Invalid(f'There is no command {exec_id} in this container, or it has '
                                'ended.')
    if _known(height, width) and not session.remember_size(height, width):
        live = LIVE.get(session.id)
        if live is None:
            raise exception.Invalid(f'Command {exec_id} has ended.')
        live.resize(height, width)


def resize_tty(node: compute_node.Node, container: 'objects.Container', height: int,
               width: int) -> None:
    """Size of the container's terminal; 0 changes nothing."""
    if _known(height, width):
        node.engine.resize(container, height, width)


def _known(height: int, width: int) -> bool:
    return height > 0 and width > 0


def revoke(container_uuid: str,
           ending: rpc_stream.Ending = rpc_stream.TARGET_CLOSED) -> None:
    """End the consoles of a container that stops or goes; unused tickets become worthless.

    A log that is followed ends by itself, with the last words of the container.
    """
    Session.revoke(container_uuid)
    for live in LIVE.of(container_uuid):
        if live.kind != console_session.LOGS:
            live.end(ending)
