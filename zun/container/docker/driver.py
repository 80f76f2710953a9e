# SPDX-License-Identifier: Apache-2.0
"""Containers on a Docker engine."""

import collections.abc
import contextlib
import dataclasses
import typing as ty

from oslo_utils import timeutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.common import transfers
from zun.common import units
import zun.conf
from zun.container import capsule
from zun.container import driver
from zun.container.docker import archive
from zun.container.docker import capsules
from zun.container.docker import client
from zun.container.docker import console
from zun.container.docker import containers
from zun.container.docker import errors
from zun.container.docker import events
from zun.container.docker import exec as exec_command
from zun.container.docker import host
from zun.container.docker import image_files
from zun.container.docker import images
from zun.container.docker import logs
from zun.container.docker import networks
from zun.container.docker import spec
from zun.container.docker import state
from zun.container.docker import stats
from zun.container.docker import top
from zun.network import driver as network_driver

CONF = zun.conf.CONF
_GRACE = 10  # the engine's own
#: Exit codes that the engine notes for a process it could not start.
_NOT_STARTED = (126, 127, 128)


class DockerDriver(driver.ContainerDriver, capsule.CapsuleDriver):
    """The engine at ``[docker]/api_url``. It may be called from any number of threads.

    A container is addressed by the name that its uuid gives it, so that no id has to be known.

    :raises ConfigInvalid: the options of [docker] do not describe an engine
    """

    def __init__(self) -> None:
        self._engine = client.Client()
        #: Images that can run on an engine: an id stands for the same image for ever.
        self._fit: set[tuple[client.Engine, str]] = set()

    def check(self) -> str:
        with errors.translated():
            self._engine.ping()
            found = self._engine.engine()
            return f'{found.name}, API {found.api}'

    def host_info(self) -> driver.HostInfo:
        with errors.translated():
            return host.describe(self._engine.request('GET', '/info').json(),
                                 self._engine.limits().disk_quota)

    # Life ---------------------------------------------------------------------------------------

    def create(self, workload: driver.Workload) -> None:
        name, uuid = _address(workload.container)
        with errors.translated(name, uuid):
            body = spec.create(workload, self._engine.engine().api, self._engine.limits())
            containers.create(self._engine, workload, body)

    def sandbox_image(self) -> str | None:
        with errors.translated():
            return capsules.pause_image(self._engine)

    def create_sandbox(self, workload: driver.Workload) -> driver.Observed:
        with errors.translated(*_address(workload.container)):
            capsules.create_sandbox(self._engine, workload)
            return self._observed(workload.container, states.CREATING)

    def create_member(self, workload: driver.Workload, capsule_uuid: str) -> driver.Observed:
        sandbox = state.engine_name(capsule_uuid)
        with errors.translated(sandbox, capsule_uuid):
            capsules.create_member(self._engine, workload, sandbox)
        with errors.translated(*_address(workload.container)):
            return self._observed(workload.container, states.CREATING)

    def start(self, container: objects.Container) -> driver.Observed:
        return self._begin(container, '/start', CONF.docker.default_timeout, {})

    def stop(self, container: objects.Container, timeout: int | None) -> driver.Observed:
        seconds = self._grace(container, timeout)
        return self._act(container, '/stop', {'t': seconds}, seconds)

    def reboot(self, container: objects.Container, timeout: int | None) -> driver.Observed:
        seconds = self._grace(container, timeout)
        return self._begin(container, '/restart', seconds + CONF.docker.stop_grace_margin,
                           {'t': seconds})

    def pause(self, container: objects.Container) -> driver.Observed:
        return self._act(container, '/pause')

    def unpause(self, container: objects.Container) -> driver.Observed:
        return self._act(container, '/unpause')

    def kill(self, container: objects.Container, signal: str | None) -> driver.Observed:
        return self._act(container, '/kill', {'signal': signal or 'SIGKILL'})

    def delete(self, uuid: str) -> None:
        self.discard(state.engine_name(uuid))

    def set_aside(self, uuid: str, name: str) -> bool:
        with errors.translated():
            return containers.rename(self._engine, state.engine_name(uuid), name)

    def restore(self, uuid: str, name: str) -> bool:
        with errors.translated():
            if not containers.exists(self._engine, name):
                return False
            containers.remove(self._engine, state.engine_name(uuid))
            return containers.rename(self._engine, name, state.engine_name(uuid))

    def discard(self, name: str) -> None:
        with errors.translated():
            containers.remove(self._engine, name)

    def update(self, container: objects.Container, cpu: float, memory: int) -> driver.Observed:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            limits = self._engine.limits()
            if limits.cgroup2 and memory:
                self._refuse_below_use(name, memory)
            self._engine.request('POST', containers.path(name, '/update'),
                                 json=spec.update(cpu, memory, limits))
            return self._observed(container)

    def confine(self, uuid: str, cpus: collections.abc.Collection[int]) -> None:
        name = state.engine_name(uuid)
        with errors.translated(name, uuid):
            self._engine.request('POST', containers.path(name, '/update'),
                                 json=spec.confinement(cpus))

    def inspect(self, container: objects.Container) -> driver.Observed:
        with errors.translated(*_address(container)):
            return self._observed(container)

    def list(self) -> dict[str, driver.Observed]:
        with errors.translated():
            return state.listed(self._engine.request(
                'GET', '/containers/json',
                params={'all': '1', 'filters': '{"name": ["^/zun-"]}'}).json())

    def events(self, since: float) -> ty.ContextManager[collections.abc.Iterator[driver.Event]]:
        return events.Stream(self._engine, since)

    # Inside -------------------------------------------------------------------------------------

    def logs(self, container: objects.Container, stdout: bool, stderr: bool, timestamps: bool,
             tail: int | None, since: str | None, into: ty.IO[bytes]) -> None:
        if not stdout and not stderr:
            return
        name, uuid = _address(container)
        params = {'stdout': str(int(stdout)), 'stderr': str(int(stderr)),
                  'timestamps': str(int(timestamps)),
                  'tail': 'all' if tail is None else str(tail), 'since': since or '0'}
        with errors.translated(name, uuid):
            logs.read(self._engine, name, bool(container.tty), params, into)

    def execute(self, container: objects.Container, command: str) -> tuple[str, int]:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            return exec_command.run(self._engine, name, command, CONF.docker.execute_timeout)

    def resize(self, container: objects.Container, height: int, width: int) -> None:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            self._engine.request('POST', containers.path(name, '/resize'),
                                 params={'h': height, 'w': width})

    def top(self, container: objects.Container, ps_args: str | None) -> dict[str, ty.Any]:
        name, uuid = _address(container)
        params = {'ps_args': top.check(ps_args)} if ps_args else {}
        with errors.translated(name, uuid):
            return top.read(self._engine, name, params)

    def stats(self, container: objects.Container) -> dict[str, ty.Any]:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            answer = self._engine.request('GET', containers.path(name, '/stats'),
                                          params={'stream': '0'})
            return stats.sample(container.name, answer.json())

    def get_archive(self, container: objects.Container, path: str,
                    into: ty.IO[bytes]) -> dict[str, ty.Any]:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            return archive.get(self._engine, name, path, into)

    def put_archive(self, container: objects.Container, path: str,
                    data: ty.IO[bytes] | bytes) -> None:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            archive.put(self._engine, name, path, data)

    def streams(self) -> console.DockerStreams:
        return console.DockerStreams(self._engine)

    # Networks and images ------------------------------------------------------------------------

    def create_network(self, network: network_driver.EngineNetwork) -> str:
        with errors.translated():
            return networks.create(self._engine, network)

    def network_blocks(self) -> ty.Sequence[str]:
        with errors.translated():
            return networks.blocks(self._engine)

    def remove_network(self, name: str) -> None:
        with errors.translated():
            networks.remove(self._engine, name)

    def connect(self, container: objects.Container,
                attachment: network_driver.Attachment) -> None:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            networks.connect(self._engine, name, attachment)

    def disconnect(self, container: objects.Container, name: str) -> None:
        with errors.translated(*_address(container)):
            networks.disconnect(self._engine, state.engine_name(container.uuid), name)

    def find_image(self, reference: str) -> str | None:
        with errors.translated():
            return images.find(self._engine, reference)

    def pull_image(self, name: str, tag: str, username: str | None = None,
                   password: str | None = None,
                   transfer: transfers.Transfer | None = None) -> str:
        with errors.translated():
            return images.pull(self._engine, name, tag, username, password,
                               transfer or transfers.Transfer())

    def check_image(self, image: str) -> None:
        with errors.translated():
            known = self._engine.engine(), image
            if known not in self._fit:
                images.check(self._engine, image)
                self._fit.add(known)

    def image_info(self, reference: str) -> dict[str, ty.Any]:
        with errors.translated():
            return images.info(self._engine, reference)

    def remove_image(self, reference: str) -> None:
        with errors.translated():
            images.remove(self._engine, reference)

    def list_images(self) -> collections.abc.Sequence[driver.LocalImage]:
        with errors.translated():
            return image_files.held(self._engine)

    def disk_use(self) -> float | None:
        with errors.translated():
            return host.disk_use(self._engine.request('GET', '/info').json())

    def commit(self, container: objects.Container, repository: str, tag: str) -> str:
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            return image_files.commit(self._engine, name, repository, tag)

    @contextlib.contextmanager
    def save_image(self, reference: str) -> collections.abc.Iterator[
            collections.abc.Iterator[bytes]]:
        with errors.translated(), image_files.save(self._engine, reference) as chunks:
            yield chunks

    def load_image(self, chunks: collections.abc.Iterable[bytes], repository: str,
                   tag: str) -> str:
        with errors.translated():
            loaded = image_files.load(self._engine, chunks)
            image_files.tag(self._engine, loaded, repository, tag)
            return images.info(self._engine, f'{repository}:{tag}')['image_id']

    def search_images(self, term: str) -> collections.abc.Sequence[dict[str, ty.Any]]:
        with errors.translated():
            return images.search(self._engine, term)

    # --------------------------------------------------------------------------------------------

    def _observed(self, container: objects.Container,
                  previous: str | None = None) -> driver.Observed:
        """One inspect. ``previous``: the status it had, where it is not the row's."""
        name, uuid = _address(container)
        return state.observed(
            containers.inspect(self._engine, name), uuid, previous or container.status,
            container.hostname, timeutils.utcnow())

    def _act(self, container: objects.Container, verb: str,
             params: dict[str, ty.Any] | None = None, grace: int = 0) -> driver.Observed:
        """A call that changes the state, and one look at what became of it."""
        name, uuid = _address(container)
        limit = grace + CONF.docker.stop_grace_margin if grace else CONF.docker.default_timeout
        with errors.translated(name, uuid):
            self._engine.request('POST', containers.path(name, verb), params=params,
                                 timeout=limit)
            return self._observed(container)

    def _begin(self, container: objects.Container, verb: str, limit: float,
               params: dict[str, ty.Any]) -> driver.Observed:
        """Start its process. One that cannot be started is Error, with the engine's reason."""
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            try:
                self._engine.request('POST', containers.path(name, verb), params=params,
                                     timeout=limit)
            except errors.Refusal as refusal:
                if refusal.is_gone(name) or refusal.in_removal:
                    raise
                seen = self._observed(container)
                if seen.running or seen.exit_code not in _NOT_STARTED:
                    raise
                return dataclasses.replace(seen, status=states.ERROR,
                                           status_reason=errors.readable(refusal.message))
            return self._observed(container)

    def _grace(self, container: objects.Container, timeout: int | None) -> int:
        """Seconds before it is killed: as asked for, else the image's own."""
        if timeout is not None:
            return timeout
        name, uuid = _address(container)
        with errors.translated(name, uuid):
            own = containers.inspect(self._engine, name)['Config'].get('StopTimeout')
        return _GRACE if own is None else own

    def _refuse_below_use(self, name: str, memory: int) -> None:
        """cgroup v2 would accept it, and kill processes."""
        used = stats.memory_used(self._engine.request(
            'GET', containers.path(name, '/stats'),
            params={'stream': '0', 'one-shot': '1'}).json())
        if used > memory * units.MIB:
            raise exception.Conflict('The memory limit is below what the container uses now.')


def _address(container: objects.Container) -> tuple[str, str]:
    """The engine's name and the uuid of a container."""
    return state.engine_name(container.uuid), container.uuid
