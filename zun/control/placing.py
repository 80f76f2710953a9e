# SPDX-License-Identifier: Apache-2.0
"""What a new container or capsule is handed to the scheduler with."""

import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.control import clients
from zun.network import driver as network_driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
ACTION = 'create'


def request(context: Context, networks: list[network_driver.RequestedNetwork],
            volumes: dict[str, list[str]], **values: ty.Any) -> 'objects.ContainerRequest':
    """The request of a container, not stored yet.

    :param values: run, availability_zone, hints, requested_host
    """
    return objects.ContainerRequest(
        context, operation=ACTION, operation_args={}, operation_id=context.request_id,
        requested_networks=networks, requested_volumes=volumes, **values)


def dispatch(context: Context, container: 'objects.ContainerBase',
             asked: 'objects.ContainerRequest') -> None:
    """Hand it to the scheduler. Should that fail, a reaper does it later."""
    try:
        clients.get().scheduler.schedule_container(context, container.uuid, asked.generation)
    except exception.ZunException as error:
        LOG.warning('Container %s waits to be scheduled: %s', container.uuid, error.message)


def check_host(context: Context, host: str | None) -> None:
    """:raises RequestedHostNotFound: there is no such host"""
    if not host:
        return
    try:
        objects.ComputeNode.get_by_name(context, host)
    except exception.ComputeNodeNotFound:
        raise exception.RequestedHostNotFound(host=host) from None
