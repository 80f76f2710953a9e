# SPDX-License-Identifier: Apache-2.0
"""Hosts and containers as rows, with a node that only remembers what it was told."""

import threading

from oslo_utils import uuidutils
import sqlalchemy as sa

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.db import clock
from zun.db import engine
from zun.db import models
from zun.placement import ledger as placement_ledger

ADMIN = zun_context.get_admin_context()
Inventory = placement_ledger.Inventory


class Nodes:
    """Stands for the bus towards the nodes.

    :ivar sent: (host, container uuid, generation) of every create
    """

    def __init__(self):
        self.sent = []
        self.down = False

    def container_create(self, context, host, container_uuid, generation):
        if self.down:
            raise exception.BusUnavailable(reason='test')
        self.sent.append((host, container_uuid, generation))


class Schedulers:
    """Stands for the bus towards zun-scheduler."""

    def __init__(self):
        self.sent = []

    def schedule_container(self, context, container_uuid, generation):
        self.sent.append((container_uuid, generation))


def user(project='demo'):
    return zun_context.RequestContext(user_id='alice', project_id=project, overwrite=False)


def host(books, name, cpus=4, memory=8192, disk=100, zone=None, **values):
    """A host with node, service and inventory; its provider."""
    node = objects.ComputeNode(**{
        'hostname': name, 'cpus': cpus, 'mem_total': memory, 'mem_used': 0, 'disk_total': disk,
        'runtimes': ['runc'], 'labels': {}, **values})
    node.create(ADMIN)
    service = objects.ZunService(host=name, binary='zun-compute', availability_zone=zone)
    service.create(ADMIN)
    service.report_state_up()
    provider = books.ensure_provider(node.uuid, name)
    books.report(provider, {'VCPU': Inventory(cpus), 'MEMORY_MB': Inventory(memory),
                            'DISK_GB': Inventory(disk)})
    return provider


def container(cls=objects.Container, ctx=None, request=None, reap_after=600, **values):
    """A container that the API has just accepted: rows of it, its request and its action."""
    ctx = ctx or user()
    uuid = uuidutils.generate_uuid()
    made = cls(**{'uuid': uuid, 'name': uuid[:8], 'image': 'busybox', 'status': 'Creating',
                  'project_id': ctx.project_id, 'user_id': ctx.user_id, 'cpu': 1.0,
                  'memory': '512', 'cpu_policy': 'shared', **values})
    asked = objects.ContainerRequest(**{
        'generation': 0, 'operation': 'create', 'operation_id': ctx.request_id,
        'attempts': 0, 'claimed': False, **(request or {})})
    made.create(ctx, request=asked, action='create')
    due_in(uuid, reap_after)
    return made


def due_in(uuid, seconds):
    """Set the time from which a reaper may look at a container."""
    table = models.container_request
    with engine.writer() as session:
        session.execute(sa.update(table).where(table.c.container_uuid == uuid).values(
            retry_at=clock.utc_now(seconds)))


def seen_ago(name, seconds):
    """A service has not been heard of for so long."""
    table = models.zun_service
    with engine.writer() as session:
        session.execute(sa.update(table).where(table.c.host == name).values(
            last_seen_up=clock.utc_now(-seconds)))


def row(uuid):
    return objects.Container.get_any_type(ADMIN, uuid)


def request(uuid):
    return objects.ContainerRequest.get(ADMIN, uuid)


def together(functions):
    """Run functions in threads that begin at once; errors are raised here."""
    gate, errors = threading.Barrier(len(functions)), []

    def run(function):
        gate.wait()
        try:
            function()
        except Exception as error:  # noqa: BLE001 - the boundary of a thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
