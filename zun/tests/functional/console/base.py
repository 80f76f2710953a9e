# SPDX-License-Identifier: Apache-2.0
"""A container on the real engine, the node's endpoint, and a proxy: in this process or its own."""

import asyncio
import collections.abc
import contextlib
import functools
import http.client
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import typing as ty
import urllib.parse

import fixtures
from websockets import exceptions as ws_exceptions
from websockets.asyncio import client as ws_async_client
from websockets.sync import client as ws_client

from zun import objects
from zun.common import context as zun_context
from zun.common import loops
from zun.compute import stream_server
from zun.compute import streams
from zun.console import service
from zun.container import driver
from zun.container import streams as container_streams
from zun.container.docker import console
from zun.container.docker import driver as docker_driver
from zun.tests import base
from zun.tests import database
from zun.tests.functional import engine

HOST = 'node-one'
LOOPBACK = '127.0.0.1'
BINARY = ['binary', 'base64']
_ALL = container_streams.LogWindow()
_ROOT = pathlib.Path(__file__).parents[4]


def free_port() -> int:
    """A port of the loopback below the range of outgoing connections."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((LOOPBACK, port))
            return port


def certificates(directory: str, *nodes: str) -> None:
    """Make an authority and certificates, with the lab's tool."""
    subprocess.run(['bash', str(_ROOT / 'tools/lab.d/tls.sh'), directory, *nodes], check=True,
                   stdout=subprocess.DEVNULL)


def fetch(url: str, method: str = 'GET') -> tuple[int, http.client.HTTPMessage, str]:
    """Status, headers and text of an answer to plain HTTP."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=15)
    with contextlib.closing(connection):
        connection.request(method, parts._replace(scheme='', netloc='').geturl())
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode().strip()


def refusal(open_it: collections.abc.Callable[[], ty.Any]) -> tuple[int, str]:
    """Status and text of a handshake that is refused."""
    try:
        open_it()
    except ws_exceptions.InvalidStatus as error:
        return error.response.status_code, (error.response.body or b'').decode().strip()
    raise AssertionError('the handshake was accepted')


class TlsClient:
    """A client over TLS, in a loop of its own.

    The library's client for threads reads and writes one TLS connection at the same time, which
    Python 3.11 cannot do: requests get lost.
    """

    def __init__(self, url: str, **options: ty.Any) -> None:
        self._thread = loops.LoopThread('tls-client', 1)
        self._connection = self._thread.start(_connected(url, **options), 30)

    def send(self, data: bytes) -> None:
        self._thread.submit(self._connection.send(data)).result(30)

    def recv(self, timeout: float) -> str | bytes:
        return self._thread.submit(asyncio.wait_for(self._connection.recv(), timeout)).result()

    def peer(self) -> bytes:
        """The other side's certificate, DER."""
        return self._connection.transport.get_extra_info('ssl_object').getpeercert(True)

    def close(self) -> None:
        self._thread.submit(self._connection.close()).result(15)

    def stop(self) -> None:
        self._thread.stop(self._connection.close(), 15)


async def _connected(url: str, **options: ty.Any) -> ws_async_client.ClientConnection:
    return await ws_async_client.connect(url, proxy=None, compression=None, open_timeout=30,
                                         **options)


