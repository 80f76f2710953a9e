# SPDX-License-Identifier: Apache-2.0
"""Volumes of new containers: found or made before the container is, undone when it is not."""

import collections.abc
import contextlib
import dataclasses
import typing as ty

from oslo_log import log as logging
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import clients
from zun.control import mounts

LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
Mounted = tuple['objects.Volume', list['objects.VolumeMapping']]

_OWNER = 'os-vol-tenant-attr:tenant_id'


@dataclasses.dataclass
class Disk:
    """A volume of a request.

    :ivar places: (uuid of a container, path in it)
    :ivar cinder_id: of an existing volume
    :ivar size: GiB of one to be made
    :ivar contents: base64 text of a file
    :ivar auto_remove: it goes with the container
    """

    places: list[tuple[str, str]]
    cinder_id: str | None = None
    size: int | None = None
    contents: str | None = None
    auto_remove: bool = False


def find(context: Context, container_uuid: str,
         wanted: collections.abc.Sequence[mounts.Mount]) -> list[Disk]:
    """The volumes of a container; those that exist are looked up.

    :raises VolumeNotFound, Conflict, VolumeNotUsable, VolumeInUse
    """
    return [_disk(context, container_uuid, mount) for mount in wanted]


def _disk(context: Context, container_uuid: str, mount: mounts.Mount) -> Disk:
    disk = Disk([(container_uuid, mount.destination)])
    if mount.provider == mounts.LOCAL:
        disk.contents = mount.source
    elif mount.source:
        disk.cinder_id = existing(context, mount.source)
    else:
        disk.size = mount.size
        disk.auto_remove = True
    return disk


def existing(context: Context, ident: str) -> str:
    """The id of a volume that a container of the caller can have.

    :raises VolumeNotFound, Conflict, VolumeNotUsable, VolumeInUse
    """
    volume = clients.get().volumes.find(context, ident)
    check_usable(volume, context.project_id)
    return volume['id']


def check_usable(volume: dict[str, ty.Any], project_id: str | None) -> None:
    """:raises VolumeNotUsable: of another project
    :raises VolumeInUse: attached, and only to be attached once
    """
    if volume.get(_OWNER, project_id) != project_id:
        raise exception.VolumeNotUsable(volume=volume['id'])
    if volume.get('attachments') and not volume.get('multiattach'):
        raise exception.VolumeInUse(volume=volume['id'])


def make(context: Context, disks: collections.abc.Iterable[Disk],
         undo: contextlib.ExitStack) -> None:
    """Make the volumes that do not exist yet.

    :param undo: gets what removes them again
    :raises VolumeCreateFailed
    """
    for disk in disks:
        if disk.size is not None:
            disk.cinder_id = clients.get().volumes.create(context, disk.size)
            undo.callback(remove, context, disk.cinder_id)


def remove(context: Context, cinder_id: str) -> None:
    """Remove a volume that nothing uses any more; a failure is told to the log."""
    try:
        clients.get().volumes.delete(context, cinder_id)
    except exception.ZunException as error:
        LOG.warning('Volume %s is left behind: %s', cinder_id, error.message)


def rows(context: Context, disks: collections.abc.Iterable[Disk]) -> list[Mounted]:
    """Volumes with their mappings, to be stored with the container."""
    owner = {'project_id': context.project_id, 'user_id': context.user_id}
    return [(
        objects.Volume(
            context, uuid=uuidutils.generate_uuid(), cinder_volume_id=disk.cinder_id,
            volume_provider=mounts.CINDER if disk.cinder_id else mounts.LOCAL,
            contents=disk.contents, auto_remove=disk.auto_remove, **owner),
        [objects.VolumeMapping(
            context, uuid=uuidutils.generate_uuid(), container_uuid=container_uuid,
            container_path=path, **owner) for container_uuid, path in disk.places],
    ) for disk in disks]


def requested(mounted: collections.abc.Iterable[Mounted]) -> dict[str, list[str]]:
    """uuid of a container -> uuids of its mappings, as container_request keeps it."""
    found: dict[str, list[str]] = {}
    for _volume, mappings in mounted:
        for mapping in mappings:
            found.setdefault(mapping.container_uuid, []).append(mapping.uuid)
    return found


def made_for(context: Context, uuids: collections.abc.Sequence[str]) -> list[str]:
    """The volumes of containers that go with them."""
    mappings = objects.VolumeMapping.list(context, filters={'container_uuid': list(uuids)})
    return sorted({mapping.cinder_volume_id for mapping in mappings
                   if mapping.auto_remove and mapping.cinder_volume_id})
