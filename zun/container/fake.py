# SPDX-License-Identifier: Apache-2.0
"""An engine in memory, for simulations and for tests of what is built on drivers.

It keeps the rules of a real one: states refuse what a real engine refuses, and each change makes an
event. What happens behind a driver's back is done by ``exit``, ``vanish``, ``restart_engine`` and
``fail``.
"""

import collections
import collections.abc
import contextlib
import dataclasses
import queue
import threading
import time
import typing as ty

from oslo_utils import timeutils
from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.common import transfers
import zun.conf
from zun.container import capsule
from zun.container import driver
from zun.network import driver as network_driver

CONF = zun.conf.CONF
_KILLED = 137


@dataclasses.dataclass
class _Box:
    """One container of the engine."""

    seen: driver.Observed
    cpu: float
    memory: int
    networks: set[str]
    image: str
    output: str = ''
    cpus: set[int] = dataclasses.field(default_factory=set)
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)


class FakeDriver(driver.ContainerDriver, capsule.CapsuleDriver):
    """Containers that are only remembered.

    :ivar host: what host_info answers
    :ivar delay: seconds that each change takes
    :ivar missing: names of images that no registry has
    :ivar disk_percent: use of the engine's disk
    """

    def __init__(self) -> None:
        self.host = driver.HostInfo(
            name=CONF.host, cpus=4, memory=8192, disk=100, total_containers=0,
            running_containers=0, paused_containers=0, stopped_containers=0,
            architecture='x86_64', os_type='linux', os='fake', kernel_version='0', labels={},
            runtimes=('runc',), disk_quota_supported=True)
        self.delay = 0.0
        self.missing: set[str] = set()
        self.disk_percent = 50.0
        self._lock = threading.RLock()
        self._boxes: dict[str, _Box] = {}
        self._images: dict[str, str] = {}
        self._networks: dict[str, str] = {}
        self._history: list[driver.Event] = []
        self._listeners: list[queue.SimpleQueue[driver.Event | None]] = []
        self._failures: dict[str, collections.deque[Exception]] = {}

    # What happens to it ---------------------------------------------------------------------------

    def fail(self, method: str, *errors: Exception) -> None:
        """The next calls of a method raise these, one after the other."""
        with self._lock:
            self._failures.setdefault(method, collections.deque()).extend(errors)

    def exit(self, uuid: str, code: int = 0) -> None:
        """The container's process ends by itself."""
        with self._lock:
            self._end(self._boxes[uuid], code)

    def set_health(self, uuid: str, health: str) -> None:
        """Its health check comes to a result: healthy or unhealthy."""
        with self._lock:
            self._change(self._boxes[uuid], health=health)

    def write(self, uuid: str, text: str) -> None:
        """The container's process writes."""
        with self._lock:
            self._boxes[uuid].output += text

    def vanish(self, uuid: str) -> None:
        """Somebody removes the container without asking us."""
        with self._lock:
            del self._boxes[uuid]
            self._tell(uuid, 'gone')

    def restart_engine(self) -> None:
        """Streams of events end and their history is lost; containers live on."""
        with self._lock:
            self._history.clear()
            for listener in self._listeners:
                listener.put(None)

    # ContainerDriver ------------------------------------------------------------------------------

    def check(self) -> str:
        self._enter('check')
        return 'fake engine'

    def host_info(self) -> driver.HostInfo:
        self._enter('host_info')
        with self._lock:
            counts = collections.Counter(box.seen.status for box in self._boxes.values())
        return dataclasses.replace(
            self.host, total_containers=counts.total(), running_containers=counts[states.RUNNING],
            paused_containers=counts[states.PAUSED],
            stopped_containers=counts[states.STOPPED] + counts[states.CREATED])

    def create(self, workload: driver.Workload) -> None:
        self._enter('create')
        self._made(workload)

    def _made(self, workload: driver.Workload) -> driver.Observed:
        container = workload.container
        with self._lock:
            there = self._boxes.get(container.uuid)
            if there is None or there.seen.operation != workload.operation:
                self._boxes[container.uuid] = there = _Box(
                    _fresh(workload, self.host.name), container.cpu or 0.0,
                    int(container.memory or 0),
                    {a.engine_network for a in workload.attachments if a.engine_network},
                    workload.image, cpus=set(workload.cpus))
                self._tell(container.uuid, 'changed')
            return there.seen

    def sandbox_image(self) -> str | None:
        self._enter('sandbox_image', 0.0)
        return self.pull_image('fake/pause', 'latest')

    def create_sandbox(self, workload: driver.Workload) -> driver.Observed:
        self._enter('create_sandbox', 0.0)
        return self._made(workload)

    def create_member(self, workload: driver.Workload, capsule_uuid: str) -> driver.Observed:
        self._enter('create_member', 0.0)
        with self._lock:
            if capsule_uuid not in self._boxes:
                raise exception.EngineGone(container=capsule_uuid)
        return self._made(workload)

    def start(self, container: objects.Container) -> driver.Observed:
        self._enter('start')
        with self._lock:
            box = self._box(container)
            if box.seen.status == states.PAUSED:
                raise exception.Conflict('cannot start a paused container, try unpause instead')
            return self._begin(box)

    def stop(self, container: objects.Container, timeout: int | None) -> driver.Observed:
        self._enter('stop')
        with self._lock:
            return self._end(self._box(container), 0)

    def reboot(self, container: objects.Container, timeout: int | None) -> driver.Observed:
        self._enter('reboot')
        with self._lock:
            box = self._box(container)
            self._end(box, 0)
            return self._begin(box)

    def pause(self, container: objects.Container) -> driver.Observed:
        self._enter('pause')
        with self._lock:
            box = self._box(container, states.RUNNING)
            return self._change(box, status=states.PAUSED)

    def unpause(self, container: objects.Container) -> driver.Observed:
        self._enter('unpause')
        with self._lock:
            box = self._box(container, states.PAUSED)
            return self._change(box, status=states.RUNNING)

    def kill(self, container: objects.Container, signal: str | None) -> driver.Observed:
        self._enter('kill')
        with self._lock:
            box = self._box(container, states.RUNNING, states.PAUSED)
            if signal in (None, '9', 'KILL', 'SIGKILL'):
                return self._end(box, _KILLED)
            return box.seen

    def delete(self, uuid: str) -> None:
        self._enter('delete')
        self._remove(uuid)

    def set_aside(self, uuid: str, name: str) -> bool:
        self._enter('set_aside')
        with self._lock:
            if name in self._boxes and uuid in self._boxes:
                raise exception.Conflict(f'The container name {name} is already in use.')
            return self._rename(uuid, name)

    def restore(self, uuid: str, name: str) -> bool:
        self._enter('restore')
        with self._lock:
            return name in self._boxes and self._rename(name, uuid)

    def discard(self, name: str) -> None:
        self._enter('discard')
        self._remove(name)

    def update(self, container: objects.Container, cpu: float, memory: int) -> driver.Observed:
        self._enter('update')
        with self._lock:
            box = self._box(container)
            box.cpu, box.memory = cpu or box.cpu, memory or box.memory
            return self._change(box)

    def confine(self, uuid: str, cpus: collections.abc.Collection[int]) -> None:
        self._enter('confine', 0.0)
        with self._lock:
            if uuid not in self._boxes:
                raise exception.EngineGone(container=uuid)
            self._boxes[uuid].cpus = set(cpus)

    def inspect(self, container: objects.Container) -> driver.Observed:
        self._enter('inspect', 0.0)
        with self._lock:
            return self._box(container).seen

    def list(self) -> dict[str, driver.Observed]:
        self._enter('list', 0.0)
        with self._lock:
            return {box.seen.uuid: box.seen for name, box in self._boxes.items()
                    if name == box.seen.uuid}

    @contextlib.contextmanager
    def events(self, since: float) -> collections.abc.Iterator[
            collections.abc.Iterator[driver.Event]]:
        self._enter('events', 0.0)
        listener: queue.SimpleQueue[driver.Event | None] = queue.SimpleQueue()
        with self._lock:
            for event in self._history:
                if event.time >= since:
                    listener.put(event)
            self._listeners.append(listener)
        try:
            yield iter(listener.get, None)
        finally:
            listener.put(None)
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

    def logs(self, container: objects.Container, stdout: bool, stderr: bool, timestamps: bool,
             tail: int | None, since: str | None, into: ty.IO[bytes]) -> None:
        self._enter('logs', 0.0)
        with self._lock:
            lines = self._box(container).output.splitlines(keepends=True) if stdout else []
        into.write(''.join(
            lines if tail is None else lines[max(len(lines) - tail, 0):]).encode())

    def execute(self, container: objects.Container, command: str) -> tuple[str, int]:
        """Writes the command."""
        self._enter('execute')
        with self._lock:
            self._box(container, states.RUNNING)
        return f'{command}\n', 0

    def resize(self, container: objects.Container, height: int, width: int) -> None:
        self._enter('resize', 0.0)
        with self._lock:
            self._box(container, states.RUNNING, states.PAUSED)

    def top(self, container: objects.Container, ps_args: str | None) -> dict[str, ty.Any]:
        self._enter('top', 0.0)
        with self._lock:
            box = self._box(container, states.RUNNING, states.PAUSED)
        return {'Titles': ['PID', 'CMD'], 'Processes': [['1', ' '.join(box.seen.command)]]}

    def stats(self, container: objects.Container) -> dict[str, ty.Any]:
        self._enter('stats', 0.0)
        with self._lock:
            box = self._box(container, states.RUNNING, states.PAUSED)
        return {'CONTAINER': container.name, 'CPU %': 0.0, 'MEM USAGE(MiB)': 0.0,
                'MEM LIMIT(MiB)': float(box.memory), 'MEM %': 0.0, 'BLOCK I/O(B)': '0/0',
                'NET I/O(B)': '0/0'}

    def get_archive(self, container: objects.Container, path: str,
                    into: ty.IO[bytes]) -> dict[str, ty.Any]:
        """What was put at that path."""
        self._enter('get_archive', 0.0)
        with self._lock:
            data = self._box(container).files.get(path)
        if data is None:
            raise exception.NotFound(f'Could not find the file {path} in container')
        into.write(data)
        return {'name': path.rpartition('/')[2], 'size': len(data), 'mode': 0o755,
                      'mtime': '1970-01-01T00:00:00Z', 'linkTarget': ''}

    def put_archive(self, container: objects.Container, path: str,
                    data: ty.IO[bytes] | bytes) -> None:
        self._enter('put_archive')
        with self._lock:
            self._box(container).files[path] = data if isinstance(data, bytes) else data.read()

    def network_blocks(self) -> ty.Sequence[str]:
        self._enter('network_blocks')
        return []

    def create_network(self, network: network_driver.EngineNetwork) -> str:
        self._enter('create_network')
        with self._lock:
            return self._networks.setdefault(network.name, uuidutils.generate_uuid(dashed=False))

    def remove_network(self, name: str) -> None:
        self._enter('remove_network')
        with self._lock:
            if any(name in box.networks for box in self._boxes.values()):
                raise exception.Conflict(f'network {name} has active endpoints')
            self._networks.pop(name, None)

    def connect(self, container: objects.Container,
                attachment: network_driver.Attachment) -> None:
        self._enter('connect')
        with self._lock:
            if attachment.engine_network not in self._networks:
                raise exception.NotFound(f'network {attachment.engine_network} not found')
            self._box(container).networks.add(attachment.engine_network)

    def disconnect(self, container: objects.Container, name: str) -> None:
        self._enter('disconnect')
        with self._lock:
            if container.uuid in self._boxes:
                self._boxes[container.uuid].networks.discard(name)

    def find_image(self, reference: str) -> str | None:
        self._enter('find_image', 0.0)
        with self._lock:
            known = reference in self._images.values()
            return reference if known else self._images.get(reference)

    def pull_image(self, name: str, tag: str, username: str | None = None,
                   password: str | None = None,
                   transfer: transfers.Transfer | None = None) -> str:
        self._enter('pull_image')
        if name in self.missing:
            raise exception.ImageNotFound(image=f'{name}:{tag}')
        with self._lock:
            fresh = f'sha256:{uuidutils.generate_uuid(dashed=False)}'
            return self._images.setdefault(f'{name}:{tag}', fresh)

    def check_image(self, image: str) -> None:
        self._enter('check_image', 0.0)

    def image_info(self, reference: str) -> dict[str, ty.Any]:
        found = self.find_image(reference)
        if found is None:
            raise exception.ImageNotFound(image=reference)
        return {'image_id': found, 'size': 1 << 20}

    def remove_image(self, reference: str) -> None:
        self._enter('remove_image')
        with self._lock:
            self._images.pop(reference, None)

    def list_images(self) -> collections.abc.Sequence[driver.LocalImage]:
        self._enter('list_images', 0.0)
        with self._lock:
            return [driver.LocalImage(image, (name,), 1 << 20, image in self._used())
                    for name, image in self._images.items()]

    def _used(self) -> set[str]:
        return {box.image for box in self._boxes.values()}

    def disk_use(self) -> float | None:
        self._enter('disk_use', 0.0)
        return self.disk_percent

    def commit(self, container: objects.Container, repository: str, tag: str) -> str:
        self._enter('commit')
        with self._lock:
            self._box(container)
        return self.pull_image(repository, tag)

    @contextlib.contextmanager
    def save_image(self, reference: str) -> collections.abc.Iterator[
            collections.abc.Iterator[bytes]]:
        """Its id."""
        self._enter('save_image', 0.0)
        yield iter([self.image_info(reference)['image_id'].encode()])

    def load_image(self, chunks: collections.abc.Iterable[bytes], repository: str,
                   tag: str) -> str:
        self._enter('load_image')
        if not b''.join(chunks):
            raise exception.Invalid('The image cannot be loaded: it is empty.')
        return self.pull_image(repository, tag)

    def search_images(self, term: str) -> collections.abc.Sequence[dict[str, ty.Any]]:
        self._enter('search_images', 0.0)
        with self._lock:
            return [{'name': name.rpartition(':')[0], 'description': '', 'star_count': 0,
                     'is_official': False} for name in self._images if term in name]

    # ----------------------------------------------------------------------------------------------

    def _enter(self, method: str, delay: float | None = None) -> None:
        with self._lock:
            planned = self._failures.get(method)
            failure = planned.popleft() if planned else None
        seconds = self.delay if delay is None else delay
        if seconds:
            time.sleep(seconds)
        if failure is not None:
            raise failure

    def _box(self, container: objects.Container, *wanted: str) -> _Box:
        """:raises EngineGone, Conflict: it is not there, or in none of the wanted statuses"""
        box = self._boxes.get(container.uuid)
        if box is None:
            raise exception.EngineGone(container=container.uuid)
        if wanted and box.seen.status not in wanted:
            raise exception.Conflict(
                'Container is not paused' if wanted == (states.PAUSED,) else
                'Container is already paused' if box.seen.status == states.PAUSED else
                'Container is not running')
        return box

    def _begin(self, box: _Box) -> driver.Observed:
        if box.seen.running:
            return box.seen
        return self._change(box, status=states.RUNNING, running=True, exit_code=None,
                            started_at=_now(), status_detail='Up 0 seconds')

    def _end(self, box: _Box, code: int) -> driver.Observed:
        if not box.seen.running:
            return box.seen
        return self._change(box, status=states.STOPPED, running=False, exit_code=code,
                            finished_at=_now(), status_detail=f'Exited({code}) 0 seconds ago ')

    def _change(self, box: _Box, **values: ty.Any) -> driver.Observed:
        box.seen = dataclasses.replace(box.seen, **values)
        self._tell(box.seen.uuid, 'changed')
        return box.seen

    def _rename(self, name: str, new_name: str) -> bool:
        box = self._boxes.pop(name, None)
        if box is None:
            return False
        self._boxes[new_name] = box
        self._tell(box.seen.uuid, 'changed')
        return True

    def _remove(self, name: str) -> None:
        with self._lock:
            box = self._boxes.pop(name, None)
            if box is not None and box.seen.uuid == name:
                self._tell(name, 'gone')

    def _tell(self, uuid: str, kind: str) -> None:
        event = driver.Event(uuid, kind, time.time())
        self._history.append(event)
        for listener in self._listeners:
            listener.put(event)


def _fresh(workload: driver.Workload, host: str) -> driver.Observed:
    container = workload.container
    return driver.Observed(
        uuid=container.uuid, engine_id=uuidutils.generate_uuid(dashed=False) * 2,
        status=states.CREATED, status_detail='Created',
        hostname=container.hostname or container.uuid[:12],
        ports=tuple(int(port.partition('/')[0]) for port in container.exposed_ports or ()),
        runtime=container.runtime or CONF.container_runtime,
        command=tuple(container.command or ('sh',)), entrypoint=tuple(container.entrypoint or ()),
        generation=workload.generation, operation=workload.operation, host=host)


def _now() -> ty.Any:
    return timeutils.utcnow().replace(microsecond=0)
