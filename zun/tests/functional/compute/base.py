# SPDX-License-Identifier: Apache-2.0
"""A node on a real database, with the engine in memory or with Docker."""

import dataclasses
import functools
import os
import typing as ty

import fixtures
from oslo_messaging import conffixture
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import operations
from zun.compute import recovery
from zun.compute import resources
from zun.compute import sync
from zun.container import driver as container_driver
from zun.db import embedded_networks
from zun.network import blocks
from zun.network import driver as network_driver
from zun.placement import amounts
from zun.placement import ledger
from zun.tests import base
from zun.tests import database
from zun.tests.functional import engine as real

#: Tests of several processes may share one engine.
HOST = f'node-{os.getpid()}'

__all__ = ['HOST', 'NodeTestCase', 'Quick', 'Scheduler', 'compute_node',
           'container_driver', 'dataclasses', 'network_driver_addresses',
           'operations', 'resources']

network_driver_addresses = embedded_networks.addresses_of


class Scheduler:
    """:ivar asked: (uuid, generation), in order"""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def schedule_container(self, context: zun_context.RequestContext, container_uuid: str,
                           generation: int) -> None:
        self.asked.append((container_uuid, generation))


class Quick(fixtures.MonkeyPatch):
    """A pause of a module is shorter in a test."""

    def __init__(self, module: ty.Any, name: str, seconds: float) -> None:
        super().__init__(f'{module.__name__}.{name}', seconds)


