# SPDX-License-Identifier: Apache-2.0
"""One console: a client's WebSocket, and the connection to the node that belongs to it."""

import asyncio
import contextlib
import time
import typing as ty

from oslo_log import log as logging
from websockets import exceptions as ws_exceptions
from websockets.asyncio import client as ws_client
from websockets.asyncio import server as ws_server

import zun.conf
from zun.console import liveness
from zun.objects import console_session
from zun.rpc import stream as rpc_stream

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Sub-protocols. With the first, of the terminal page, text frames are control as between proxy
#: and node; with the other, and without any, they are input.
TERMINAL = 'terminal.zun.openstack.org'
BINARY = 'binary'

IDLE = rpc_stream.Ending(4408, 'idle timeout')
TOO_LONG = rpc_stream.Ending(4408, 'session time limit')

#: Ignored by terminals. Some clients stop reading the keyboard after a ping until output comes.
_NUL = b'\0'
_TICKS = 4
_LONGEST_TICK = 5.0


class Console:
    """
    :param session: what the ticket was for
    """

    def __init__(self, client: ws_server.ServerConnection,
                 session: console_session.ConsoleSession) -> None:
        self._client = client
        self._session = session
        self._controls = client.subprotocol == TERMINAL
        headers = client.request.headers if client.request is not None else {}
        # Browsers name themselves, the library of python-zunclient does not.
        self._takes_pings = 'User-Agent' in headers
        options = CONF.websocket_proxy
        now = time.monotonic()
        self._began = self._moved = now
        self._life = liveness.Liveness(options.ping_interval, options.ping_timeout, now)
        self._listening = True
        self.sent = 0
        self.received = 0

    async def run(self, node: ws_client.ClientConnection) -> rpc_stream.Ending:
        """Pump until either side or a limit ends it; then both are closed."""
        tasks: list[asyncio.Future[ty.Any]] = [asyncio.ensure_future(each) for each in (
            self._to_client(node), self._to_node(node), self._watch(), self._gone(),
            rpc_stream.beat(node))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ended = next((task for task in tasks[:4] if task.done()), None)
            ending: rpc_stream.Ending = (
                rpc_stream.PEER_LOST if ended is None else ended.result())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(rpc_stream.close(self._client, ending),
                             rpc_stream.close(node, ending))
        return ending

    async def _to_client(self, node: ws_client.ClientConnection) -> rpc_stream.Ending:
        try:
            if self._controls:
                await self._client.send(rpc_stream.control(
                    kind=self._session.kind, tty=bool(self._session.tty)))
            async for message in rpc_stream.messages(node):
                if isinstance(message, str) and not self._controls:
                    continue
                now = time.monotonic()
                self._life.sending(now)
                await self._client.send(message)
                self._moved = time.monotonic()
                self._life.sent(self._moved)
                self.sent += len(message)
        except TimeoutError:
            return rpc_stream.PEER_LOST
        except ws_exceptions.ConnectionClosed:
            return rpc_stream.ending_of(self._client)
        ending = rpc_stream.ending_of(node)
        return rpc_stream.PEER_LOST if ending is rpc_stream.LOST else ending

    async def _to_node(self, node: ws_client.ClientConnection) -> rpc_stream.Ending:
        try:
            async for message in self._client:
                self._listening = False
                self._moved = time.monotonic()
                self._life.heard(self._moved)
                await self._forward(node, message)
                self._listening = True
        except ws_exceptions.ConnectionClosed:
            if node.close_code is not None:
                return rpc_stream.PEER_LOST
        return rpc_stream.ending_of(self._client)

    async def _forward(self, node: ws_client.ClientConnection, message: str | bytes) -> None:
        if isinstance(message, str) and self._controls:
            size = rpc_stream.size_of(rpc_stream.parse_control(message))
            if size is not None:
                await node.send(rpc_stream.control(resize=list(size)))
            return
        data = message.encode() if isinstance(message, str) else message
        if data:
            self.received += len(data)
            await node.send(data)

    async def _gone(self) -> rpc_stream.Ending:
        """The client left while what it had sent waited for the node."""
        await self._client.wait_closed()
        return rpc_stream.ending_of(self._client)

    async def _watch(self) -> rpc_stream.Ending:
        """Ping, and see to the limits."""
        options = CONF.websocket_proxy
        limits = [limit for limit in (options.idle_timeout, options.max_session,
                                      options.ping_interval, options.ping_timeout) if limit]
        tick = min(min(limits) / _TICKS, _LONGEST_TICK)
        while True:
            await asyncio.sleep(tick)
            now = time.monotonic()
            if options.idle_timeout and now - self._moved > options.idle_timeout:
                return IDLE
            if options.max_session and now - self._began > options.max_session:
                return TOO_LONG
            if self._life.lost(now, self._listening):
                return rpc_stream.LOST
            if self._life.ping_due(now, self._listening):
                await self._ping(now)

    async def _ping(self, now: float) -> None:
        """A ping, in the way that the client can bear.

        python-zunclient waits for output after each control frame and reads no keyboard meanwhile:
        on a terminal it gets a character that shows nothing, without one it gets no ping.
        """
        if not self._takes_pings and not self._session.tty:
            self._life.pinged(now, answers=False)
            return
        self._life.pinged(now, answers=True)
        with contextlib.suppress(ws_exceptions.ConnectionClosed):
            answer = asyncio.ensure_future(await self._client.ping())
            answer.add_done_callback(self._answered)
            if not self._takes_pings:
                await self._client.send(_NUL)

    def _answered(self, answer: 'asyncio.Future[float]') -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._life.heard(time.monotonic())
