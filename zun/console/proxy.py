# SPDX-License-Identifier: Apache-2.0
"""The public side: who gets a WebSocket, and on whose behalf a node is asked."""

import asyncio
import collections.abc
import http
import socket
import ssl
import time
import typing as ty

from oslo_db import exception as db_exc
from oslo_log import log as logging
from websockets import exceptions as ws_exceptions
from websockets import http11
from websockets.asyncio import server as ws_server

from zun.common import exception
import zun.conf
from zun.console import gate
from zun.console import pages
from zun.console import session as console
from zun.console import tickets
from zun.objects import console_session
from zun.rpc import stream as rpc_stream

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Session = console_session.ConsoleSession

_REFUSED = 'The ticket is not valid: it is wrong, used or expired. Ask for a new console.\n'
_DATABASE_SECONDS = 8.0
#: What waits in the kernel for one client, who may be slow.
_SEND_BUFFER = 256 << 10
_BACKLOG = 256
#: Seconds of silence after which the kernel asks whether the other host is there, and how often.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))


class _Client(ws_server.ServerConnection):
    """A connection at the door.

    :ivar opened: what its ticket was for, and the key for the node
    """

    address: str = ''
    opened: tuple[Session, str] | None = None


class Proxy:
    """Everything of it runs in one asyncio loop."""

    def __init__(self) -> None:
        self._origins = gate.Origins.configured()
        self._failures = gate.Failures()
        self._files = pages.load() if CONF.websocket_proxy.terminal else {}
        self._server: ws_server.Server | None = None
        self._context: ssl.SSLContext | None = None
        self._node_context: ssl.SSLContext | None = None
        self._sessions: set[str] = set()
        self._redeeming = 0

    async def start(self) -> None:
        """Take connections.

        :raises ConfigInvalid: certificates or address cannot be used
        """
        options = CONF.websocket_proxy
        self._context = _listen_context()
        if CONF.console.proxy_cert_file:
            self._node_context = rpc_stream.client_context()
        try:
            listener = _listen(options.wsproxy_host, options.wsproxy_port)
        except OSError as error:
            raise exception.ConfigInvalid(
                error_msg=f'[websocket_proxy]: {options.wsproxy_host} port '
                          f'{options.wsproxy_port}: {error.strerror or error}') from error
        # Every connection is a _Client, which the library's types do not know.
        hooks: dict[str, ty.Any] = {
            'handler': self._serve, 'process_request': self._greet,
            'process_response': self._admit, 'select_subprotocol': _subprotocol}
        self._server = await ws_server.serve(
            sock=listener, ssl=self._context, server_header=None, create_connection=_Client,
            **hooks, **rpc_stream.OPTIONS)
        LOG.info('Listening on %s port %s%s', options.wsproxy_host, options.wsproxy_port,
                 ' with TLS' if self._context else '')

    async def stop(self) -> None:
        """Close the sessions with 1001."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def reload(self) -> None:
        """Read the certificates again, for new connections."""
        options = CONF.websocket_proxy
        if self._context is not None:
            self._context.load_cert_chain(options.cert, options.key or None)
        if self._node_context is not None:
            self._node_context = rpc_stream.client_context()

    # At the door --------------------------------------------------------------------------------

    async def _greet(self, client: _Client, request: http11.Request) -> http11.Response | None:
        """What is no WebSocket gets its answer here: the page, or why a ticket is refused."""
        peer = client.remote_address or ('unknown',)
        found = gate.client_of(request.headers, str(peer[0]))
        client.address = found.address
        if request.method != 'GET':
            response = client.respond(http.HTTPStatus.METHOD_NOT_ALLOWED, 'GET only\n')
            response.headers['Allow'] = 'GET'
            return response
        origin = ', '.join(request.headers.get_all('Origin')) or None
        if not self._origins.allow(origin, found.proto):
            LOG.warning('Refused: origin %r, scheme %s, client %s', origin, found.proto,
                        found.address)
            return client.respond(http.HTTPStatus.FORBIDDEN,
                                  'Consoles cannot be opened from this page.\n')
        if ', '.join(request.headers.get_all('Upgrade')).lower() == 'websocket':
            return None
        return await self._page(client, request)

    async def _page(self, client: _Client, request: http11.Request) -> http11.Response:
        name = pages.find(request.path)
        if name is not None and name in self._files:
            return pages.answer(self._files[name])
        ticket = tickets.parse(request.path)
        if request.path.partition('?')[0].endswith(pages.TICKET) and ticket is not None:
            return await self._explain(client, ticket)
        return client.respond(http.HTTPStatus.METHOD_NOT_ALLOWED if not self._files
                              else http.HTTPStatus.NOT_FOUND, 'WebSockets only\n')

    async def _explain(self, client: _Client, ticket: tickets.Ticket) -> http11.Response:
        """Tell the holder of a ticket what it is worth; it is not used up."""
        if self._failures.too_many(client.address, time.monotonic()):
            return _too_many(client)
        try:
            async with asyncio.timeout(_DATABASE_SECONDS):
                state = await asyncio.to_thread(tickets.state, ticket)
        except (TimeoutError, db_exc.DBError):
            return client.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, _database_down())
        if state == 'unknown':
            self._failures.add(client.address, time.monotonic())
        return client.respond(
            http.HTTPStatus.OK if state == 'valid' else http.HTTPStatus.FORBIDDEN,
            tickets.REASONS[state] + '\n')

    async def _admit(self, client: _Client, request: http11.Request,
                     response: http11.Response) -> http11.Response | None:
        """The last step before the WebSocket: use up the ticket."""
        if response.status_code != http.HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        if self._failures.too_many(client.address, time.monotonic()):
            return _too_many(client)
        if len(self._sessions) + self._redeeming >= CONF.websocket_proxy.max_sessions:
            return client.respond(http.HTTPStatus.SERVICE_UNAVAILABLE,
                                  'There are too many console sessions. Try again later.\n')
        ticket = tickets.parse(request.path)
        self._redeeming += 1
        try:
            async with asyncio.timeout(_DATABASE_SECONDS):
                if ticket is not None:
                    client.opened = await asyncio.to_thread(
                        tickets.redeem, ticket, client.address)
        except (TimeoutError, db_exc.DBError) as error:
            LOG.error('Tickets cannot be looked up: %s', error or 'no answer')
            return client.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, _database_down())
        finally:
            self._redeeming -= 1
        if client.opened is not None:
            return None
        self._failures.add(client.address, time.monotonic())
        LOG.warning('Refused: ticket for container %s, client %s',
                    ticket and ticket.container_uuid, client.address)
        return client.respond(http.HTTPStatus.FORBIDDEN, _REFUSED)

    # Inside -------------------------------------------------------------------------------------

    async def _serve(self, client: _Client) -> None:
        """The boundary of a session."""
        assert client.opened is not None  # noqa: S101 - without it there is no WebSocket
        session, key = client.opened
        began = time.monotonic()
        self._sessions.add(session.id)
        try:
            pump = console.Console(client, session)
            ending = await self._run(client, session, key, pump)
            LOG.info('Console session %s (%s) of container %s, client %s: %d %s after %.0f s, '
                     '%d bytes in, %d out', session.id, session.kind, session.container_uuid,
                     client.address, ending.code, ending.reason, time.monotonic() - began,
                     pump.received, pump.sent)
        except Exception:
            LOG.exception('Console session %s failed', session.id)
            await rpc_stream.close(client, rpc_stream.failed('internal error'))
        finally:
            self._sessions.discard(session.id)

    async def _run(self, client: _Client, session: Session, key: str,
                   pump: console.Console) -> rpc_stream.Ending:
        try:
            node = await rpc_stream.connect(session.node_url, session.id, key,
                                            self._node_context)
        except exception.ConfigInvalid as error:
            LOG.error('Session %s: %s', session.id, error.message)
        except (OSError, TimeoutError, ws_exceptions.InvalidHandshake) as error:
            LOG.error('Session %s: the node at %s cannot be reached: %s', session.id,
                      session.node_url, error)
        else:
            return await pump.run(node)
        ending = rpc_stream.failed('The node cannot be reached.')
        await asyncio.gather(rpc_stream.close(client, ending), _forget(session, ending))
        return ending


async def _forget(session: Session, ending: rpc_stream.Ending) -> None:
    """Write the end of a session that no node has seen."""
    try:
        await asyncio.to_thread(session.end, ending.code, ending.reason)
    except db_exc.DBError as error:
        LOG.warning('The end of session %s cannot be written: %s', session.id, error)


def _too_many(client: _Client) -> http11.Response:
    response = client.respond(http.HTTPStatus.TOO_MANY_REQUESTS,
                              'Too many refused tickets. Try again in a minute.\n')
    response.headers['Retry-After'] = '60'
    return response


def _database_down() -> str:
    return 'The console is out of order. Try again later.\n'


def _subprotocol(client: _Client, offered: collections.abc.Sequence[str]) -> str | None:
    return next((name for name in (console.TERMINAL, console.BINARY) if name in offered), None)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; connections inherit its options."""
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        listener.setsockopt(socket.IPPROTO_TCP, option, value)
    return listener


def _listen_context() -> ssl.SSLContext | None:
    """None: without TLS.

    :raises ConfigInvalid: a file cannot be used, or is missing where ssl_only is set
    """
    options = CONF.websocket_proxy
    if not options.cert:
        if options.ssl_only:
            raise exception.ConfigInvalid(
                error_msg='[websocket_proxy]: ssl_only needs cert and key')
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(options.cert, options.key or None)
    except OSError as error:
        raise exception.ConfigInvalid(
            error_msg=f'[websocket_proxy]: {options.cert}, {options.key}: '
                      f'{error.strerror or error}') from error
    return context