class NodeTestCase(base.TestCase):
    """The node is built, its pools and timer run; nothing listens to the engine or to the bus.

    :cvar driver: container driver
    :ivar context: of a user's request
    """

    driver = 'fake'
    context: zun_context.RequestContext

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(self.database())
        self.useFixture(conffixture.ConfFixture(self.CONF)).transport_url = 'fake:/'
        state = self.useFixture(fixtures.TempDir()).path
        self.config(host=HOST, container_driver=self.driver, state_path=state,
                    image_driver_list=['docker'], default_disk=0)
        self.config(group='volume', driver_list=['local'])
        self.config(group='network', driver='embedded')
        self.config(group='scheduler', ledger='local')
        if self.driver == 'docker':
            self.docker = self.useFixture(real.Engine())
            self.config(group='docker', api_url=real.URL)
            octet = os.getpid() % 200
            self.config(group='embedded_network', address_pool=f'10.9{octet % 10}.{octet}.0/24',
                        subnet_prefix=26)
            self.addCleanup(self._remove_networks)
        self.admin = zun_context.get_admin_context()
        self.scheduler = Scheduler()
        self.node = self.build()
        self.tracker = resources.Tracker(self.node)
        self.tracker.refresh()
        self.context = self.request()

    def _remove_networks(self) -> None:
        for row in objects.ZunNetwork.list(self.admin, filters={'host': HOST}):
            self.docker.api.remove_network(blocks.engine_name(row.uuid))

    def build(self) -> compute_node.Node:
        """A node as after a start of the agent; a former one gets no more work."""
        node = compute_node.build(self.scheduler)
        node.resume = functools.partial(recovery.resume, node)
        node.look = functools.partial(sync.observe, node)
        node.timer.start()
        self.addCleanup(node.lifecycle.shutdown, 5)
        self.addCleanup(node.pulls.shutdown, 5)
        self.addCleanup(node.timer.stop)
        return node

    def restart(self) -> None:
        """The agent is started anew; the engine in memory lives on."""
        engine, old = self.node.engine, self.node
        old.timer.stop()
        self.node = self.build()
        self.node.offer, self.node.provider = old.offer, old.provider
        if self.driver == 'fake':
            self.node.engine = self.node.capsules = engine
            self.node.network = network_driver.load(engine=engine)

    @staticmethod
    def database() -> fixtures.Fixture:
        """The database of a test."""
        return database.SqliteDatabase()

    @staticmethod
    def request() -> zun_context.RequestContext:
        """The context of a new request."""
        return zun_context.RequestContext(
            user_id='user', project_id='project', roles=['member'], overwrite=False)

    @property
    def engine(self) -> ty.Any:
        return self.node.engine

    # Rows as the API and the scheduler leave them ------------------------------------------------

    def placed(self, run: bool = True, networks: list[ty.Any] | None = None,
               host: str | None = HOST, **columns: ty.Any) -> 'objects.Container':
        """A container that waits on this host for its create, with its allocation."""
        if networks is None:
            networks = self.node.network.resolve(self.context, [])
        container = objects.Container(self.context, **{
            'uuid': uuidutils.generate_uuid(), 'name': 'test', 'project_id': 'project',
            'user_id': 'user', 'image': real.IMAGE, 'image_pull_policy': 'ifnotpresent',
            'image_driver': 'docker', 'cpu': 0.1, 'memory': '32', 'disk': 0,
            'command': real.FOREVER, 'entrypoint': [], 'environment': {}, 'labels': {},
            'restart_policy': {},
            'healthcheck': {}, 'exposed_ports': {}, 'auto_remove': False, 'auto_heal': False,
            'interactive': False, 'tty': False, 'privileged': False,
            'status': states.CREATING, 'host': host, **columns})
        asked = objects.ContainerRequest(
            self.context, operation='create', operation_args={}, run=run,
            operation_id=self.context.request_id, requested_networks=networks)
        container.create(self.context, request=asked, action='create')
        if self.driver == 'docker':
            self.addCleanup(self.docker.remove, f'zun-{container.uuid}')
            self.addCleanup(self.docker.remove, f'zun-{container.uuid}-old')
        if host == HOST:
            self.allocate(container)
        return container

    def allocate(self, container: 'objects.Container') -> None:
        wanted = amounts.of_container(container)
        self.assertTrue(self.node.ledger.claim(
            ledger.Consumer(container.uuid, 'project', 'user'),
            ledger.Candidate(self.node.provider, {self.node.provider: wanted}, {}, {})))

    def accept(self, container: 'objects.Container', operation: str, status: str | None = None,
               **args: ty.Any) -> zun_context.RequestContext:
        """Record an operation as the API does."""
        context = self.request()
        action = states.ACTIONS[operation]
        objects.ContainerRequest.record(
            context, container.uuid, operation, args, status=status,
            action=operation if action.recorded else None)
        return context

    # Doing, and looking --------------------------------------------------------------------------

    def run_operation(self, container: 'objects.Container', operation: str,
                      status: str | None = None, **args: ty.Any) -> 'objects.Container':
        """Accept an operation, send it and wait for its end."""
        context = self.accept(container, operation, status, **args)
        operations.submit(self.node, context, container.uuid, operation, **args)
        return self.settled(container)

    def created(self, run: bool = True, **columns: ty.Any) -> 'objects.Container':
        """A container whose create has ended."""
        container = self.placed(run, **columns)
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        return self.settled(container)

    def settled(self, container: 'objects.Container') -> ty.Any:
        """The row once the node is idle; None when it is gone."""
        real.wait_for('the node to be idle', lambda: not self.node.busy(container.uuid))
        return self.row(container)

    def row(self, container: 'objects.Container') -> ty.Any:
        found = objects.Container.list(self.admin, filters={'uuid': container.uuid})
        return found[0] if found else None

    def asked(self, container: 'objects.Container') -> 'objects.ContainerRequest':
        return objects.ContainerRequest.get(self.admin, container.uuid)

    def actions(self, container: 'objects.Container') -> list[tuple[str, str | None, bool]]:
        """(action, message, finished), oldest first."""
        found = objects.ContainerAction.get_by_container_uuid(self.admin, container.uuid)
        return [(a.action, a.message, a.finish_time is not None) for a in reversed(found)]

    def events(self, container: 'objects.Container') -> list[tuple[str, str | None]]:
        """(event, result) of all actions, oldest first."""
        found = objects.ContainerAction.get_by_container_uuid(self.admin, container.uuid)
        return [(event.event, event.result) for action in reversed(found)
                for event in reversed(objects.ContainerActionEvent.get_by_action(
                    self.admin, action.id))]

    def held(self, container: 'objects.Container') -> dict[str, ty.Any]:
        """Its allocation."""
        return self.node.ledger.held(container.uuid)

    def observe(self, container: 'objects.Container', after_gap: bool = False) -> ty.Any:
        sync.observe(self.node, container.uuid, after_gap)
        return self.settled(container)

    def assert_closed(self, container: 'objects.Container') -> None:
        """Nothing is open: no task, no operation, no action or event without end."""
        row, asked = self.row(container), self.asked(container)
        self.assertEqual((None, None), (row.task_state, asked.operation))
        self.assertEqual([], [a for a in self.actions(container) if not a[2]])
        self.assertEqual([], [e for e in self.events(container) if e[1] is None])
