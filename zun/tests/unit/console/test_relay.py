# SPDX-License-Identifier: Apache-2.0
"""Bytes between a proxy's connection and an engine's stream, both of them scripted."""

import asyncio
import collections.abc

from websockets import exceptions as ws_exceptions
from websockets import frames

from zun.common import exception
from zun.compute import relay
from zun.container import streams
from zun.rpc import stream as rpc_stream
from zun.tests import base

_FOREVER = 3600


class Connection:
    """The proxy.

    :ivar sent: what it got
    """

    def __init__(self, messages: collections.abc.Iterable[str | bytes],
                 close: tuple[int, str] | None = None) -> None:
        self._messages = list(messages)
        self._closes = close
        self.close_code: int | None = None
        self.close_reason: str | None = None
        self.sent: list[str | bytes] = []

    async def recv(self) -> str | bytes:
        if self._messages:
            return self._messages.pop(0)
        if self._closes is None:
            await asyncio.sleep(_FOREVER)
        self.close_code, self.close_reason = self._closes or (None, None)
        received = frames.Close(*self._closes) if self._closes else None
        raise ws_exceptions.ConnectionClosedOK(received, None)

    async def send(self, message: str | bytes) -> None:
        self.sent.append(message)

    async def wait_closed(self) -> None:
        await asyncio.sleep(_FOREVER)


class Stream(streams.Stream):
    """The engine; None is a pause that never ends, an error is raised."""

    def __init__(self, *output: bytes | None | Exception, code: int | None = None) -> None:
        self._output = list(output)
        self._code = code
        self.input: list[bytes] = []
        self.sizes: list[tuple[int, int]] = []

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        found = self._output[0] if self._output else b''
        if found is None:
            await asyncio.sleep(_FOREVER)
        self._output = self._output[1:]
        if isinstance(found, Exception):
            raise found
        return found or b''

    async def write(self, data: bytes) -> None:
        self.input.append(data)

    async def resize(self, height: int, width: int) -> None:
        self.sizes.append((height, width))

    async def exit_code(self) -> int | None:
        return self._code

    async def close(self) -> None:
        raise AssertionError('the relay does not close it')


class TestRelay(base.TestCase):
    def relay(self, connection: Connection, stream: Stream, writable: bool = True,
              stop: rpc_stream.Ending | None = None) -> rpc_stream.Ending:
        async def run() -> rpc_stream.Ending:
            stopped = asyncio.get_running_loop().create_future()
            if stop is not None:
                stopped.set_result(stop)
            self.pump = relay.Relay(connection, stream, writable)
            async with asyncio.timeout(10):
                return await self.pump.run(stopped)
        return asyncio.run(run())

    def test_output_then_exit_code_then_end(self):
        connection = Connection([])
        ending = self.relay(connection, Stream(b'one', b'two', code=3))
        self.assertEqual([b'one', b'two', '{"exit": 3}'], connection.sent)
        self.assertEqual(rpc_stream.TARGET_CLOSED, ending)
        self.assertEqual(6, self.pump.sent)

    def test_characters_stay_whole(self):
        euro = '€'.encode()
        connection = Connection([])
        self.relay(connection, Stream(b'x' + euro[:1], euro[1:2], euro[2:] + b'y'))
        self.assertEqual([b'x', euro + b'y'], connection.sent)

    def test_half_a_character_does_not_wait_for_ever(self):
        connection = Connection([b'go'], (1000, ''))
        stream = Stream(b'x\xe2', None)
        connection.recv = _after(connection, 2, connection.recv)
        self.relay(connection, stream)
        self.assertEqual([b'x', b'\xe2'], connection.sent)

    def test_half_a_character_at_the_end(self):
        connection = Connection([])
        self.relay(connection, Stream(b'\xe2\x82'))
        self.assertEqual([b'\xe2\x82'], connection.sent)

    def test_input(self):
        connection = Connection([b'a', b'', rpc_stream.BEAT, '{"resize": [24, 80]}', 'nonsense',
                                 b'b'], (1000, 'bye'))
        stream = Stream(None)
        self.assertEqual((1000, 'bye'), self.relay(connection, stream))
        self.assertEqual([b'a', b'b'], stream.input)
        self.assertEqual([(24, 80)], stream.sizes)
        self.assertEqual(2, self.pump.received)

    def test_read_only(self):
        connection = Connection([b'a', '{"resize": [24, 80]}'], (1000, ''))
        stream = Stream(None)
        self.relay(connection, stream, writable=False)
        self.assertEqual(([], []), (stream.input, stream.sizes))

    def test_connection_that_is_cut(self):
        self.assertEqual(rpc_stream.LOST, self.relay(Connection([], (1006, '')), Stream(None)))

    def test_engine_that_breaks(self):
        error = exception.EngineUnavailable('The engine is gone.')
        self.assertEqual((1011, 'The engine is gone.'),
                         self.relay(Connection([]), Stream(b'x', error)))

    def test_stop(self):
        ending = rpc_stream.Ending(1000, 'why')
        self.assertEqual(ending, self.relay(Connection([]), Stream(None), stop=ending))


def _after(connection: Connection, count: int,
           receive: collections.abc.Callable[[], collections.abc.Awaitable[str | bytes]],
           ) -> collections.abc.Callable[[], collections.abc.Awaitable[str | bytes]]:
    """Receive only once so many messages were sent."""
    async def wait() -> str | bytes:
        while len(connection.sent) < count:
            await asyncio.sleep(0.01)
        return await receive()
    return wait


class TestMessages(base.TestCase):
    def test_silence(self):
        async def read() -> list[str | bytes]:
            return [each async for each in rpc_stream.messages(Connection([b'a']), 0.01)]
        self.assertRaises(TimeoutError, asyncio.run, read())

    def test_signs_of_life_are_left_out(self):
        async def read() -> list[str | bytes]:
            connection = Connection([b'a', rpc_stream.BEAT, '{"exit": 1}'], (1000, ''))
            return [each async for each in rpc_stream.messages(connection)]
        self.assertEqual([b'a', '{"exit": 1}'], asyncio.run(read()))
