# SPDX-License-Identifier: Apache-2.0
"""Bytes between one proxy connection and one stream of the engine."""

import asyncio
import contextlib
import typing as ty

from oslo_log import log as logging
from websockets import exceptions as ws_exceptions
from websockets.asyncio import connection as ws_connection

from zun.common import exception
from zun.common import utf8
from zun.container import streams
from zun.rpc import stream as rpc_stream

LOG = logging.getLogger(__name__)

#: Seconds that the beginning of a character waits for its rest.
_HOLD = 0.05


class Relay:
    """
    :param writable: whether what the client sends is input
    :ivar sent: bytes to the client
    :ivar received: bytes from the client
    """

    def __init__(self, connection: ws_connection.Connection, stream: streams.Stream,
                 writable: bool) -> None:
        self._connection = connection
        self._stream = stream
        self._writable = writable
        self.sent = 0
        self.received = 0

    async def run(self, stop: 'asyncio.Future[rpc_stream.Ending]') -> rpc_stream.Ending:
        """Pump until either side ends, or ``stop`` says so."""
        tasks: list[asyncio.Future[ty.Any]] = [asyncio.ensure_future(each) for each in (
            self._to_client(), self._to_engine(), self._connection.wait_closed(),
            rpc_stream.beat(self._connection))]
        try:
            await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
            output, source, *_ = tasks
            # What the process said last is on its way already: its end comes first.
            for end in (output, source, stop):
                if end.done():
                    return end.result()
            return rpc_stream.ending_of(self._connection)
        except exception.ZunException as error:
            return rpc_stream.failed(error.message)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _to_client(self) -> rpc_stream.Ending:
        held = b''
        try:
            while True:
                try:
                    async with asyncio.timeout(_HOLD if held else None):
                        data = await self._stream.read()
                except TimeoutError:
                    await self._send(held)
                    held = b''
                    continue
                if not data:
                    break
                whole, held = utf8.split(held + data)
                await self._send(whole)
            await self._send(held)
            code = await self._stream.exit_code()
            if code is not None:
                await self._connection.send(rpc_stream.control(exit=code))
        except ws_exceptions.ConnectionClosed:
            return rpc_stream.ending_of(self._connection)
        return rpc_stream.TARGET_CLOSED

    async def _send(self, data: bytes) -> None:
        if data:
            self.sent += len(data)
            await self._connection.send(data)

    async def _to_engine(self) -> rpc_stream.Ending:
        try:
            async for message in rpc_stream.messages(self._connection):
                if isinstance(message, str):
                    await self._obey(message)
                elif message and self._writable:
                    self.received += len(message)
                    await self._stream.write(message)
        except TimeoutError:
            return rpc_stream.LOST
        return rpc_stream.ending_of(self._connection)

    async def _obey(self, text: str) -> None:
        size = rpc_stream.size_of(rpc_stream.parse_control(text))
        if size is not None and self._writable:
            with contextlib.suppress(exception.Invalid):  # it has just ended
                await self._stream.resize(*size)