class ProxyProcess:
    """zun-wsproxy as a process of its own."""

    def __init__(self, options: dict[str, str], directory: str) -> None:
        self._config = os.path.join(directory, 'wsproxy.conf')
        groups: dict[str, list[str]] = {}
        for name, value in options.items():
            group, _, key = name.partition('.')
            groups.setdefault(group, []).append(f'{key} = {value}')
        text = '\n'.join(f'[{group}]\n' + '\n'.join(lines) for group, lines in groups.items())
        pathlib.Path(self._config).write_text(text + '\n')
        self.log = os.path.join(directory, 'wsproxy.log')
        self._port = int(options['websocket_proxy.wsproxy_port'])
        self.start()

    def start(self) -> None:
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'zun.cmd.wsproxy', '--config-file', self._config],
                stdout=log, stderr=log, start_new_session=True, cwd=_ROOT)
        try:
            engine.wait_for('the proxy to listen', self._listens, 30)
        except AssertionError:
            self.end(signal.SIGKILL)
            raise AssertionError(pathlib.Path(self.log).read_text()[-2000:]) from None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOOPBACK, self._port)) == 0

    def members(self) -> list[int]:
        """The processes of its session."""
        return [int(entry.name) for entry in pathlib.Path('/proc').iterdir()
                if entry.name.isdigit() and _session_of(entry) == self.process.pid]

    def worker(self) -> int:
        """The process that serves: the one with the listening socket."""
        return max(self.members(), key=lambda pid: len(_files(pid)))

    def end(self, number: int) -> int:
        """Send a signal to all of it, and wait for the end; the exit code."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        return self.process.wait(30)


def _session_of(entry: pathlib.Path) -> int | None:
    try:
        return int((entry / 'stat').read_text().rpartition(')')[2].split()[3])
    except OSError:
        return None


def _files(pid: int) -> list[str]:
    try:
        return os.listdir(f'/proc/{pid}/fd')
    except OSError:
        return []


def open_files(pid: int) -> int:
    """How many files a process has open."""
    return len(_files(pid))


def threads(pid: int) -> int:
    """How many threads a process has."""
    return len(os.listdir(f'/proc/{pid}/task'))


def resident(pid: int) -> int:
    """Resident memory of a process, KiB."""
    found = re.search(r'VmRSS:\s+(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())
    return int(found[1]) if found else 0


class ConsoleTestCase(base.TestCase):
    """The whole way of a console, without the API in front.

    :ivar base_url: of the proxy
    """

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.config(group='docker', api_url=engine.URL)
        self.engine = self.useFixture(engine.Engine())
        self.driver = docker_driver.DockerDriver()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.context = zun_context.RequestContext(
            user_id='user', project_id='project', overwrite=False)
        self._clients = contextlib.ExitStack()
        self.addCleanup(self._clients.close)
        self.node = types.SimpleNamespace(host=HOST, engine=self.driver)
        port = free_port()
        self.base_url = f'ws://{LOOPBACK}:{port}/'
        self.config(my_ip=LOOPBACK, host=HOST)
        self.config(group='websocket_proxy', base_url=self.base_url, wsproxy_host=LOOPBACK,
                    wsproxy_port=port)
        self.config(group='console', listen_address=f'unix:{self.directory}/console.sock')

    # The parts ----------------------------------------------------------------------------------

    def container(self, **fields: ty.Any) -> objects.Container:
        """A container with a row, that runs on the engine."""
        described = self.engine.container(host=HOST, **fields)
        row = objects.Container(**{name: value for name, value in described.as_dict().items()
                                   if name not in ('cpuset', 'id')})
        row.create(self.context)
        self.driver.create(driver.Workload(
            container=row, image=self.engine.image_id, operation='req-1'))
        row.status = self.driver.start(row).status
        return row

    def shell(self, **fields: ty.Any) -> objects.Container:
        """A container whose process is a shell on a terminal."""
        return self.container(**{'command': ['sh'], 'interactive': True, 'tty': True, **fields})

    def serve_node(self) -> stream_server.Endpoint:
        endpoint = stream_server.Endpoint(HOST, console.DockerStreams())
        endpoint.start()
        self.addCleanup(endpoint.stop)
        return endpoint

    def serve_proxy(self) -> service.ProxyService:
        """A proxy inside this process."""
        proxy = service.ProxyService()
        proxy.start()
        self.addCleanup(proxy.stop)
        return proxy

    def spawn_proxy(self, **more: str) -> ProxyProcess:
        """A proxy in a process of its own, with the options of this one."""
        options = {'DEFAULT.my_ip': LOOPBACK,
                   'database.connection': self.CONF.database.connection}
        for group in ('websocket_proxy', 'console'):
            for name, value in self.CONF[group].items():
                if value not in (None, ''):
                    text = ','.join(value) if isinstance(value, list) else str(value)
                    options[f'{group}.{name}'] = text
        process = ProxyProcess({**options, **more}, self.directory)
        self.addCleanup(process.end, signal.SIGKILL)
        return process

    # What a user does ---------------------------------------------------------------------------

    def url(self, token: str, container: objects.Container, exec_id: str | None = None) -> str:
        query = {'token': token, 'uuid': container.uuid}
        if exec_id is not None:
            query['exec_id'] = exec_id
        return f'{self.base_url}?{urllib.parse.urlencode(query)}'

    def attach_url(self, container: objects.Container) -> str:
        return self.url(streams.prepare_attach(self.node, self.context, container), container)

    def exec_url(self, container: objects.Container, command: str = 'sh',
                 interactive: bool = True) -> str:
        exec_id, token = streams.prepare_exec(self.node, self.context, container, command,
                                              interactive)
        return self.url(token, container, exec_id)

    def logs_url(self, container: objects.Container,
                 window: container_streams.LogWindow = _ALL) -> str:
        return self.url(streams.prepare_logs(self.node, self.context, container, window),
                        container)

    def dial(self, url: str, **options: ty.Any) -> ws_client.ClientConnection:
        return self._clients.enter_context(ws_client.connect(url, **{
            'subprotocols': BINARY, 'compression': None, 'open_timeout': 30, 'max_size': None,
            'ping_interval': None, 'proxy': None, **options}))

    def figure(self, text: str) -> None:
        """Show a measurement, where somebody wants to see it."""
        if os.environ.get('ZUN_TEST_FIGURES'):
            sys.__stderr__.write(f'{text}\n')

    # What can be seen ---------------------------------------------------------------------------

    def execs(self, container: objects.Container) -> list[str]:
        """What the engine still runs beside the container's own process."""
        found = self.engine.inspect(container)
        return [ident for ident in (found or {}).get('ExecIDs') or []
                if self.engine.api.exec_inspect(ident)['Running']]

    def wait_idle(self, container: objects.Container, seconds: float = 15) -> None:
        """Until no session is live and no command of one runs."""
        engine.wait_for('the sessions to end', lambda: len(streams.LIVE) == 0, seconds)
        engine.wait_for('commands to end', lambda: not self.execs(container), seconds)


