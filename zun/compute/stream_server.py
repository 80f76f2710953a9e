# SPDX-License-Identifier: Apache-2.0
"""The stream endpoint of a node: proxies connect here with the key of a session.

Over TLS both sides show certificates of one authority; over a unix socket the file's permissions
do. An asyncio loop of its own pumps the bytes.
"""

import asyncio
import contextlib
import os
import re
import socket
import ssl
import stat
import time
import typing as ty

from oslo_db import exception as db_exc
from oslo_log import log as logging
from websockets import http11
from websockets.asyncio import server as ws_server

from zun.common import context as zun_context
from zun.common import exception
from zun.common import loops
from zun.compute import relay
from zun.compute import streams
import zun.conf
from zun.container import streams as container_streams
from zun.objects import console_session
from zun.rpc import stream as rpc_stream

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Session = console_session.ConsoleSession

_PATH = re.compile(re.escape(rpc_stream.PATH) + '([0-9a-f]{32})')
_WORKERS = 16
_START_SECONDS = 15.0
#: Seconds to close the sessions and end their commands.
_STOP_SECONDS = 10.0
_RESIZE_SECONDS = 10.0
_PURGE_SECONDS = 3600.0
_FILES_PER_SESSION = 3
_FILES = 512
_REFUSED = rpc_stream.Ending(1008, 'refused')


def _full(reason: str) -> rpc_stream.Ending:
    return rpc_stream.Ending(1013, reason)


class _Live:
    """A session from the moment that a proxy asks for it; an entry of streams.LIVE."""

    def __init__(self, loop: loops.LoopThread) -> None:
        self._loop = loop
        self.container_uuid = ''
        self.kind = ''
        self.stopped: asyncio.Future[rpc_stream.Ending] = asyncio.get_running_loop(
            ).create_future()
        self._stream: container_streams.Stream | None = None
        self._size: tuple[int, int] | None = None

    def admit(self, session: Session) -> None:
        """The key was right."""
        self.container_uuid = session.container_uuid
        self.kind = session.kind
        if session.height and session.width and self._size is None:
            self._size = session.height, session.width

    def resize(self, height: int, width: int) -> None:
        try:
            self._loop.submit(self._resize((height, width))).result(_RESIZE_SECONDS)
        except TimeoutError:
            raise exception.EngineUnavailable(
                error_msg=f'no answer within {_RESIZE_SECONDS:g} seconds') from None

    async def _resize(self, size: tuple[int, int]) -> None:
        self._size = size
        if self._stream is not None:
            await self._stream.resize(*size)

    async def started(self, stream: container_streams.Stream) -> None:
        """Its stream is there, and takes the size that was asked for before."""
        self._stream = stream
        if self._size is not None:
            with contextlib.suppress(exception.ZunException):  # it may have ended at once
                await stream.resize(*self._size)

    def end(self, ending: rpc_stream.Ending) -> None:
        self._loop.call(self._end, ending)

    def _end(self, ending: rpc_stream.Ending) -> None:
        if not self.stopped.done():
            self.stopped.set_result(ending)


