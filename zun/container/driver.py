# SPDX-License-Identifier: Apache-2.0
"""What an engine can do for a container.

Drivers are loaded by stevedore (``zun.container.driver``) and built once, in a service's start.
They keep no state: everything is findable by the container's uuid. Errors are raised as

* EngineGone: the engine is well and knows no such container
* Conflict: its state refuses the call
* Invalid: a parameter is refused
* NotFound: a path or image inside the call is missing
* EngineUnavailable: unreachable, hanging or 5xx; the result of the call is unknown
* DiskFull: one of these, where a disk of the engine is full
"""

import abc
import collections.abc
import dataclasses
import datetime
import typing as ty

from stevedore import driver as stevedore_driver
from stevedore import exception as exceptions

from zun import objects
from zun.common import exception
from zun.common import transfers
import zun.conf
from zun.container import streams
from zun.network import driver as network_driver

CONF = zun.conf.CONF
NAMESPACE = 'zun.container.driver'
_LEGACY_NAMES = {'docker.driver.DockerDriver': 'docker',
                 'zun.container.docker.driver.DockerDriver': 'docker'}


@dataclasses.dataclass(frozen=True)
class Mount:
    """A file or directory of the host that the container sees."""

    source: str
    destination: str
    read_only: bool = False


@dataclasses.dataclass(frozen=True)
class Workload:
    """All that the engine needs to make one container.

    :ivar image: the engine's id of the image that was pulled
    :ivar generation: of the container_request; kept with the engine's container
    :ivar operation: id of the request that makes it; tells an adopted container from an old one
    :ivar cpus: numbers of the CPUs that it shares with others; empty: all. A container's own
        cpuset goes before.
    """

    container: 'objects.Container'
    image: str
    attachments: collections.abc.Sequence[network_driver.Attachment] = ()
    mounts: collections.abc.Sequence[Mount] = ()
    generation: int = 0
    operation: str = ''
    cpus: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True)
class Observed:
    """The engine's view of one container, in our terms.

    :ivar status: by the rules of the state mapping; None: leave the row's status as it is
    :ivar exit_code: of the last run, None while it runs or never ran
    :ivar operation: as given in the Workload, '' for an imported container
    """

    uuid: str
    engine_id: str
    status: str | None
    status_reason: str | None = None
    status_detail: str | None = None
    started_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None
    exit_code: int | None = None
    health: str | None = None
    hostname: str | None = None
    ports: tuple[int, ...] = ()
    runtime: str | None = None
    command: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    generation: int = 0
    operation: str = ''
    host: str | None = None
    running: bool = False


@dataclasses.dataclass(frozen=True)
class Event:
    """Something happened to a container of ours.

    :ivar kind: ``changed`` or ``gone``
    :ivar time: of the engine's clock, seconds since the epoch
    :ivar host: for which it was made; None: unknown
    """

    uuid: str
    kind: str
    time: float
    host: str | None = None


@dataclasses.dataclass(frozen=True)
class HostInfo:
    """What the engine says of its host. memory in MiB, disk in GiB."""

    name: str
    cpus: int
    memory: int
    disk: int
    total_containers: int
    running_containers: int
    paused_containers: int
    stopped_containers: int
    architecture: str
    os_type: str
    os: str
    kernel_version: str
    labels: dict[str, str]
    runtimes: tuple[str, ...]
    disk_quota_supported: bool


@dataclasses.dataclass(frozen=True)
class LocalImage:
    """An image that the engine holds.

    :ivar names: to remove it by; none: by its id
    :ivar size: bytes
    :ivar used: a container is made of it, ours or not
    """

    image_id: str
    names: tuple[str, ...]
    size: int
    used: bool


