# SPDX-License-Identifier: Apache-2.0
"""Streams between zun-wsproxy and a node's stream endpoint: WebSockets over TLS or a unix socket.

A proxy opens ``/v1/console/<session id>`` with the session's node key as bearer token. Binary
frames are the bytes of the session; text frames are JSON objects of control:

* ``{"resize": [rows, columns]}`` to the node
* ``{"exit": code}`` to the proxy
* ``{}`` either way: a sign of life
"""

import asyncio
import collections.abc
import contextlib
import json
import logging
import ssl
import typing as ty

from websockets import exceptions as ws_exceptions
from websockets.asyncio import client as ws_client
from websockets.asyncio import connection as ws_connection

from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

PATH = '/v1/console/'
BEARER = 'Bearer '
UNIX = 'unix:'

MAX_FRAME = 1 << 20
#: Frames that wait in a process before it stops reading.
QUEUE = 4
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 5.0
BEAT = '{}'
BEAT_SECONDS = 20.0
SILENCE_SECONDS = 75.0

_REASON_BYTES = 123
_LOST = (1005, 1006, 1015)
#: What the library says is no news for our log: garbage at the door, and clients that vanish.
WS_LOG = logging.getLogger(f'{__name__}.frames')
WS_LOG.setLevel(logging.CRITICAL)

#: Of every WebSocket of ours: no compression, bounded queues, and signs of life of our own: the
#: library's pings would end a session whose reader is merely slow.
OPTIONS: dict[str, ty.Any] = {
    'compression': None, 'open_timeout': OPEN_SECONDS, 'close_timeout': CLOSE_SECONDS,
    'ping_interval': None, 'ping_timeout': None, 'max_size': MAX_FRAME, 'max_queue': QUEUE,
    'logger': WS_LOG}


class Ending(ty.NamedTuple):
    """Why a session ends: close code and reason."""

    code: int
    reason: str = ''

    @property
    def orderly(self) -> bool:
        return self.code in (1000, 1001)


TARGET_CLOSED = Ending(1000, 'Target closed')
GOING_AWAY = Ending(1001, 'the service is stopping')
LOST = Ending(1001, 'connection lost')
PEER_LOST = Ending(1011, 'connection to the node lost')


def failed(reason: str) -> Ending:
    """1011: the node, TLS or the engine."""
    return Ending(1011, reason)


def ending_of(connection: ws_connection.Connection) -> Ending:
    """How the other side ended a connection."""
    code = connection.close_code
    if code is None or code in _LOST:
        return LOST
    return Ending(code, connection.close_reason or '')


def control(**values: ty.Any) -> str:
    """A frame of control."""
    return json.dumps(values)


def parse_control(text: str) -> dict[str, ty.Any]:
    """What a frame of control says; nothing when it makes no sense."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def size_of(values: collections.abc.Mapping[str, ty.Any]) -> tuple[int, int] | None:
    """Rows and columns of a frame of control, when it has any that can be."""
    size = values.get('resize')
    if not isinstance(size, list) or len(size) != 2:
        return None
    if not all(type(number) is int and 0 < number < 1 << 16 for number in size):
        return None
    return size[0], size[1]


async def messages(connection: ws_connection.Connection,
                   silence: float = SILENCE_SECONDS) -> collections.abc.AsyncIterator[str | bytes]:
    """What the other service sends, its signs of life left out, until it closes.

    The silence is counted while this side listens: it may have made the other side wait.

    :raises TimeoutError: nothing came for ``silence`` seconds
    """
    while True:
        try:
            async with asyncio.timeout(silence):
                message = await connection.recv()
        except ws_exceptions.ConnectionClosed:
            return
        if message != BEAT:
            yield message


async def beat(connection: ws_connection.Connection, seconds: float = BEAT_SECONDS) -> None:
    """Give signs of life until the connection is closed."""
    with contextlib.suppress(ws_exceptions.ConnectionClosed):
        while True:
            await asyncio.sleep(seconds)
            await connection.send(BEAT)


async def close(connection: ws_connection.Connection, ending: Ending,
                seconds: float = CLOSE_SECONDS) -> None:
    """Close, and cut the connection when the other side takes too long."""
    reason = ending.reason.encode()[:_REASON_BYTES].decode(errors='ignore')
    try:
        async with asyncio.timeout(seconds):
            await connection.close(ending.code, reason)
    except TimeoutError:
        connection.transport.abort()


def client_context() -> ssl.SSLContext:
    """What a proxy needs to reach a node.

    :raises ConfigInvalid: the certificates of [console] cannot be used
    """
    options = CONF.console
    with certificates('ca_file', 'proxy_cert_file', 'proxy_key_file'):
        context = ssl.create_default_context(cafile=options.ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(options.proxy_cert_file, options.proxy_key_file)
    return context


@contextlib.contextmanager
def certificates(*names: str) -> collections.abc.Iterator[None]:
    """Load files that options of [console] name.

    :raises ConfigInvalid: an option is unset, or a file cannot be used
    """
    unset = [name for name in names if not getattr(CONF.console, name)]
    if unset:
        raise exception.ConfigInvalid(
            error_msg=f"[console]: {', '.join(unset)} must be set for TLS")
    try:
        yield
    except OSError as error:  # ssl.SSLError is one
        files = ', '.join(str(getattr(CONF.console, name)) for name in names)
        raise exception.ConfigInvalid(
            error_msg=f'[console]: {files}: {error.strerror or error}') from error


async def connect(node_url: str, session_id: str, key: str,
                  context: ssl.SSLContext | None) -> ws_client.ClientConnection:
    """Open a session on its node.

    :param node_url: ``wss://host:port`` or ``unix:/path``
    :raises ConfigInvalid: it needs TLS, and there are no certificates
    :raises OSError, TimeoutError, websockets.InvalidHandshake: the node cannot be reached, or one
        side does not trust the other
    """
    options = {**OPTIONS, 'additional_headers': {'Authorization': BEARER + key},
               'user_agent_header': None}
    path = PATH + session_id
    if node_url.startswith(UNIX):
        return await ws_client.unix_connect(
            node_url.removeprefix(UNIX), uri=f'ws://localhost{path}', **options)
    if context is None:
        raise exception.ConfigInvalid(error_msg='[console]: no certificates for the proxy')
    return await ws_client.connect(node_url + path, ssl=context, proxy=None, **options)
