# SPDX-License-Identifier: Apache-2.0
"""What a container mounts: attach before it is made or started, detach when it is gone."""

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
from zun.compute import task
from zun.container import driver as container_driver
from zun.volume import driver as volume_driver

LOG = logging.getLogger(__name__)

_MEMBERS = (objects.CapsuleInitContainer, objects.CapsuleContainer)


def attach(job: task.Job) -> list[container_driver.Mount]:
    """Make all volumes of a container visible on this host; what is attached already stays.

    :raises VolumeNotUsable: no driver of this host knows the provider, or it fails
    """
    return attach_all(job).get(job.uuid, [])


def attach_all(job: task.Job) -> dict[str, list[container_driver.Mount]]:
    """As :func:`attach`, for a capsule's members as well, by uuid."""
    mounts: dict[str, list[container_driver.Mount]] = {}
    for mapping in _mappings(job):
        driver = volume_driver.select(job.node.volumes, mapping)
        driver.wait_available(job.context, mapping)
        mounts.setdefault(mapping.container_uuid, []).append(driver.attach(job.context, mapping))
    return mounts


def detach(job: task.Job) -> None:
    """Undo attach, as far as a driver of this host has a part in it; all are tried.

    :raises ZunException: of the first that failed
    """
    failed = None
    for mapping in _mappings(job):
        try:
            volume_driver.select(job.node.volumes, mapping).detach(job.context, mapping)
        except exception.ZunException as error:
            failed = failed or error
    if failed is not None:
        raise failed


def remount(node: compute_node.Node) -> None:
    """Attach what the containers of this host mount, after the host was down."""
    context = zun_context.get_admin_context()
    own = [container.uuid for kind in (objects.Container, *_MEMBERS)
           for container in kind.list_by_host(context, node.host)]
    for mapping in objects.VolumeMapping.list(context, filters={'container_uuid': own}):
        try:
            volume_driver.select(node.volumes, mapping).attach(context, mapping)
        except exception.ZunException as error:
            LOG.error('Container %s: %s cannot be mounted: %s', mapping.container_uuid,
                      mapping.container_path, error.message)


def _mappings(job: task.Job) -> 'list[objects.VolumeMapping]':
    asked = job.request
    if asked.requested_networks and not asked.requested_volumes:
        return []  # without networks it is a container from before there were requests
    if not isinstance(job.container, objects.Capsule):
        return objects.VolumeMapping.list_by_container(job.context, job.uuid)
    uuids = [member.uuid for member in (*job.container.init_containers, *job.container.containers)]
    return objects.VolumeMapping.list(job.context, filters={'container_uuid': uuids})
