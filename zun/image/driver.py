# SPDX-License-Identifier: Apache-2.0
"""Where images come from."""

import abc
import dataclasses
import typing as ty

from stevedore import enabled

from zun.common import context as zun_context
from zun.common import exception
import zun.conf

if ty.TYPE_CHECKING:
    from zun import objects
    from zun.container import driver as container_driver

CONF = zun.conf.CONF
NAMESPACE = 'zun.image.driver'


@dataclasses.dataclass(frozen=True)
class Wanted:
    """An image as a container names it.

    :ivar policy: never, always or ifnotpresent; None: always
    """

    reference: str
    policy: str | None = None
    registry: 'objects.Registry | None' = None


class ImageDriver(abc.ABC):
    """One kind of source."""

    @abc.abstractmethod
    def fetch(self, context: zun_context.RequestContext,
              engine: 'container_driver.ContainerDriver', wanted: Wanted) -> str:
        """Bring an image into the engine, as its pull policy says; the engine's id of it.

        One pull per node and image serves all that wait for it.

        :raises ImageNotFound: there is none, or the policy forbids to fetch it
        """

    @abc.abstractmethod
    def search(self, context: zun_context.RequestContext,
               engine: 'container_driver.ContainerDriver', name: str,
               exact_match: bool) -> list[dict[str, ty.Any]]:
        """Images of that name. :raises OperationNotSupported: this source cannot be searched"""


def load() -> dict[str, ImageDriver]:
    """The drivers of ``image_driver_list`` by name; one that is not installed is left out."""
    found: ty.Any = enabled.EnabledExtensionManager(
        NAMESPACE, lambda extension: extension.name in CONF.image_driver_list,
        invoke_on_load=True)
    return {extension.name: extension.obj for extension in found}


def select(drivers: dict[str, ImageDriver], name: str | None) -> ImageDriver:
    """The driver of a container.

    :raises OperationNotSupported: this host has none of that name
    """
    name = name or CONF.default_image_driver
    if name not in drivers:
        raise exception.OperationNotSupported(driver=f'Image driver {name}', method='this host')
    return drivers[name]
