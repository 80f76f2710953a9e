# SPDX-License-Identifier: Apache-2.0
"""The control layer between a real database and neighbours that tests look into."""

import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import policy
from zun.control import clients
from zun.network import native
from zun.placement import ledger as placement_ledger
from zun.placement import local
from zun.tests import neutron
from zun.tests.functional import database

HOST = 'node1'


class Nodes:
    """The bus towards the nodes.

    :ivar sent: (method, arguments without the context), in order
    :ivar answers: method -> what it answers; an exception is raised
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, tuple[ty.Any, ...], dict[str, ty.Any]]] = []
        self.answers: dict[str, ty.Any] = {}

    def __getattr__(self, method: str) -> ty.Any:
        def call(context: zun_context.RequestContext, *args: ty.Any, **kwargs: ty.Any) -> ty.Any:
            self.sent.append((method, args, kwargs))
            answer = self.answers.get(method)
            if isinstance(answer, Exception):
                raise answer
            return answer() if callable(answer) else answer
        return call


class Scheduler:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.error: exception.ZunException | None = None

    def schedule_container(self, context: zun_context.RequestContext, container_uuid: str,
                           generation: int) -> None:
        self.asked.append((container_uuid, generation))
        if self.error:
            raise self.error


class Volumes:
    """:ivar rows: id -> volume as Cinder shows it"""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, ty.Any]] = {}
        self.error: exception.ZunException | None = None

    def add(self, name: str, **values: ty.Any) -> str:
        ident = uuidutils.generate_uuid()
        self.rows[ident] = {'id': ident, 'name': name, 'attachments': [], 'multiattach': False,
                            **values}
        return ident

    def find(self, context: zun_context.RequestContext, ident: str) -> dict[str, ty.Any]:
        found = [row for row in self.rows.values() if ident in (row['id'], row['name'])]
        if not found:
            raise exception.VolumeNotFound(volume=ident)
        return found[0]

    def create(self, context: zun_context.RequestContext, size: int) -> str:
        if self.error:
            raise self.error
        return self.add(f'made-{size}', size=size)

    def delete(self, context: zun_context.RequestContext, volume_id: str) -> None:
        self.rows.pop(volume_id, None)


class Images:
    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {}

    def create(self, context: zun_context.RequestContext, name: str, tags: ty.Sequence[str],
               properties: ty.Mapping[str, str]) -> str:
        ident = uuidutils.generate_uuid()
        self.rows[ident] = (name, tuple(tags), dict(properties))
        return ident

    def delete(self, context: zun_context.RequestContext, image_id: str) -> None:
        self.rows.pop(image_id, None)


class TestCase(database.TestCase):
    """A project with one private network, and one host that is up."""

    def setUp(self) -> None:
        super().setUp()
        policy.reset()
        self.addCleanup(policy.reset)
        self.neutron = self.useFixture(neutron.Server())
        self.neutron.add('networks', 'private', project_id='project')
        self.nodes, self.scheduler = Nodes(), Scheduler()
        self.volumes, self.images = Volumes(), Images()
        self.ledger = local.LocalLedger()
        clients.use(clients.Clients(
            compute=ty.cast(ty.Any, self.nodes), scheduler=self.scheduler,
            network=native.NativeDriver(neutron=self.neutron.client), volumes=self.volumes,
            images=self.images, ledger=self.ledger))
        self.addCleanup(clients.use, None)
        self.context = self.as_user('project')
        self.administrator = self.as_user('admins', 'admin')
        self.service = self.add_host(HOST)

    def as_user(self, project: str, *roles: str) -> zun_context.RequestContext:
        """A new request of a user."""
        context = zun_context.RequestContext(
            user_id='user', project_id=project, roles=['member', *roles],
            auth_token=f'user:{project}', overwrite=False)
        context.is_admin = policy.context_is_admin(context)
        return context

    def add_host(self, host: str) -> 'objects.ZunService':
        node = objects.ComputeNode(self.admin, hostname=host)
        node.create(self.admin)
        self.ledger.report(self.ledger.ensure_provider(node.rp_uuid, host), {
            name: placement_ledger.Inventory(total=1000) for name in (
                placement_ledger.VCPU, placement_ledger.MEMORY_MB, placement_ledger.DISK_GB)})
        service = objects.ZunService(self.admin, host=host, binary='zun-compute')
        service.create(self.admin)
        return service

    def host_down(self) -> None:
        self.service.forced_down = True
        self.service.save()

    def placed(self, container: 'objects.ContainerBase', status: str = 'Running',
               host: str | None = HOST, **values: ty.Any) -> ty.Any:
        """The container as its node would have left it."""
        found = type(container).get_by_uuid(self.admin, container.uuid)
        for name, value in {'status': status, 'host': host, **values}.items():
            setattr(found, name, value)
        found.save()
        objects.ContainerRequest.finish_operation(
            self.admin, container.uuid,
            objects.ContainerRequest.get(self.admin, container.uuid).operation_id or '')
        self.nodes.sent.clear()
        return type(container).get_by_uuid(self.admin, container.uuid)

    def request(self, uuid: str) -> 'objects.ContainerRequest':
        return objects.ContainerRequest.get(self.admin, uuid)

    def actions(self, uuid: str) -> list[tuple[str, str | None]]:
        return [(action.action, action.message) for action in
                objects.ContainerAction.get_by_container_uuid(self.admin, uuid)][::-1]

    def messages(self) -> list[str]:
        return [method for method, _args, _kwargs in self.nodes.sent]
