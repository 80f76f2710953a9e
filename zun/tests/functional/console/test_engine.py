# SPDX-License-Identifier: Apache-2.0
"""The same bytes, however the engine is reached, and what engines answer that is no stream."""

import asyncio
import os
import ssl
import typing as ty
import urllib.parse

import fixtures

from zun.common import exception
from zun.common import loops
from zun.compute import stream_server
from zun.container import streams as container_streams
from zun.container.docker import console
from zun.tests.functional import engine
from zun.tests.functional.console import base


class Forwarder(fixtures.Fixture):
    """A TCP port in front of the engine's unix socket.

    :param context: with TLS
    """

    def __init__(self, context: ssl.SSLContext | None) -> None:
        super().__init__()
        self._context = context
        self.port = base.free_port()

    def _setUp(self) -> None:  # noqa: N802
        thread = loops.LoopThread('forwarder', 1)
        self.addCleanup(thread.stop)
        thread.start(asyncio.start_server(self._serve, base.LOOPBACK, self.port,
                                          ssl=self._context), 10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = urllib.parse.urlsplit(engine.URL).path
        engine_reader, engine_writer = await asyncio.open_unix_connection(path)
        try:
            await asyncio.gather(_copy(reader, engine_writer), _copy(engine_reader, writer))
        finally:
            writer.close()
            engine_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()
    except OSError:
        writer.close()


class TestWays(base.ConsoleTestCase):
    def check(self) -> None:
        endpoint = stream_server.Endpoint(base.HOST, console.DockerStreams())
        endpoint.start()
        self.addCleanup(endpoint.stop)
        self.serve_proxy()
        blob = os.urandom(3 << 20)
        container = self.container(
            command=['sh', '-c', f'head -c {len(blob)}; sleep 1000'], interactive=True)
        ws = self.dial(self.attach_url(container))
        for start in range(0, len(blob), 1 << 16):
            ws.send(blob[start:start + (1 << 16)])
        seen = b''
        while len(seen) < len(blob):
            seen += ws.recv(timeout=20)
        self.assertEqual(blob, seen)
        ws.close()
        command = self.dial(self.exec_url(container))
        command.send(b'exit\n')
        self.assertEqual((1000, 'Target closed'), base.drain(command)[1:])
        self.wait_idle(container)

    def test_unix_socket(self):
        self.check()

    def test_tcp(self):
        port = self.useFixture(Forwarder(None)).port
        self.config(group='docker', api_url=f'tcp://{base.LOOPBACK}:{port}')
        self.check()

    def test_tls(self):
        base.certificates(self.directory, f'engine={base.LOOPBACK}')
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(f'{self.directory}/engine.pem', f'{self.directory}/engine.key')
        port = self.useFixture(Forwarder(context)).port
        self.config(group='docker', api_url=f'tcp://{base.LOOPBACK}:{port}',
                    ca_file=f'{self.directory}/ca.pem')
        self.check()


class TestRefusals(base.ConsoleTestCase):
    """What the engine does not do, as errors that callers know."""

    def setUp(self) -> None:
        super().setUp()
        self.streams = console.DockerStreams()

    def run_in_loop(self, coroutine: ty.Coroutine[ty.Any, ty.Any, ty.Any]) -> ty.Any:
        return asyncio.run(coroutine)

    def test_no_such_container(self):
        uuid = self.engine.container().uuid
        for call in (self.streams.attach(uuid, True),
                     self.streams.create_exec(uuid, ['sh'], True),
                     self.streams.logs(uuid, True, container_streams.LogWindow())):
            self.assertRaises(exception.EngineGone, self.run_in_loop, call)

    def test_paused(self):
        container = self.container()
        self.driver.pause(container)
        self.addCleanup(self.driver.unpause, container)
        error = self.assertRaises(exception.Conflict, self.run_in_loop,
                                  self.streams.create_exec(container.uuid, ['sh'], True))
        self.assertIn('paused', error.message)

    def test_stopped(self):
        container = self.container()
        self.driver.kill(container, None)
        self.assertRaises(exception.Conflict, self.run_in_loop,
                          self.streams.create_exec(container.uuid, ['sh'], True))
        self.assertRaises(exception.Conflict, self.run_in_loop,
                          self.streams.attach(container.uuid, True))

    def test_size_of_what_has_ended(self):
        container = self.shell()

        async def resized(command: str | None) -> None:
            if command is None:
                stream = await self.streams.attach(container.uuid, True)
                await asyncio.to_thread(self.driver.stop, container, 0)
            else:
                ident = await self.streams.create_exec(container.uuid, command.split(), True)
                stream = await self.streams.start_exec(ident, True)
                await stream.resize(30, 90)
                if command == 'sh':
                    await asyncio.to_thread(self.driver.stop, container, 0)
                else:
                    await stream.write(b'\n')
            while await stream.read():
                pass
            try:
                await stream.resize(20, 80)
            finally:
                await stream.close()

        for command in ('head -n 1', 'sh', None):
            error = self.assertRaises(exception.Invalid, self.run_in_loop, resized(command))
            self.assertEqual((400, 'The process has ended.'), (error.code, error.message))
            self.driver.start(container)

    def test_no_engine(self):
        self.config(group='docker', api_url=f'unix://{self.directory}/none.sock')
        self.assertRaises(
            exception.EngineUnavailable, self.run_in_loop,
            console.DockerStreams().attach(self.engine.container().uuid, True))

    def test_command_that_never_began(self):
        container = self.container()
        engine_id = self.run_in_loop(self.streams.create_exec(container.uuid, ['sh'], True))
        self.run_in_loop(self.streams.end_exec(engine_id))
        self.assertFalse(self.engine.api.exec_inspect(engine_id)['Running'])
