# SPDX-License-Identifier: Apache-2.0
"""One container after the other gets a host.

Whoever works on a container has raised its request's generation before anything is claimed, and
has some time for it. Placement is no lock.
"""

import contextlib
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import pools
from zun.common import states
import zun.conf
from zun.control import handover
from zun.placement import audit
from zun.placement import ledger as placement_ledger
from zun.rpc import compute as rpc_compute
from zun.scheduler import driver
from zun.scheduler import host_state
from zun.scheduler import request

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)
Context = zun_context.RequestContext

NO_HOST = 'There are not enough hosts available.'
NO_LEDGER = 'Scheduling failed: the resource ledger is not available.'
FORBIDDEN = 'Scheduling failed: the service may not use the resource ledger.'
TIMED_OUT = 'Scheduling timed out.'
BROKEN = 'Scheduling failed unexpectedly.'

#: Seconds after which a choice of hosts is old.
_CHOICE_AGE = 10.0
_REAPED_AT_ONCE = 100


class _TakenUp(Exception):
    """Somebody else works on the container."""


class _NoHost(Exception):
    """Nothing is left to try."""

    def __init__(self, trail: list[str]) -> None:
        super().__init__('; '.join(trail))


class Manager:
    """
    :param network_release: gives the ports of a container without a host back
    :ivar auditor: to be called now and then, by whoever calls ``reap``
    """

    def __init__(self, ledger: placement_ledger.Ledger, compute_client: rpc_compute.Client,
                 network_release: handover.Disclaim | None = None) -> None:
        self._ledger = ledger
        self._compute = compute_client
        self._disclaim = network_release
        self._driver = driver.load(ledger)
        self.auditor = audit.Auditor(ledger)

    def schedule_container(self, context: Context, container_uuid: str, generation: int) -> None:
        """Find a host for a container or capsule and send it there, or end it in Error.

        Nothing is done for a container that has moved on since it was asked for.
        """
        context.update_store()
        admin = context.elevated()
        try:
            container, asked = objects.ContainerRequest.get_with_container(admin, container_uuid)
        except exception.ContainerNotFound:
            LOG.info('Container %s is gone', container_uuid)
            return
        if (asked.generation, container.status, container.host) != (
                generation, states.CREATING, None):
            LOG.info('Container %s needs no host: %s on %s, generation %d, asked for %d',
                     container_uuid, container.status, container.host, asked.generation,
                     generation)
            return
        self._end(admin, container, asked)

    def _end(self, context: Context, container: 'objects.ContainerBase',
             asked: 'objects.ContainerRequest') -> None:
        """Place a container without a host, and have every failure end in its status."""
        try:
            self._place(context, container, asked)
        except (_TakenUp, exception.ConsumerConflict):
            LOG.info('Container %s is being scheduled by somebody else', container.uuid)
        except _NoHost as error:
            before = container.status_reason
            reason = f'{NO_HOST} The last one failed: {before}' if before else NO_HOST
            self._give_up(context, container, asked, reason, str(error))
        except exception.LedgerUnavailable as error:
            reason = TIMED_OUT if error.kwargs.get('timed_out') else NO_LEDGER
            self._give_up(context, container, asked, reason, error.message)
        except exception.LedgerForbidden as error:
            self._give_up(context, container, asked, FORBIDDEN, error.message)
        except Exception as error:
            LOG.exception('Scheduling of container %s failed', container.uuid)
            handover.release(self._ledger, container.uuid)
            self._give_up(context, container, asked, BROKEN, str(error))

    def _give_up(self, context: Context, container: 'objects.ContainerBase',
                 asked: 'objects.ContainerRequest', reason: str, details: str) -> None:
        handover.give_up(context, container, asked, reason, details, self._disclaim)

    def _place(self, context: Context, container: 'objects.ContainerBase',
               asked: 'objects.ContainerRequest') -> None:
        wanted = request.build(container, asked)
        fresh = asked.generation == 0
        if not handover.take(asked, CONF.scheduler.reap_after):
            raise _TakenUp
        if not fresh:
            self._ledger.release(container.uuid)  # what a host left behind
        host = self._claim(context, wanted, asked)
        if not handover.place(asked, host.hostname, CONF.scheduler.reap_after):
            self._disown(context, container.uuid, host)
            raise _TakenUp
        LOG.info('Container %s goes to host %s', container.uuid, host.hostname)
        self._send(context, host.hostname, asked)

    def _disown(self, context: Context, container_uuid: str, host: host_state.HostState) -> None:
        """Free the claim of a container that was deleted or taken by another one meanwhile."""
        with contextlib.suppress(exception.ContainerNotFound):
            if objects.Container.get_any_type(context, container_uuid).host == host.hostname:
                return  # then the claim is that of whoever placed it
        handover.release(self._ledger, container_uuid, host.rp_uuid)

    def _claim(self, context: Context, wanted: request.Request,
               asked: 'objects.ContainerRequest') -> host_state.HostState:
        """Try hosts until one has room.

        Each look at the hosts serves for so many of them and so many seconds. None is tried twice,
        unless the ledger was not asked at first.
        """
        refused: set[str] = set()
        repeated = False
        while True:
            if repeated and not handover.take(asked, CONF.scheduler.reap_after):
                raise _TakenUp
            choice = self._driver.choose(context, wanted, refused, repeated)
            chosen_at = time.monotonic()
            LOG.debug('Hosts for container %s: %s', wanted.consumer.uuid, choice.trail)
            if not choice.hosts:
                raise _NoHost([*choice.trail, *([f'{len(refused)} filled up'] if refused else [])])
            for host in choice.hosts[:CONF.scheduler.max_attempts]:
                if not host.candidates or self._take(wanted, host):
                    return host
                if not choice.guessed:
                    refused.add(host.hostname)
                if time.monotonic() - chosen_at > _CHOICE_AGE:
                    break
            repeated = True

    def _take(self, wanted: request.Request, host: host_state.HostState) -> bool:
        """Claim what the container needs of a host; False: it has no room."""
        try:
            return any(self._ledger.claim(wanted.consumer, candidate)
                       for candidate in host.candidates)
        except exception.LedgerUnavailable:
            # It may have been granted, and the answer lost.
            handover.release(self._ledger, wanted.consumer.uuid, host.rp_uuid)
            raise

    def _send(self, context: Context, host: str, asked: 'objects.ContainerRequest') -> None:
        try:
            self._compute.container_create(context, host, asked.container_uuid, asked.generation)
        except exception.BusUnavailable as error:
            LOG.warning('Container %s cannot be sent to host %s now: %s', asked.container_uuid,
                        host, error.message)

    # Reaper -----------------------------------------------------------------------------------

    def reap(self) -> None:
        """Take up the containers at which nobody has worked for too long."""
        admin = zun_context.get_admin_context()
        due = objects.ContainerRequest.due(admin, _REAPED_AT_ONCE)
        hosts = {host.hostname: host for host in host_state.read()} if due else {}
        for asked in due:
            pools.guard(self._reap_one, admin, asked, hosts)

    def _reap_one(self, admin: Context, asked: 'objects.ContainerRequest',
                  hosts: dict[str, host_state.HostState]) -> None:
        try:
            container = objects.Container.get_any_type(admin, asked.container_uuid)
        except exception.ContainerNotFound:
            return
        context = _context_of(container, asked)
        context.update_store()
        if container.host is None:
            self._reap_homeless(context, container, asked)
        else:
            self._reap_placed(context, container, asked, hosts.get(container.host))

    def _reap_homeless(self, context: Context, container: 'objects.ContainerBase',
                       asked: 'objects.ContainerRequest') -> None:
        """Its message was lost, or who worked on it is gone: start over."""
        if handover.hopeless(asked):
            handover.release(self._ledger, container.uuid)
            self._give_up(context, container, asked, container.status_reason or NO_HOST,
                          f'{asked.attempts} attempts')
            return
        LOG.info('Container %s is scheduled again', container.uuid)
        self._end(context, container, asked)

    def _reap_placed(self, context: Context, container: 'objects.ContainerBase',
                     asked: 'objects.ContainerRequest',
                     host: host_state.HostState | None) -> None:
        """Its host has not admitted it: remind the host, or look for another one."""
        if asked.claimed:
            # The node is at it, and takes it up again by itself when it comes back.
            asked.postpone(CONF.scheduler.reap_after)
            return
        usable = host is not None and host.usable
        if usable and container.host not in (asked.excluded_hosts or ()):
            if asked.postpone(CONF.scheduler.reap_after):
                LOG.info('Host %s is told again of container %s', container.host, container.uuid)
                self._send(context, container.host, asked)
            return
        reason = f'Host {container.host} is not available.'
        left = handover.withdraw(context, asked, container.host, reason,
                                 CONF.scheduler.reap_after)
        if left is None:
            return
        if handover.hopeless(asked):
            handover.release(self._ledger, left.uuid)
            self._give_up(context, left, asked, reason, reason)
        else:
            self._end(context, left, asked)


def _context_of(container: 'objects.ContainerBase',
                asked: 'objects.ContainerRequest') -> Context:
    """The context of the request that asked for the container, with all rights."""
    return Context(is_admin=True, all_projects=True, user_id=container.user_id,
                   project_id=container.project_id, request_id=asked.operation_id,
                   overwrite=False)
