# SPDX-License-Identifier: Apache-2.0
"""A real Docker engine for tests, with an image that needs no registry."""

import collections.abc
import io
import os
import pathlib
import signal
import tarfile
import time
import typing as ty
import unittest
import urllib.parse

import docker
from docker import errors as docker_errors
import fixtures
from oslo_utils import uuidutils

from zun import objects

URL = os.environ.get('ZUN_TEST_ENGINE', 'unix:///var/run/docker.sock')
IMAGE = 'zun-test/busybox:latest'
#: Declares a volume, an exposed port and a command of its own.
RICH_IMAGE = 'zun-test/rich:latest'
BUSYBOX = '/bin/busybox'
#: Runs until it is told to end.
FOREVER = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.05; done"]
#: Cannot be told.
STUBBORN = ['sh', '-c', "trap '' TERM; while :; do sleep 0.05; done"]

_DOCKERFILES = {
    IMAGE: b"""FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "mkdir", "-p", "/tmp", "/etc", "/root"]
RUN ["/bin/busybox", "--install", "-s", "/bin"]
CMD ["sh"]
""",
    RICH_IMAGE: b"""FROM zun-test/busybox:latest
EXPOSE 80/tcp
VOLUME /data
STOPSIGNAL SIGINT
CMD ["sleep", "1000"]
""",
}


def wait_for(what: str, check: collections.abc.Callable[[], ty.Any], timeout: float = 20) -> ty.Any:
    """The first true result of a check."""
    end = time.monotonic() + timeout
    while not (found := check()):
        if time.monotonic() > end:
            raise AssertionError(f'waited {timeout} s in vain for {what}')
        time.sleep(0.02)
    return found


def tar(members: dict[str, bytes], mode: int = 0o755) -> bytes:
    """An archive of files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w') as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def untar(data: bytes) -> dict[str, bytes]:
    """The files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: archive.extractfile(member).read()
                for member in archive if member.isfile()}


def printed(driver: ty.Any, container: objects.Container, stdout: bool = True, stderr: bool = True,
            timestamps: bool = False, tail: int | None = None, since: str | None = None) -> str:
    """The log of a container."""
    into = io.BytesIO()
    driver.logs(container, stdout, stderr, timestamps, tail, since, into)
    return into.getvalue().decode()


def fetched(driver: ty.Any, container: objects.Container,
            path: str) -> tuple[bytes, dict[str, ty.Any]]:
    """A path of a container as a tar, and its stat."""
    into = io.BytesIO()
    stat = driver.get_archive(container, path, into)
    return into.getvalue(), stat


class Engine(fixtures.Fixture):
    """The engine, asked behind a driver's back.

    Containers that ``container`` described are gone from the engine after the test.

    :ivar api: the SDK's low-level client
    :ivar api_version: of the engine's API
    :ivar image_id: of IMAGE
    """

    IMAGE = IMAGE

    def _setUp(self) -> None:  # noqa: N802
        address = urllib.parse.urlsplit(URL)
        if address.scheme == 'unix' and not os.path.exists(address.path):
            raise unittest.SkipTest(f'no engine at {URL}')
        if not os.path.exists(BUSYBOX):
            raise unittest.SkipTest(f'no {BUSYBOX}')
        self.api = docker.APIClient(base_url=URL, version='auto', timeout=60)
        self.addCleanup(self.api.close)
        self.api_version = tuple(int(part) for part in self.api.api_version.split('.'))
        self.image_id = self.image(IMAGE)

    def image(self, name: str) -> str:
        """Id of one of the test images, made on first use."""
        try:
            return self.api.inspect_image(name)['Id']
        except docker_errors.ImageNotFound:
            pass
        if name != IMAGE:
            self.image(IMAGE)
        with open(BUSYBOX, 'rb') as program:
            context = tar({'Dockerfile': _DOCKERFILES[name], 'busybox': program.read()})
        lines = list(self.api.build(fileobj=io.BytesIO(context), custom_context=True, tag=name,
                                    rm=True, decode=True))
        failed = [line['error'] for line in lines if 'error' in line]
        if failed:
            raise AssertionError(f'build of {name}: {failed[0]}')
        return self.api.inspect_image(name)['Id']

    def container(self, **fields: ty.Any) -> objects.Container:
        """A row that is in no database."""
        uuid = uuidutils.generate_uuid()
        self.addCleanup(self.remove, f'zun-{uuid}')
        return objects.Container(**{
            'uuid': uuid, 'name': f'test-{uuid[:8]}', 'project_id': 'test-project',
            'user_id': 'test-user', 'image': IMAGE, 'cpu': 0.5, 'memory': '64', 'disk': 0,
            'command': FOREVER, 'entrypoint': [], 'environment': {}, 'labels': {},
            'workdir': None, 'hostname': None, 'tty': False, 'interactive': False,
            'restart_policy': {}, 'runtime': None, 'privileged': False, 'healthcheck': {},
            'exposed_ports': {}, 'cpuset': None, 'auto_remove': False, 'status': 'Creating',
            'task_state': None, **fields})

    def remove(self, name: str) -> None:
        """Remove a container, if there is one."""
        def gone() -> bool:
            try:
                self.api.remove_container(name, force=True, v=True)
            except docker_errors.NotFound:
                return True
            except docker_errors.APIError:
                return False  # an engine that has just come back may be busy with it
            return True
        wait_for(f'the end of {name}', gone, 60)

    def inspect(self, container: objects.Container) -> dict[str, ty.Any] | None:
        """The engine's own record, None when it has none."""
        try:
            return self.api.inspect_container(f'zun-{container.uuid}')
        except docker_errors.NotFound:
            return None

    def wait_state(self, container: objects.Container, status: str,
                   timeout: float = 20) -> dict[str, ty.Any]:
        """The engine's record once its State.Status is this."""
        def check() -> dict[str, ty.Any] | None:
            found = self.inspect(container)
            return found if found and found['State']['Status'] == status else None
        return wait_for(f'{container.name} to be {status}', check, timeout)

    def wait_trap(self, container: objects.Container) -> None:
        """Until the shell of FOREVER or STUBBORN has set its trap: an earlier TERM is lost."""
        pid = self.inspect(container)['State']['Pid']

        def trapped() -> bool:
            masks = [int(line.split()[1], 16) for line in
                     pathlib.Path(f'/proc/{pid}/status').read_text().splitlines()
                     if line.startswith(('SigIgn:', 'SigCgt:'))]
            return any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks)
        wait_for(f'the trap of {container.name}', trapped)
