# SPDX-License-Identifier: Apache-2.0
"""The sign of life of this agent, and the lock that keeps a second one away.

It is given only while the agent can do its work: its start is over, its RPC server consumes and its
engine answers.
"""

import collections.abc
import fcntl
import os
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
import zun.conf

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

BINARY = 'zun-compute'


def lock(host: str) -> ty.IO[str]:
    """Take the lock of a host's name; it is held as long as the file is open.

    :raises ConfigInvalid: another agent of this name runs on this machine
    """
    path = os.path.join(CONF.state_path, f'{BINARY}-{host}.lock')
    try:
        os.makedirs(CONF.state_path, exist_ok=True)
        held = open(path, 'w')  # noqa: SIM115 - closed by the owner
    except OSError as error:
        raise exception.ConfigInvalid(
            error_msg=f'[DEFAULT]/state_path: {error.strerror}: {path}') from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise exception.ConfigInvalid(
            error_msg=f'Another zun-compute runs for host {host} (lock {path}).') from None
    return held


def closed(host: str) -> bool:
    """Whether an administrator keeps new containers off this host."""
    try:
        service = objects.ZunService.get_by_host_and_binary(
            zun_context.get_admin_context(), host, BINARY)
    except exception.ZunServiceNotFound:
        return False
    return bool(service.disabled or service.forced_down)


class Heartbeat:
    """
    :param ready: whether the agent takes work
    """

    def __init__(self, node: compute_node.Node,
                 ready: collections.abc.Callable[[], bool]) -> None:
        self._node = node
        self._ready = ready
        self._service: objects.ZunService | None = None
        self._silent = False

    def beat(self) -> None:
        """Report, or say once why not."""
        if not self._ready():
            return
        try:
            self._node.engine.check()
        except exception.ZunException as error:
            if not self._silent:
                LOG.error('This host is not reported up: %s', error.message)
            self._silent = True
            return
        if self._silent:
            LOG.info('This host is reported up again')
        self._silent = False
        self._report()

    def _report(self) -> None:
        context = zun_context.get_admin_context()
        if self._service is None:
            self._service = self._registered(context)
        try:
            self._service.report_state_up(context)
        except exception.ZunServiceNotFound:
            LOG.warning('The service row of this host was deleted: it is made anew')
            self._service = self._registered(context)
            self._service.report_state_up(context)

    def _registered(self, context: zun_context.RequestContext) -> 'objects.ZunService':
        """The row of this service, with the zone that is configured now."""
        zone = CONF.default_availability_zone
        try:
            service = objects.ZunService.get_by_host_and_binary(
                context, self._node.host, BINARY)
        except exception.ZunServiceNotFound:
            service = objects.ZunService(context, host=self._node.host, binary=BINARY,
                                         availability_zone=zone)
            service.create(context)
        if service.availability_zone != zone:
            service.availability_zone = zone
            service.save(context)
        return service
