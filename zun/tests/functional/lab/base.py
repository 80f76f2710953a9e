# SPDX-License-Identifier: Apache-2.0
"""Tests of the whole: HTTP with a Keystone token, RabbitMQ, MariaDB, Placement and Docker all real.

They need the environment of ``tools/lab env`` with the lab up, and look behind the API at the
engine and at Placement.
"""

import collections.abc
import os
import subprocess
import time
import typing as ty
import uuid

import docker
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import v3

from zun.tests import base

FOREVER = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.1; done"]
FINAL = ('Created', 'Running', 'Stopped', 'Error')


class User:
    """One user of the cloud over raw HTTP."""

    def __init__(self, name: str, project: str) -> None:
        self.session = ks_session.Session(v3.Password(
            auth_url=os.environ['OS_AUTH_URL'], username=name,
            password=os.environ['LAB_PASSWORD'], project_name=project,
            user_domain_name='Default', project_domain_name='Default'))
        self.project = self.session.get_project_id()

    def http(self, method: str, path: str, version: str = '1.40', **kwargs: ty.Any) -> ty.Any:
        return self.session.request(
            os.environ['LAB_CONTAINER_URL'] + path, method, raise_exc=False,
            headers={'OpenStack-API-Version': f'container {version}'}, **kwargs)

    def show(self, ident: str) -> dict[str, ty.Any] | None:
        answer = self.http('GET', f'/v1/containers/{ident}')
        return answer.json() if answer.status_code == 200 else None


class LabTestCase(base.TestCase):
    """A member and an administrator, and the containers a test makes, deleted after it."""

    def setUp(self) -> None:
        super().setUp()
        if 'LAB_ZUN_CONF' not in os.environ:
            self.skipTest('no lab: run tools/lab up and eval "$(tools/lab env)"')
        self.user = User('demo', 'demo')
        self.admin = User('admin', 'admin')
        self.engine = docker.DockerClient(os.environ['LAB_DOCKER_HOST'])
        self.addCleanup(self.engine.close)
        self.made: list[str] = []
        self.addCleanup(self._purge)

    def _purge(self) -> None:
        def gone(ident: str) -> bool:
            self.admin.http('DELETE', f'/v1/containers/{ident}?force=true&all_projects=true')
            return self.admin.http('GET', f'/v1/containers/{ident}').status_code == 404
        for ident in self.made:
            self.wait(f'{ident} purged', lambda i=ident: gone(i))

    def wait(self, what: str, check: collections.abc.Callable[[], ty.Any],
             timeout: float = 60) -> ty.Any:
        """The first truthy result of ``check``."""
        end = time.monotonic() + timeout
        while not (found := check()):
            if time.monotonic() > end:
                self.fail(f'timed out waiting for {what}')
            time.sleep(0.1)
        return found

    def post(self, run: bool = True, **fields: ty.Any) -> dict[str, ty.Any]:
        """Create a container and return at once."""
        body = {'name': f'lab-{uuid.uuid4().hex[:12]}', 'image': os.environ['E2E_IMAGE'],
                'command': FOREVER, 'cpu': 0.1, 'memory': '64', **fields}
        answer = self.user.http('POST', f'/v1/containers?run={str(run).lower()}', json=body)
        self.assertEqual(202, answer.status_code, answer.text)
        self.made.append(answer.json()['uuid'])
        return answer.json()

    def wait_status(self, ident: str, *wanted: str, timeout: float = 60) -> dict[str, ty.Any]:
        def check() -> dict[str, ty.Any] | None:
            seen = self.user.show(ident) or {'status': None, 'status_reason': None}
            if seen['status'] == 'Error' and 'Error' not in wanted:
                self.fail(f'{ident} is in Error: {seen["status_reason"]}')
            return seen if seen['status'] in wanted else None
        return self.wait(f'{ident} in {wanted}', check, timeout)

    def wait_done(self, ident: str, status: str, timeout: float = 60) -> None:
        """Until nothing is being done to a container any more, and it has a status."""
        def done() -> bool:
            answer = self.user.http('GET', f'/v1/containers/{ident}/container_actions')
            return (answer.json()['containerActions'][0]['finish_time'] is not None
                    and self.user.show(ident)['status'] == status)
        self.wait(f'{ident} done and {status}', done, timeout)

    def act(self, ident: str, action: str, **params: ty.Any) -> ty.Any:
        answer = self.user.http('POST', f'/v1/containers/{ident}/{action}', params=params)
        self.assertIn(answer.status_code, (200, 202), answer.text)
        return answer

    def behind(self, ident: str) -> list[ty.Any]:
        """The engine's containers of a container of the API."""
        return self.engine.containers.list(all=True, filters={'name': ident})

    def allocations(self, ident: str) -> dict[str, ty.Any]:
        """What Placement holds for a container."""
        answer = self.admin.session.get(
            f'{os.environ["LAB_PLACEMENT_URL"]}/allocations/{ident}',
            headers={'OpenStack-API-Version': 'placement 1.28'})
        return answer.json()['allocations']


def lab(*verb: str) -> None:
    """Run a verb of tools/lab."""
    tool = os.path.join(os.path.dirname(__file__), *['..'] * 4, 'tools', 'lab')
    subprocess.run([os.path.abspath(tool), *verb], check=True, timeout=180,
                   stdout=subprocess.DEVNULL)
