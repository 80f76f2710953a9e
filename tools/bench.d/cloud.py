# SPDX-License-Identifier: Apache-2.0
"""The two ways to a running container: Zun's API, and the engine alone."""

import os
import time
import uuid

import docker
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import v3

COMMAND = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 1; done"]
_LABEL = 'zun-bench'
_LIMIT = 300


class Zun:
    """A member of the demo project, whose quota the administrator lifts."""

    def __init__(self) -> None:
        self._session = self._login('demo', 'demo')
        admin = self._login('admin', 'admin')
        self._root = os.environ['LAB_CONTAINER_URL']
        self._image = os.environ['E2E_IMAGE']
        self.project = self._session.get_project_id()
        admin.put(f'{self._root}/v1/quotas/{self.project}',
                  json={'containers': -1, 'cpu': -1, 'memory': -1, 'disk': -1})

    @staticmethod
    def _login(user: str, project: str) -> ks_session.Session:
        return ks_session.Session(v3.Password(
            auth_url=os.environ['OS_AUTH_URL'], username=user,
            password=os.environ['LAB_PASSWORD'], project_name=project,
            user_domain_name='Default', project_domain_name='Default'))

    def token(self, user: str, project: str) -> str:
        return self._login(user, project).get_token()

    def _request(self, method: str, path: str, **kwargs):
        return self._session.request(
            f'{self._root}/v1/containers{path}', method,
            headers={'OpenStack-API-Version': 'container 1.40'}, **kwargs)

    def create(self) -> str:
        body = {'image': self._image, 'command': COMMAND, 'cpu': 0.1, 'memory': '64'}
        return self._request('POST', '?run=true', json=body).json()['uuid']

    def _wait(self, check, what: str):
        end = time.monotonic() + _LIMIT
        while time.monotonic() < end:
            if (found := check()) is not None:
                return found
            time.sleep(0.02)
        raise SystemExit(f'bench: no {what} after {_LIMIT} s')

    def wait_running(self, ident: str) -> None:
        def running():
            found = self._request('GET', f'/{ident}').json()
            if found['status'] == 'Error':
                raise SystemExit(f'bench: {ident}: {found["status_reason"]}')
            return found if found['status'] == 'Running' else None
        self._wait(running, f'running container {ident}')

    def run_to_running(self) -> str:
        ident = self.create()
        self.wait_running(ident)
        return ident

    def delete(self, *idents: str) -> None:
        for ident in idents:
            self._request('DELETE', f'/{ident}?stop=true')
        for ident in idents:
            self._wait(lambda i=ident: True if self._request(
                'GET', f'/{i}', raise_exc=False).status_code == 404 else None, 'end of delete')


class Engine:
    def __init__(self) -> None:
        self._client = docker.DockerClient(os.environ['LAB_DOCKER_HOST'], max_pool_size=100)
        self._image = os.environ['E2E_IMAGE']
        self._client.images.pull(self._image)

    def run_to_running(self) -> None:
        """What Zun has to do at least: the pull that its policy demands, create, start."""
        self._client.images.pull(self._image)
        self._client.containers.run(
            self._image, COMMAND, name=f'{_LABEL}-{uuid.uuid4().hex}', detach=True,
            labels={_LABEL: '1'}, mem_limit='64m')

    def wait_running(self, ident: str) -> None:
        """Until the engine runs a container of Zun's."""
        end = time.monotonic() + _LIMIT
        while not self._client.containers.list(filters={'name': ident, 'status': 'running'}):
            if time.monotonic() > end:
                raise SystemExit(f'bench: the engine does not run {ident} after {_LIMIT} s')
            time.sleep(0.05)

    def clean(self) -> None:
        for container in self._client.containers.list(all=True, filters={'label': _LABEL}):
            container.remove(force=True)