class Endpoint:
    """Serves the sessions of one node.

    :param host: the node's name, as sessions bear it
    :param engine: opens the streams
    """

    def __init__(self, host: str, engine: container_streams.Streams) -> None:
        self._host = host
        self._engine = engine
        self._thread = loops.LoopThread('console', _WORKERS)
        self._context: ssl.SSLContext | None = None
        self._server: ws_server.Server | None = None
        self._housekeeper: asyncio.Task[None] | None = None
        self._unix_path: str | None = None

    def start(self) -> None:
        """Take connections, when consoles are configured.

        :raises ConfigInvalid: the certificates or the address cannot be used
        """
        if not streams.configured():
            LOG.info('Consoles are off: [console] names no certificates')
            return
        loops.allow_open_files(_FILES + _FILES_PER_SESSION * CONF.console.max_sessions)
        address = CONF.console.listen_address
        try:
            self._thread.start(self._setup(address), _START_SECONDS)
        except OSError as error:
            raise exception.ConfigInvalid(
                error_msg=f'[console]/listen_address: {address}: {error}') from error
        LOG.info('Console streams are served at %s', streams.node_url())

    def stop(self) -> None:
        """Close all sessions, and end the commands that were run for them."""
        if self._server is not None:
            self._thread.stop(self._teardown(self._server), _STOP_SECONDS)
            self._server = None
        if self._unix_path is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._unix_path)

    def reload(self) -> None:
        """Read the certificates again, for new connections."""
        if self._context is not None:
            with rpc_stream.certificates('cert_file', 'key_file'):
                self._context.load_cert_chain(CONF.console.cert_file, CONF.console.key_file)

    async def _setup(self, address: str) -> None:
        options = {**rpc_stream.OPTIONS, 'process_request': self._admit, 'server_header': None}
        if address.startswith(rpc_stream.UNIX):
            self._unix_path = address.removeprefix(rpc_stream.UNIX)
            self._server = await ws_server.unix_serve(
                self._accept, sock=_unix_socket(self._unix_path), **options)
        else:
            self._context = _server_context()
            self._server = await ws_server.serve(
                self._accept, address, CONF.console.listen_port, ssl=self._context, **options)
        self._housekeeper = asyncio.ensure_future(self._keep_house())

    async def _teardown(self, server: ws_server.Server) -> None:
        if self._housekeeper is not None:
            self._housekeeper.cancel()
        server.close()
        await server.wait_closed()

    # Sessions -----------------------------------------------------------------------------------

    def _admit(self, connection: ws_server.ServerConnection,
               request: http11.Request) -> http11.Response | None:
        """Only a proxy, and only with a key, gets as far as a WebSocket."""
        if (_PATH.fullmatch(request.path) and self._trusted(connection)
                and request.headers.get('Authorization', '').startswith(rpc_stream.BEARER)):
            return None
        return connection.respond(403, 'refused\n')

    def _trusted(self, connection: ws_server.ServerConnection) -> bool:
        """Whether the other side's certificate bears the name of a proxy."""
        if self._context is None:
            return True
        peer = connection.transport.get_extra_info('peercert') or {}
        names = {name for _, name in peer.get('subjectAltName', ())}
        if names & set(CONF.console.allowed_client_names):
            return True
        LOG.warning('A certificate of %s may not open consoles', ', '.join(sorted(names)))
        return False

    async def _accept(self, connection: ws_server.ServerConnection) -> None:
        """The boundary of a session."""
        request = ty.cast('http11.Request', connection.request)
        session_id = request.path.removeprefix(rpc_stream.PATH)
        key = request.headers['Authorization'].removeprefix(rpc_stream.BEARER)
        if streams.LIVE.get(session_id) is not None:
            await rpc_stream.close(connection, _REFUSED)
            return
        live = _Live(self._thread)
        # Before the row says that it is open: from then on sizes come here.
        streams.LIVE.add(session_id, live)
        try:
            await rpc_stream.close(connection, await self._run(connection, live, session_id, key))
        except Exception:
            LOG.exception('Console session %s failed', session_id)
            await rpc_stream.close(connection, rpc_stream.failed('internal error'))
        finally:
            streams.LIVE.remove(session_id)

    async def _run(self, connection: ws_server.ServerConnection, live: _Live, session_id: str,
                   key: str) -> rpc_stream.Ending:
        if len(streams.LIVE) > CONF.console.max_sessions:
            return _full('The host has too many console sessions.')
        try:
            session = await asyncio.to_thread(Session.begin, session_id, key, self._host)
        except db_exc.DBError as error:
            LOG.warning('Session %s cannot be looked up: %s', session_id, error)
            return rpc_stream.failed('The database does not answer.')
        if session is None:
            LOG.warning('A proxy has no key for session %s', session_id)
            return _REFUSED
        began = time.monotonic()
        try:
            streams.check_room(session.container_uuid)
        except exception.Conflict as error:
            ending = _full(error.message)
        else:
            live.admit(session)
            self._tell('session.start', session)
            ending = await self._pump(connection, live, session)
        await self._record(session, ending, time.monotonic() - began)
        return ending

    async def _pump(self, connection: ws_server.ServerConnection, live: _Live,
                    session: Session) -> rpc_stream.Ending:
        try:
            stream = await self._open(session)
        except exception.ZunException as error:
            return rpc_stream.failed(error.message)
        try:
            await live.started(stream)
            pump = relay.Relay(connection, stream, _writable(session))
            ending = await pump.run(live.stopped)
            # The client need not wait for the end of what it left behind.
            await rpc_stream.close(connection, ending)
        finally:
            await _let_go(stream, session)
        LOG.info('Console session %s: %d bytes in, %d out', session.id, pump.received, pump.sent)
        return ending

    async def _open(self, session: Session) -> container_streams.Stream:
        params = session.params or {}
        if session.kind == console_session.LOGS:
            return await self._engine.logs(session.container_uuid, session.tty,
                                           container_streams.LogWindow(**params))
        if session.kind == console_session.ATTACH:
            return await self._engine.attach(session.container_uuid, session.tty)
        engine_id = await self._engine.create_exec(
            session.container_uuid, params['command'], session.tty)
        await asyncio.to_thread(session.set_engine_id, engine_id)
        return await self._engine.start_exec(engine_id, session.tty)

    async def _record(self, session: Session, ending: rpc_stream.Ending,
                      seconds: float | None = None) -> None:
        """Write the end of a session; where that fails the next start does it."""
        lasted = '' if seconds is None else f', {seconds:.0f} s'
        details = f'client {session.client_address}{lasted}: {ending.code} {ending.reason}'
        LOG.info('Console session %s (%s) of container %s: %s', session.id, session.kind,
                 session.container_uuid, details)
        try:
            ended = await asyncio.to_thread(session.end, ending.code, details.strip())
        except db_exc.DBError as error:
            LOG.warning('The end of session %s cannot be written: %s', session.id, error)
            return
        if ended:
            session.close_code = ending.code
            self._tell('session.end', session)

    def _tell(self, event: str, session: Session) -> None:
        context = zun_context.RequestContext(
            user_id=session.user_id, project_id=session.project_id, overwrite=False)
        asyncio.get_running_loop().run_in_executor(
            None, streams.notify, context, self._host, event, session)

    async def _keep_house(self) -> None:
        """End what a crash left open, then delete old rows from time to time."""
        task: ty.Callable[[], ty.Awaitable[None]] = self._end_abandoned
        while True:
            try:
                await task()
            except (db_exc.DBError, exception.ZunException) as error:
                LOG.warning('Old console sessions are left for later: %s', error)
                await asyncio.sleep(rpc_stream.SILENCE_SECONDS)
                continue
            task = self._purge
            await asyncio.sleep(_PURGE_SECONDS)

    async def _end_abandoned(self) -> None:
        for session in await asyncio.to_thread(Session.list_abandoned, self._host):
            if streams.LIVE.get(session.id) is not None:
                continue
            if session.engine_id is not None:
                await self._engine.end_exec(session.engine_id)
            await self._record(session, rpc_stream.failed('the node agent was interrupted'))

    async def _purge(self) -> None:
        await asyncio.to_thread(Session.purge, self._host)


def _writable(session: Session) -> bool:
    """Whether the client may type: not into a log, nor into a command without input."""
    if session.kind == console_session.EXEC:
        return session.tty
    return session.kind == console_session.ATTACH


async def _let_go(stream: container_streams.Stream, session: Session) -> None:
    try:
        await stream.close()
    except exception.ZunException as error:
        LOG.warning('Session %s: its stream cannot be closed: %s', session.id, error.message)


def _unix_socket(path: str) -> socket.socket:
    """A socket that only this user reaches, bound but not listening yet."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.stat(path).st_mode):
            os.unlink(path)
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        os.chmod(path, 0o600)
    except OSError:
        listener.close()
        raise
    return listener


def _server_context() -> ssl.SSLContext:
    options = CONF.console
    with rpc_stream.certificates('cert_file', 'key_file', 'ca_file'):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=options.ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(options.cert_file, options.key_file)
    return context
