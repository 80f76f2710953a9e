# SPDX-License-Identifier: Apache-2.0
"""A Docker engine that a test may restart or kill.

It has a network namespace of its own, which stays while it is away: without a default bridge it
would remove that of the machine's own engine.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import typing as ty
import unittest

import docker
import fixtures
import requests

from zun.tests.functional import engine

_PROGRAMS = ('dockerd', 'unshare', 'nsenter', 'ip')


class PrivateEngine(fixtures.Fixture):
    """It holds the test image.

    :ivar url: of its API
    """

    def __init__(self, *options: str) -> None:
        """
        :param options: of dockerd
        """
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def _setUp(self) -> None:  # noqa: N802
        if os.geteuid() != 0 or not all(map(shutil.which, _PROGRAMS)):
            raise unittest.SkipTest('it takes root and a Docker engine that is installed')
        self._root = tempfile.mkdtemp(prefix='zun-engine-', dir='/var/tmp')  # not in memory
        self.addCleanup(self._remove)
        self.url = f'unix://{self._root}/docker.sock'
        self.addCleanup(self.stop)
        self._namespace = f'{self._root}/net'
        pathlib.Path(self._namespace).touch()
        subprocess.run(['unshare', f'--net={self._namespace}', 'ip', 'link', 'set', 'lo', 'up'],
                       check=True, timeout=60)
        self.start()
        self._load(engine.IMAGE)

    def _load(self, image: str) -> None:
        source = self.useFixture(engine.Engine()).api
        self.client().load_image(b''.join(source.get_image(image)))

    def start(self) -> None:
        """Start it, and wait for it."""
        root = self._root
        with open(f'{root}/log', 'ab') as log:
            self._process = subprocess.Popen(
                ['nsenter', f'--net={self._namespace}', 'dockerd', '--host', self.url,
                 '--data-root', f'{root}/data', '--exec-root', f'{root}/exec',
                 '--pidfile', f'{root}/pid', '--bridge', 'none', *self._options],
                stdout=log, stderr=log, start_new_session=True)
        engine.wait_for('the engine', self._answers, 60)

    def _answers(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            with open(f'{self._root}/log', errors='replace') as log:
                raise unittest.SkipTest(f'no private engine: {log.read()[-500:]}')
        try:
            return self.client().ping()
        except (docker.errors.DockerException, requests.RequestException):
            return False

    def client(self) -> ty.Any:
        """The SDK's low-level client of it."""
        return docker.APIClient(base_url=self.url, version='1.41', timeout=60)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it; its containers end too, unless it is killed."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(60)
            # Its containerd went along. Where nobody reaps that, it would pass for alive.
            pathlib.Path(self._root, 'exec/containerd/containerd.pid').unlink(missing_ok=True)
        self._process = None

    def _remove(self) -> None:
        """What a killed engine left."""
        with open('/proc/self/mounts') as table:
            points = [line.split()[1] for line in table]
        for point in reversed([p for p in points if p.startswith(self._root)]):
            subprocess.run(['umount', '--lazy', point], check=False)
        shutil.rmtree(self._root, ignore_errors=True)