def read_until(connection: ws_client.ClientConnection | TlsClient, needle: bytes,
               seconds: float = 15) -> bytes:
    """What comes, up to and with the needle."""
    seen, end = b'', time.monotonic() + seconds
    while needle not in seen:
        try:
            data = connection.recv(timeout=end - time.monotonic())
        except TimeoutError:
            raise AssertionError(f'{needle!r} did not come: {seen[-500:]!r}') from None
        seen += data.encode() if isinstance(data, str) else data
    return seen


def drain(connection: ws_client.ClientConnection | TlsClient,
          seconds: float = 30) -> tuple[bytes, int, str]:
    """All that comes until the close; its code and reason."""
    seen, end = bytearray(), time.monotonic() + seconds
    while True:
        try:
            data = connection.recv(timeout=end - time.monotonic())
        except ws_exceptions.ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 1006
            return bytes(seen), code, closed.rcvd.reason if closed.rcvd else ''
        seen += data.encode() if isinstance(data, str) else data


def together(functions: collections.abc.Sequence[collections.abc.Callable[[], ty.Any]]) -> list:
    """The results, or errors, of functions that run at the same time."""
    results: list[ty.Any] = [None] * len(functions)
    gate = threading.Barrier(len(functions))

    def call(index: int) -> None:
        gate.wait()
        try:
            results[index] = functions[index]()
        except Exception as error:  # noqa: BLE001 - handed to the test
            results[index] = error

    for thread in threads_of([functools.partial(call, index) for index in range(len(functions))]):
        thread.join()
    return results


def threads_of(
        functions: collections.abc.Sequence[collections.abc.Callable[[], ty.Any]],
) -> list[threading.Thread]:
    """Threads that run functions, started."""
    running = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in running:
        thread.start()
    return running
