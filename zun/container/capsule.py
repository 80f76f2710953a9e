# SPDX-License-Identifier: Apache-2.0
"""What an engine can do for a capsule: a sandbox that holds the network, and members inside it.

Drivers are loaded by stevedore (``zun.capsule.driver``). Sandbox and members are engine containers
like others, found by the uuid of the capsule or the member; errors are those of ContainerDriver.
"""

import abc
import typing as ty

from oslo_log import log as logging
from stevedore import driver as stevedore_driver
from stevedore import exception as exceptions

import zun.conf
from zun.container import driver

if ty.TYPE_CHECKING:
    from zun import objects

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)
NAMESPACE = 'zun.capsule.driver'


class CapsuleDriver(abc.ABC):
    """One engine. Every call ends within its own time limit."""

    @abc.abstractmethod
    def sandbox_image(self) -> str | None:
        """The engine's id of the image that comes with Zun; None: not for this machine."""

    @abc.abstractmethod
    def create_sandbox(self, workload: driver.Workload) -> driver.Observed:
        """Make it, not started, with the capsule's interfaces and ports.

        An equal one of the same operation is adopted.
        """

    @abc.abstractmethod
    def create_member(self, workload: driver.Workload, capsule_uuid: str) -> driver.Observed:
        """Make a member of a capsule whose sandbox runs, not started.

        :raises EngineGone: there is no sandbox
        """

    @abc.abstractmethod
    def start(self, container: 'objects.Container') -> driver.Observed:
        ...

    @abc.abstractmethod
    def stop(self, container: 'objects.Container', timeout: int | None) -> driver.Observed:
        """:param timeout: seconds before it is killed; None: the image's own, else 10"""

    @abc.abstractmethod
    def inspect(self, container: 'objects.Container') -> driver.Observed:
        """:raises EngineGone: the engine has no such container"""

    @abc.abstractmethod
    def delete(self, uuid: str) -> None:
        """Kill and remove it; one that is not there is success."""


def load(engine: driver.ContainerDriver) -> CapsuleDriver | None:
    """The configured driver; None, and a warning, when there is none of that name.

    :param engine: the driver of containers, which may be the one of capsules as well
    """
    try:
        kind: ty.Any = stevedore_driver.DriverManager(
            NAMESPACE, CONF.capsule_driver, warn_on_missing_entrypoint=False).driver
    except exceptions.NoMatches:
        LOG.warning('This host runs no capsules: [DEFAULT]/capsule_driver: no driver %r',
                    CONF.capsule_driver)
        return None
    found: CapsuleDriver = engine if isinstance(engine, kind) else kind()
    return found