class ContainerDriver(abc.ABC):
    """One engine. Every call ends within its own time limit."""

    @abc.abstractmethod
    def check(self) -> str:
        """Name and version of the engine, for the log.

        :raises ConfigInvalid: it is of a version that cannot be worked with
        :raises EngineUnavailable: it does not answer
        """

    @abc.abstractmethod
    def host_info(self) -> HostInfo:
        """Capacity of the host."""

    @abc.abstractmethod
    def create(self, workload: Workload) -> None:
        """Make it, not started. An equal one of the same operation is adopted."""

    @abc.abstractmethod
    def start(self, container: 'objects.Container') -> Observed:
        ...

    @abc.abstractmethod
    def stop(self, container: 'objects.Container', timeout: int | None) -> Observed:
        """:param timeout: seconds before it is killed; None: the image's own, else 10"""

    @abc.abstractmethod
    def reboot(self, container: 'objects.Container', timeout: int | None) -> Observed:
        ...

    @abc.abstractmethod
    def pause(self, container: 'objects.Container') -> Observed:
        ...

    @abc.abstractmethod
    def unpause(self, container: 'objects.Container') -> Observed:
        ...

    @abc.abstractmethod
    def kill(self, container: 'objects.Container', signal: str | None) -> Observed:
        """:param signal: None: SIGKILL"""

    @abc.abstractmethod
    def delete(self, uuid: str) -> None:
        """Kill and remove it with its anonymous volumes, and wait until it is gone.

        One that is not there is success.
        """

    @abc.abstractmethod
    def set_aside(self, uuid: str, name: str) -> bool:
        """Rename it, so that its successor can be made; False when there is none."""

    @abc.abstractmethod
    def restore(self, uuid: str, name: str) -> bool:
        """Undo set_aside: the successor is removed."""

    @abc.abstractmethod
    def discard(self, name: str) -> None:
        """Remove what was set aside; nothing there is success."""

    @abc.abstractmethod
    def update(self, container: 'objects.Container', cpu: float, memory: int) -> Observed:
        """Change the limits: cpu in vCPU, memory in MiB."""

    @abc.abstractmethod
    def confine(self, uuid: str, cpus: collections.abc.Collection[int]) -> None:
        """Run it on these CPUs only. :raises EngineGone: the engine has no such container"""

    @abc.abstractmethod
    def inspect(self, container: 'objects.Container') -> Observed:
        """:raises EngineGone: the engine has no such container"""

    @abc.abstractmethod
    def list(self) -> dict[str, Observed]:
        """All containers of ours by uuid, from one call; fields a listing lacks are unset."""

    @abc.abstractmethod
    def events(self, since: float) -> ty.ContextManager[collections.abc.Iterator[Event]]:
        """The stream of events from ``since`` (seconds since the epoch) on.

        It ends when the engine goes away. Leaving the context from another thread ends it too.
        """

    @abc.abstractmethod
    def logs(self, container: 'objects.Container', stdout: bool, stderr: bool, timestamps: bool,
             tail: int | None, since: str | None, into: ty.IO[bytes]) -> None:
        """Write what it printed as UTF-8: at most ``[docker]/max_log_bytes``, the newest kept."""

    @abc.abstractmethod
    def execute(self, container: 'objects.Container', command: str) -> tuple[str, int]:
        """Run a command to its end: its output and exit code.

        :raises Conflict: not ended within ``[docker]/execute_timeout`` seconds; it was killed
        """

    @abc.abstractmethod
    def resize(self, container: 'objects.Container', height: int, width: int) -> None:
        """Size of its terminal in rows and columns."""

    @abc.abstractmethod
    def top(self, container: 'objects.Container', ps_args: str | None) -> dict[str, ty.Any]:
        """:returns: ``{'Titles': [...], 'Processes': [[...]]}``"""

    @abc.abstractmethod
    def stats(self, container: 'objects.Container') -> dict[str, ty.Any]:
        """One sample of its use of resources."""

    @abc.abstractmethod
    def get_archive(self, container: 'objects.Container', path: str,
                    into: ty.IO[bytes]) -> dict[str, ty.Any]:
        """Write a path as a tar; its stat.

        :raises NotFound: no such path
        :raises RequestTooLarge: larger than ``[docker]/max_archive_bytes``
        """

    @abc.abstractmethod
    def put_archive(self, container: 'objects.Container', path: str,
                    data: ty.IO[bytes] | bytes) -> None:
        """Extract a tar into a directory."""

    def streams(self) -> streams.Streams:
        """What opens consoles."""
        raise exception.OperationNotSupported(driver=type(self).__name__, method='consoles')

    # Networks of the engine's own, for drivers that use them -------------------------------------

    def create_network(self, network: network_driver.EngineNetwork) -> str:
        """Make a bridge network, or find the one of that name; its id."""
        raise exception.OperationNotSupported(driver=type(self).__name__, method='networks')

    def network_blocks(self) -> ty.Sequence[str]:
        """Address blocks of all networks of the engine, as CIDRs, also those that are not ours."""
        raise exception.OperationNotSupported(driver=type(self).__name__, method='networks')

    def remove_network(self, name: str) -> None:
        """:raises Conflict: a container is still attached"""
        raise exception.OperationNotSupported(driver=type(self).__name__, method='networks')

    def connect(self, container: 'objects.Container',
                attachment: network_driver.Attachment) -> None:
        raise exception.OperationNotSupported(driver=type(self).__name__, method='networks')

    def disconnect(self, container: 'objects.Container', name: str) -> None:
        """One that is not connected is success."""
        raise exception.OperationNotSupported(driver=type(self).__name__, method='networks')

    # Images of the engine -------------------------------------------------------------------------

    @abc.abstractmethod
    def find_image(self, reference: str) -> str | None:
        """Id of a local image by name or id; None when it is not there."""

    @abc.abstractmethod
    def pull_image(self, name: str, tag: str, username: str | None = None,
                   password: str | None = None,
                   transfer: transfers.Transfer | None = None) -> str:
        """Fetch an image and return its id.

        :param transfer: gets how far it is, and may be cancelled
        :raises ImageNotFound: the registry has none of this name, or it needs credentials
        """

    @abc.abstractmethod
    def check_image(self, image: str) -> None:
        """See that containers of an image can run here.

        :raises Invalid: it is for another operating system or architecture
        """

    @abc.abstractmethod
    def image_info(self, reference: str) -> dict[str, ty.Any]:
        """:returns: ``{'image_id', 'size'}``, size in bytes"""

    @abc.abstractmethod
    def remove_image(self, reference: str) -> None:
        """:raises Conflict: a container uses it"""

    @abc.abstractmethod
    def list_images(self) -> collections.abc.Sequence[LocalImage]:
        """All that the engine holds."""

    @abc.abstractmethod
    def disk_use(self) -> float | None:
        """Percentage of use of the disk that holds the images; None: it cannot be told."""

    @abc.abstractmethod
    def commit(self, container: 'objects.Container', repository: str, tag: str) -> str:
        """Make an image of a container, which does not run meanwhile; the image's id."""

    @abc.abstractmethod
    def save_image(self, reference: str) -> ty.ContextManager[collections.abc.Iterator[bytes]]:
        """The tar of an image in chunks, as it comes.

        :raises ImageNotFound: it is not there
        """

    @abc.abstractmethod
    def load_image(self, chunks: collections.abc.Iterable[bytes], repository: str,
                   tag: str) -> str:
        """Take the tar of one image and give it this name; the image's id.

        :raises Invalid: it cannot be read
        """

    @abc.abstractmethod
    def search_images(self, term: str) -> collections.abc.Sequence[dict[str, ty.Any]]:
        """:raises OperationNotSupported: the registry cannot be searched"""


def load() -> ContainerDriver:
    """The configured driver.

    :raises ConfigInvalid: there is none of that name
    """
    name = _LEGACY_NAMES.get(CONF.container_driver, CONF.container_driver)
    try:
        found: ty.Any = stevedore_driver.DriverManager(NAMESPACE, name, invoke_on_load=True).driver
        return found
    except exceptions.NoMatches:
        raise exception.ConfigInvalid(
            error_msg=f'[DEFAULT]/container_driver: no driver {name!r}') from None
