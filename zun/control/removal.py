# SPDX-License-Identifier: Apache-2.0
"""Removal of containers and capsules that no node takes part in."""

import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.control import attachments
from zun.control import clients
from zun.control import storage
from zun.network import driver as network_driver

LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext


def remove(context: Context, container: 'objects.ContainerBase', anyway: bool = False,
           members: ty.Sequence[str] = ()) -> None:
    """Remove the row, and give back the container's ports, volumes and allocation.

    The allocation comes last: a scheduler that is at work on the container fails to find the row,
    or was before it.

    :param anyway: ports that cannot be given back do not keep it
    :param members: uuids of the members of a capsule
    """
    request = objects.ContainerRequest.get(context, container.uuid)
    volumes = storage.made_for(context.elevated(), [container.uuid, *members])
    try:
        _give_back(context, container, request)
    except exception.ZunException as error:
        if not anyway:
            raise
        LOG.warning('Ports of container %s are left behind: %s', container.uuid, error.message)
    container.destroy(context)
    for volume in volumes:
        storage.remove(context, volume)
    try:
        clients.get().ledger.release(container.uuid)
    except exception.ZunException as error:
        LOG.warning('The allocation of container %s waits for the audit: %s', container.uuid,
                    error.message)


def _give_back(context: Context, container: 'objects.ContainerBase',
               request: 'objects.ContainerRequest') -> None:
    network = clients.get().network
    network.disclaim(context, container.uuid, attachments.brought(container, request))
    network.release(context, container.uuid)


def disclaim(context: Context, container_uuid: str,
             requested: list[network_driver.RequestedNetwork]) -> None:
    """Give claimed ports back after a failure, which is the one to be told."""
    try:
        clients.get().network.disclaim(context, container_uuid, requested)
    except exception.ZunException as error:
        LOG.warning('Ports claimed for container %s are left behind: %s', container_uuid,
                    error.message)
