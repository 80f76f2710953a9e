# SPDX-License-Identifier: Apache-2.0
"""The two ways to a running container: Zun's API, and the engine alone."""

import os
import time
import typing as ty
import uuid

import docker
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import v3

COMMAND = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 1; done"]
_LABEL = 'zun-bench'
_LIMIT = 300
_CPU = 0.1


class Zun:
    """A member of a project, whose quota the administrator lifts."""

    def __init__(self, user: str = 'demo', project: str = 'demo') -> None:
        self._session = self._login(user, project)
        admin = self._login('admin', 'admin')
        self._root = os.environ['LAB_CONTAINER_URL']
        self._image = os.environ['E2E_IMAGE']
        self._made: set[str] = set()
        self.project = self._session.get_project_id()
        admin.put(f'{self._root}/v1/quotas/{self.project}',
                  json={'containers': -1, 'cpu': -1, 'memory': -1, 'disk': -1})

    def __enter__(self) -> 'Zun':
        return self

    def __exit__(self, *error) -> None:
        self.delete_all()

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

    def create(self, **more) -> str:
        body = {'image': self._image, 'command': COMMAND, 'cpu': _CPU, 'memory': '64', **more}
        made = self._request('POST', '?run=true', json=body).json()['uuid']
        self._made.add(made)
        return made

    def _wait(self, check, what: str, pause: float = 0.02):
        end = time.monotonic() + _LIMIT
        while time.monotonic() < end:
            if (found := check()) is not None:
                return found
            time.sleep(pause)
        raise SystemExit(f'bench: no {what} after {_LIMIT} s')

    def wait_running(self, ident: str, pause: float = 0.02) -> None:
        def running():
            found = self._request('GET', f'/{ident}').json()
            if found['status'] == 'Error':
                raise SystemExit(f'bench: {ident}: {found["status_reason"]}')
            return found if found['status'] == 'Running' else None
        self._wait(running, f'running container {ident}', pause)

    def wait_all_running(self) -> None:
        """Until all that it made run, asked one by one so that it leaves the machine to them."""
        for ident in self._made:
            self.wait_running(ident, pause=0.1)

    def run_to_running(self) -> str:
        ident = self.create()
        self.wait_running(ident)
        return ident

    def delete(self, *idents: str, how: str = 'stop=true') -> None:
        for ident in idents:
            self._request('DELETE', f'/{ident}?{how}')
        for ident in idents:
            self._wait(lambda i=ident: True if self._request(
                'GET', f'/{i}', raise_exc=False).status_code == 404 else None, 'end of delete')
            self._made.discard(ident)

    def delete_all(self) -> None:
        """Delete what is left of what it made."""
        self.delete(*self._made)

    def forget_provider(self, name: str) -> None:
        """Remove what the ledger knows of a host."""
        root = f'{os.environ["LAB_PLACEMENT_URL"]}/resource_providers'
        for found in self._session.get(f'{root}?name={name}').json()['resource_providers']:
            self._session.delete(f'{root}/{found["uuid"]}')


class Engine:
    def __init__(self) -> None:
        self._client = docker.DockerClient(os.environ['LAB_DOCKER_HOST'], max_pool_size=100)
        self._image = os.environ['E2E_IMAGE']
        self._client.images.pull(self._image)

    def __enter__(self) -> 'Engine':
        return self

    def __exit__(self, *error) -> None:
        self.clean()
        for network in self._client.networks.list(names=[_LABEL]):
            network.remove()

    def run_to_running(self, **more) -> None:
        """``docker run -d``, after the pull that Zun's policy demands."""
        self._client.images.pull(self._image)
        self._client.containers.run(
            self._image, COMMAND, name=f'{_LABEL}-{uuid.uuid4().hex}', detach=True,
            labels={_LABEL: '1'}, mem_limit='64m', **more)

    def like_zuns(self) -> dict[str, ty.Any]:
        """Options that make a container equal to Zun's: its CPU limit, and a network to be on."""
        if not self._client.networks.list(names=[_LABEL]):
            self._client.networks.create(_LABEL)
        return {'nano_cpus': round(_CPU * 1e9), 'network': _LABEL}

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
