# SPDX-License-Identifier: Apache-2.0
"""An engine of the tests' own, which they may stop and start."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import docker
from docker import errors as docker_errors
import fixtures
import requests

from zun.tests.functional import engine as real

#: Where its data is kept; with the files of its images it is too much for a file system in memory.
ROOT = os.environ.get('ZUN_TEST_DOCKERD_ROOT')
_START_SECONDS = 60
_MOUNTS = pathlib.Path('/proc/self/mountinfo')


class Dockerd(fixtures.Fixture):
    """dockerd on a socket of its own, without a default bridge, with the test image.

    :param live_restore: its containers run on while it is away
    """

    def __init__(self, live_restore: bool) -> None:
        super().__init__()
        self._options = ['--live-restore'] if live_restore else []
        self._process: subprocess.Popen[bytes] | None = None

    def _setUp(self) -> None:  # noqa: N802
        if shutil.which('dockerd') is None or os.geteuid():
            raise unittest.SkipTest('no dockerd that could be started')
        self._root = pathlib.Path(tempfile.mkdtemp(prefix='zun-dockerd-', dir=ROOT or '/var/tmp'))
        self.addCleanup(self._forget)
        self.url = f'unix://{self._root}/docker.sock'
        self.addCleanup(self.stop)
        self.start()
        self.api = docker.APIClient(base_url=self.url, version='auto', timeout=60)
        self.addCleanup(self.api.close)
        self.addCleanup(self._remove_containers)
        self._load(real.IMAGE)

    def _forget(self) -> None:
        data = self._root / 'data'
        while f' {data} ' in _MOUNTS.read_text():  # a kill leaves it mounted on itself
            subprocess.run(['umount', '--lazy', str(data)], check=True, timeout=30)
        shutil.rmtree(self._root, ignore_errors=True)

    def _load(self, image: str) -> None:
        source = docker.APIClient(base_url=real.URL, version='auto', timeout=60)
        try:
            self.api.load_image(b''.join(source.get_image(image)))
        finally:
            source.close()

    def _remove_containers(self) -> None:
        if self._process is None:
            self.start()
        for item in self.api.containers(all=True):
            try:
                self.api.remove_container(item['Id'], force=True, v=True)
            except docker_errors.NotFound:
                pass

    def start(self) -> None:
        """Start it and wait until it answers."""
        root = self._root
        log = open(root / 'dockerd.log', 'ab')  # noqa: SIM115
        with log:
            self._process = subprocess.Popen(
                ['dockerd', '--host', self.url, '--data-root', str(root / 'data'), '--exec-root',
                 str(root / 'exec'), '--pidfile', str(root / 'pid'), '--bridge', 'none',
                 '--iptables=false', '--ip6tables=false', *self._options],
                stdout=log, stderr=log, start_new_session=True)
        real.wait_for('dockerd', self._answers, _START_SECONDS)

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise AssertionError((self._root / 'dockerd.log').read_text()[-3000:])
        try:
            client = docker.APIClient(base_url=self.url, version='1.41', timeout=10)
            with_answer = client.ping()
            client.close()
            return bool(with_answer)
        except (docker_errors.DockerException, requests.RequestException):
            return False

    def stop(self, sign: int = signal.SIGTERM) -> None:
        """End it; its containers run on or not, as it was started."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(sign)
            process.wait(60)
