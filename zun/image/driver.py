# SPDX-License-Identifier: Apache-2.0
"""Where images come from."""

import abc
import collections.abc
import dataclasses
import typing as ty

from stevedore import enabled

from zun.common import context as zun_context
from zun.common import exception
from zun.common import transfers
import zun.conf

if ty.TYPE_CHECKING:
    from zun import objects
    from zun.container import driver as container_driver

CONF = zun.conf.CONF
NAMESPACE = 'zun.image.driver'

NEVER = 'never'
ALWAYS = 'always'
IF_NOT_PRESENT = 'ifnotpresent'


@dataclasses.dataclass(frozen=True)
class Wanted:
    """An image as a container names it.

    :ivar policy: never, always or ifnotpresent; None: ``[compute]/default_image_pull_policy``
    :ivar project: that must be allowed to see it; None: an administrator asks
    """

    reference: str
    policy: str | None = None
    registry: 'objects.Registry | None' = None
    project: str | None = None


@dataclasses.dataclass(frozen=True)
class Fetch:
    """What has to be done to have an image in the engine.

    :ivar key: equal ones need to be done only once
    :ivar work: does it, watched as a transfer, and answers the engine's id of the image
    """

    key: collections.abc.Hashable
    work: collections.abc.Callable[[transfers.Transfer], str] = dataclasses.field(
        compare=False, repr=False)


class ImageDriver(abc.ABC):
    """One kind of source."""

    @abc.abstractmethod
    def plan(self, context: zun_context.RequestContext,
             engine: 'container_driver.ContainerDriver', wanted: Wanted) -> str | Fetch:
        """What the pull policy asks for: nothing more than the engine's id, or a fetch.

        It is quick; the fetch need not be.

        :raises ImageNotFound: there is none, or the policy forbids to fetch it
        """

    @abc.abstractmethod
    def local_names(self, engine: 'container_driver.ContainerDriver',
                    reference: str) -> list[str]:
        """The names that a fetched image has in the engine."""

    @abc.abstractmethod
    def search(self, context: zun_context.RequestContext,
               engine: 'container_driver.ContainerDriver', name: str,
               exact_match: bool) -> list[dict[str, ty.Any]]:
        """Images of that name. :raises OperationNotSupported: this source cannot be searched"""


def policy_of(wanted: Wanted) -> str:
    """The policy that holds."""
    return wanted.policy or CONF.compute.default_image_pull_policy


def should_pull(policy: str | None, present: bool) -> bool:
    """Whether the source is asked for the image. A policy that does not exist forbids it."""
    return policy == ALWAYS or (policy == IF_NOT_PRESENT and not present)


def absent(image: object, policy: str) -> exception.ImageNotFound:
    """What to raise for an image that is not there and may not be fetched."""
    return exception.ImageNotFound(
        f'Image {image} not present with pull policy of {policy.capitalize()}.')


def load() -> dict[str, ImageDriver]:
    """The drivers of ``image_driver_list`` by name.

    :raises ConfigInvalid: there is none of a name
    """
    found: ty.Any = enabled.EnabledExtensionManager(
        NAMESPACE, lambda extension: extension.name in CONF.image_driver_list,
        invoke_on_load=True)
    drivers = {extension.name: extension.obj for extension in found}
    for name in CONF.image_driver_list:
        if name not in drivers:
            raise exception.ConfigInvalid(
                error_msg=f'[DEFAULT]/image_driver_list: no driver {name!r}')
    return drivers


def select(drivers: dict[str, ImageDriver], name: str | None) -> ImageDriver:
    """The driver of a container.

    :raises OperationNotSupported: this host has none of that name
    """
    name = name or CONF.default_image_driver
    if name not in drivers:
        raise exception.OperationNotSupported(driver=f'Image driver {name}', method='this host')
    return drivers[name]
