# SPDX-License-Identifier: Apache-2.0
"""Much at a time, and what is left of it: memory, threads, open files, commands."""

import asyncio
import hashlib
import itertools
import os
import signal
import threading
import time
import typing as ty

from websockets import exceptions as ws_exceptions
from websockets.asyncio import client as ws_client

from zun.compute import streams
from zun.tests.functional import engine
from zun.tests.functional.console import base

_MIB = 1 << 20
_AMOUNT = 100
_SESSIONS = 200
#: Threads that the proxy's pool may have got meanwhile.
_POOL = 8
#: KiB that a process may grow by while 100 MiB pass.
_FLAT = 24 << 10


class _Peak:
    """The most memory that processes use meanwhile, KiB beyond what they used before."""

    def __init__(self, *pids: int) -> None:
        self._before = {pid: base.resident(pid) for pid in pids}
        self.grown = dict.fromkeys(pids, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> '_Peak':
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            for pid, before in self._before.items():
                self.grown[pid] = max(self.grown[pid], base.resident(pid) - before)


class TestBulk(base.ConsoleTestCase):
    """100 MiB in one direction, through processes whose memory stays as it is."""

    def setUp(self) -> None:
        super().setUp()
        self.serve_node()
        self.proxy = self.spawn_proxy()
        self.block = os.urandom(_MIB)
        # The first session loads modules and fills pools.
        base.drain(self.dial(self.exec_url(self.container(), 'true')))

    def measure(self) -> _Peak:
        return _Peak(os.getpid(), self.proxy.worker())

    def check(self, peak: _Peak, seconds: float, what: str) -> None:
        self.figure(f'{what}: {_AMOUNT / seconds:.1f} MiB/s, grown by '
                    f'{list(peak.grown.values())} KiB')
        for grown in peak.grown.values():
            self.assertLess(grown, _FLAT)

    def output(self, pause: float = 0) -> None:
        container = self.container()
        self.driver.put_archive(container, '/tmp', engine.tar({'block': self.block}))
        url = self.exec_url(container, f"sh -c 'i=0; while [ $i -lt {_AMOUNT} ]; do "
                            "cat /tmp/block; i=$((i+1)); done'", interactive=False)
        digest, count = hashlib.sha256(), 0
        with self.measure() as peak:
            began = time.monotonic()
            ws = self.dial(url)
            if pause:
                time.sleep(pause)
            while count < _AMOUNT * _MIB:
                data = ws.recv(timeout=30)
                digest.update(data)
                count += len(data)
            seconds = time.monotonic() - began
            self.assertEqual((b'', 1000, 'Target closed'), base.drain(ws))
        self.assertEqual(hashlib.sha256(self.block * _AMOUNT).hexdigest(), digest.hexdigest())
        self.check(peak, seconds, 'to the client')

    def test_output(self):
        self.output()

    def test_output_for_a_slow_reader(self):
        self.output(pause=4)

    def test_input(self):
        container = self.container(
            command=['sh', '-c', f'head -c {_AMOUNT * _MIB} | sha256sum'], interactive=True)
        with self.measure() as peak:
            began = time.monotonic()
            ws = self.dial(self.attach_url(container))
            for _ in range(_AMOUNT):
                for start in range(0, _MIB, 1 << 16):
                    ws.send(self.block[start:start + (1 << 16)])
            output, code, _ = base.drain(ws)
            seconds = time.monotonic() - began
        self.assertEqual(hashlib.sha256(self.block * _AMOUNT).hexdigest(),
                         output.decode().split()[0])
        self.assertEqual(1000, code)
        self.check(peak, seconds, 'from the client')

    def test_short_answers(self):
        """How long a key takes to be seen."""
        container = self.container(command=['cat'], interactive=True)
        ws = self.dial(self.attach_url(container))
        times = []
        for _ in range(200):
            began = time.monotonic()
            ws.send(b'x')
            self.assertEqual(b'x', ws.recv(timeout=10))
            times.append(time.monotonic() - began)
        times.sort()
        self.figure(f'echo: median {times[100] * 1000:.1f} ms, p95 {times[190] * 1000:.1f} ms')
        self.assertLess(times[100], 0.05)


async def _end(connection: ws_client.ClientConnection) -> int | None:
    """Read to the end; its close code."""
    try:
        while True:
            await connection.recv()
    except ws_exceptions.ConnectionClosed:
        return connection.close_code


class TestManySessions(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.config(group='console', max_sessions_per_container=_SESSIONS)
        self.serve_node()
        self.proxy = self.spawn_proxy()
        self.target = self.shell()

    def urls(self) -> list[str]:
        """Attached, commands and the log, in turn."""
        kinds = itertools.cycle((self.attach_url, self.exec_url, self.logs_url))
        return [url(self.target) for url in itertools.islice(kinds, _SESSIONS)]

    async def _open(self, url: str) -> ws_client.ClientConnection:
        connection = await ws_client.connect(url, proxy=None, compression=None, open_timeout=60,
                                             ping_interval=None, subprotocols=['binary'])
        await connection.send(b'echo sum=$((40+2))\n')
        seen = b''
        async with asyncio.timeout(120):
            while b'sum=42' not in seen:
                seen += await connection.recv()
        return connection

    async def _all(self, then: ty.Callable[[], ty.Any]) -> list[int | None]:
        began = time.monotonic()
        opened = await asyncio.gather(*(self._open(url) for url in self.urls()))
        self.figure(f'{_SESSIONS} sessions open after {time.monotonic() - began:.1f} s; proxy: '
                    f'{base.resident(self.proxy.worker())} KiB, '
                    f'{base.threads(self.proxy.worker())} threads')
        ends = asyncio.gather(*(_end(each) for each in opened))
        await asyncio.to_thread(then)
        return await ends

    def check_nothing_left(self, files: int) -> None:
        self.wait_idle(self.target)
        engine.wait_for('files to be closed', lambda: base.open_files(os.getpid()) <= files + 20)

    def check_proxy(self, files: int, threads: int) -> None:
        worker = self.proxy.worker()
        engine.wait_for('the proxy to close its files',
                        lambda: base.open_files(worker) <= files + 4)
        self.assertLessEqual(base.threads(worker), threads + _POOL)

    def warm_up(self) -> tuple[int, int, int]:
        """Open files of this process; files and threads of the proxy; once pools are filled."""
        base.drain(self.dial(self.exec_url(self.target, 'true')))
        self.wait_idle(self.target)
        worker = self.proxy.worker()
        return base.open_files(os.getpid()), base.open_files(worker), base.threads(worker)

    def test_ended_by_the_node(self):
        files, *theirs = self.warm_up()
        running = base.threads(os.getpid())

        def stop() -> None:
            streams.revoke(self.target.uuid)
            self.driver.stop(self.target, 0)
        codes = asyncio.run(self._all(stop))
        self.assertEqual([1000] * _SESSIONS, codes)
        self.check_nothing_left(files)
        self.assertLessEqual(base.threads(os.getpid()), running + 40)
        self.check_proxy(*theirs)

    def test_proxy_killed_and_restarted(self):
        files, *_ = self.warm_up()
        codes = asyncio.run(self._all(lambda: self.proxy.end(signal.SIGKILL)))
        self.assertEqual({1006, None} | set(codes), {1006, None})
        self.check_nothing_left(files)
        self.proxy.start()
        ws = self.dial(self.attach_url(self.target))
        ws.send(b'echo back=$((1+1))\n')
        base.read_until(ws, b'back=2')

    def test_clients_vanish(self):
        files, *theirs = self.warm_up()

        async def cut() -> None:
            opened = await asyncio.gather(*(self._open(url) for url in self.urls()))
            for each in opened:
                each.transport.abort()
            await asyncio.gather(*(_end(each) for each in opened))

        asyncio.run(cut())
        self.check_nothing_left(files)
        self.check_proxy(*theirs)
