# SPDX-License-Identifier: Apache-2.0
"""What a container can mount."""

import abc
import typing as ty

from stevedore import enabled

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.container import driver as container_driver

CONF = zun.conf.CONF
NAMESPACE = 'zun.volume.driver'


class VolumeDriver(abc.ABC):
    """One provider. Every step is idempotent and findable by the mapping's volume uuid."""

    @abc.abstractmethod
    def attach(self, context: zun_context.RequestContext,
               mapping: 'objects.VolumeMapping') -> container_driver.Mount:
        """Make it visible on this host; what the engine has to mount."""

    @abc.abstractmethod
    def detach(self, context: zun_context.RequestContext,
               mapping: 'objects.VolumeMapping') -> None:
        """Undo attach; nothing there is success."""

    def wait_available(self, context: zun_context.RequestContext,
                       mapping: 'objects.VolumeMapping') -> None:
        """Wait until it can be attached."""


def load() -> dict[str, VolumeDriver]:
    """The drivers of ``[volume]/driver_list`` by name; one that is not installed is left out."""
    found: ty.Any = enabled.EnabledExtensionManager(
        NAMESPACE, lambda extension: extension.name in CONF.volume.driver_list,
        invoke_on_load=True)
    return {extension.name: extension.obj for extension in found}


def select(drivers: dict[str, ty.Any], mapping: 'objects.VolumeMapping') -> VolumeDriver:
    """The driver of a mapping.

    :raises OperationNotSupported: this host has none of that provider
    """
    if mapping.volume_provider not in drivers:
        raise exception.OperationNotSupported(
            driver=f'Volume driver {mapping.volume_provider}', method='this host')
    return drivers[mapping.volume_provider]
