# SPDX-License-Identifier: Apache-2.0
"""Sessions, retry, the clock."""

import collections.abc
import concurrent.futures
import contextlib
import datetime
import threading
import typing as ty

from oslo_db import exception as db_exc
from oslo_utils import uuidutils
import sqlalchemy as sa
import testscenarios

from zun import objects
from zun.common import exception
from zun.db import embedded_networks
from zun.db import engine
from zun.db import local_allocations
from zun.db import models
from zun.db import volumes
from zun.tests import base
from zun.tests import database as test_database
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios


class _Trouble:
    """Raises an error in the transactions of this process, at most a number of times."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error = error
        self.left = times

    def __call__(self, *_args: ty.Any) -> None:
        if self.left:
            self.left -= 1
            raise self.error


@contextlib.contextmanager
def trouble(error: Exception, times: int) -> collections.abc.Iterator[_Trouble]:
    """Let the commits that come next fail, which is where Galera finds conflicts."""
    raiser = _Trouble(error, times)
    sa.event.listen(sa.Engine, 'commit', raiser)
    try:
        yield raiser
    finally:
        sa.event.remove(sa.Engine, 'commit', raiser)


class TestRetry(database.TestCase):
    """Every function that writes starts over when its commit meets a deadlock."""

    def _make(self) -> tuple[ty.Any, ...]:
        node = objects.ComputeNode(hostname='node')
        node.create(self.admin)
        service = objects.ZunService(host='node', binary='zun-compute')
        service.create(self.admin)
        container = objects.Container(project_id='project', name='c')
        container.create(self.context, objects.ContainerRequest(), 'create')
        mapping = objects.VolumeMapping(container_uuid=container.uuid, project_id='project',
                                        volume_provider='local')
        mapping.create(self.context)
        image = objects.Image(repo='r')
        image.pull(self.context)
        network = objects.ZunNetwork(neutron_net_id='n')
        network.create(self.context)
        registry = objects.Registry(domain='d')
        registry.create(self.context)
        embedded_networks.get_or_create('net', '10.0.0.0/16', 24, None)
        local_allocations.register(node.rp_uuid, 'node')
        local_allocations.offer(node.rp_uuid, {'vcpu': 1})
        return container, mapping, node, service, image, network, registry

    def _creates(self, container: objects.Container, mapping: objects.VolumeMapping,
                 node: objects.ComputeNode) -> dict[str, collections.abc.Callable[[], ty.Any]]:
        context, admin = self.context, self.admin
        return {
            'container': lambda: objects.Container(project_id='project').create(
                context, objects.ContainerRequest(), 'create'),
            'mapping': lambda: objects.VolumeMapping(
                container_uuid=container.uuid, volume_id=mapping.volume_id).create(context),
            'volume': lambda: objects.Volume(volume_provider='local').create(context),
            'image': lambda: objects.Image(repo='s').pull(context),
            'network': lambda: objects.ZunNetwork(neutron_net_id='m').create(context),
            'registry': lambda: objects.Registry(domain='e').create(context),
            'node': lambda: objects.ComputeNode(hostname='other').create(admin),
            'service': lambda: objects.ZunService(host='other', binary='b').create(admin),
            'exec': lambda: objects.ExecInstance(
                container_id=container.id, exec_id='e').create(context),
            'device': lambda: objects.PciDevice(
                compute_node_uuid=node.uuid, address='a', vendor_id='v', product_id='p',
                dev_type='VF', label='l', status='available').save(),
            'action': lambda: objects.ContainerAction.start(context, container.uuid, 'stop'),
            'event': lambda: objects.ContainerActionEvent.start(
                context, 'e', container_uuid=container.uuid),
            'quota': lambda: objects.Quota.put(admin, 'project', 'cpu', 1),
            'class': lambda: objects.QuotaClass.put(admin, 'default', 'cpu', 1),
            'claim': lambda: local_allocations.claim('c', node.rp_uuid, {'vcpu': 1}),
            'provider': lambda: local_allocations.register('p', 'other'),
            'offer': lambda: local_allocations.offer(node.rp_uuid, {'vcpu': 2}),
            'block': lambda: embedded_networks.get_or_create('o', '10.0.0.0/16', 24, None),
            'address': lambda: embedded_networks.allocate_address('net', 'c'),
        }

    def _changes(self, container: objects.Container,
                 saved: dict[str, tuple[ty.Any, str]],
                 ) -> dict[str, collections.abc.Callable[[], ty.Any]]:
        context, admin, uuid = self.context, self.admin, container.uuid
        request = objects.ContainerRequest.get(admin, uuid)
        request.attempts = 1
        event = objects.ContainerActionEvent.start(context, 'e', container_uuid=uuid)
        for obj, name in saved.values():
            setattr(obj, name, 'new')
        return {
            **{f'save {name}': obj.save for name, (obj, _) in saved.items()},
            'save request': request.save,
            'postpone': lambda: request.postpone(1),
            'record': lambda: objects.ContainerRequest.record(context, uuid, 'stop', {}),
            'finish operation': lambda: objects.ContainerRequest.finish_operation(
                admin, uuid, context.request_id),
            'finish action': lambda: objects.ContainerAction.finish(
                context, uuid, context.request_id),
            'finish event': lambda: event.finish('Success'),
            'volume': lambda: volumes.update_volume(
                objects.VolumeMapping.list(context)[0].volume_id, {'host': 'x'}),
        }

    def _removals(self, *objs: ty.Any) -> dict[str, collections.abc.Callable[[], ty.Any]]:
        return {
            **{f'destroy {obj.obj_name()}': obj.destroy for obj in objs},
            'quotas': lambda: objects.Quota.destroy_all_by_project(self.admin, 'project'),
            'claim': lambda: local_allocations.release('c'),
            'provider': lambda: local_allocations.forget('p'),
            'address': lambda: embedded_networks.release(None, 'c'),
            'block': lambda: embedded_networks.remove('net'),
        }

    def test_deadlock(self) -> None:
        container, mapping, node, service, image, network, registry = self._make()
        saved = {'container': (container, 'host'), 'mapping': (mapping, 'host'),
                 'node': (node, 'os'), 'service': (service, 'disabled_reason'),
                 'image': (image, 'size'), 'network': (network, 'network_id'),
                 'registry': (registry, 'name')}
        calls = {**self._creates(container, mapping, node)}
        for name, call in calls.items():
            self._assert_repeated(f'create {name}', call)
        calls = self._changes(container, saved)
        calls['heartbeat'] = service.report_state_up
        for name, call in calls.items():
            self._assert_repeated(name, call)
        exec_instance = objects.ExecInstance.list_by_container_id(self.context, container.id)[0]
        device = objects.PciDevice.list_by_compute_node(self.admin, node.uuid)[0]
        device.status = 'removed'
        self._assert_repeated('remove device', device.save)
        for name, call in self._removals(exec_instance, mapping, container, node, service,
                                         image, network, registry).items():
            self._assert_repeated(name, call)

    def _assert_repeated(self, name: str, call: collections.abc.Callable[[], ty.Any]) -> None:
        with trouble(db_exc.DBDeadlock(), 2) as raiser:
            result = call()
        self.assertEqual(0, raiser.left, f'{name} was not tried again')
        self.assertIsNot(False, result, name)

    def test_lost_connection(self) -> None:
        with trouble(db_exc.DBConnectionError(), 1) as raiser:
            objects.Container(project_id='project').create(self.context)
        self.assertEqual(0, raiser.left)
        self.assertEqual(1, len(objects.Container.list(self.context)))

    def test_it_ends(self) -> None:
        self.config(group='database', db_max_retries=3)
        with trouble(db_exc.DBDeadlock(), 10) as raiser:
            self.assertRaises(db_exc.DBDeadlock,
                              objects.Container(project_id='project').create, self.context)
        self.assertEqual(6, raiser.left)

    def test_other_errors_are_not_repeated(self) -> None:
        with trouble(ValueError(), 2) as raiser:
            self.assertRaises(ValueError, objects.Container(project_id='project').create,
                              self.context)
        self.assertEqual(1, raiser.left)

    def test_reservation_is_made_again(self) -> None:
        calls = []
        with trouble(db_exc.DBDeadlock(), 1):
            objects.Container(project_id='project').create(self.context, reserve=calls.append)
        self.assertEqual(2, len(calls))

    def test_a_real_deadlock(self) -> None:
        """Two transactions write two rows in opposite order, once."""
        if self.backend == 'sqlite':
            self.skipTest('SQLite has one writer at a time')
        made = [objects.Container(project_id='project') for _ in range(2)]
        for container in made:
            container.create(self.context)
        table, meet, attempts = models.container, threading.Barrier(2, timeout=30), []

        @engine.retry
        def write(first: int, second: int) -> None:
            attempts.append(first)
            with engine.writer() as session:
                for number, index in enumerate((first, second)):
                    if number and len(attempts) <= 2:
                        meet.wait()
                    session.execute(sa.update(table).where(
                        table.c.id == made[index].id).values(host=f'node{first}'))

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for future in [pool.submit(write, 0, 1), pool.submit(write, 1, 0)]:
                future.result(60)
        self.assertGreater(len(attempts), 2)
        self.assertEqual(1, len({c.host for c in objects.Container.list(self.context)}))


class TestSession(database.TestCase):
    def test_clock(self) -> None:
        with engine.reader() as session:
            now = engine.now(session)
        here = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        self.assertIsNone(now.tzinfo)
        self.assertLess(abs(now - here), datetime.timedelta(seconds=5))

    def test_writer_is_all_or_nothing(self) -> None:
        def write() -> None:
            with engine.writer() as session:
                session.execute(sa.insert(models.container).values(uuid='c'))
                raise ValueError

        self.assertRaises(ValueError, write)
        self.assertEqual([], objects.Container.list(self.admin))

    def test_counter_is_of_one_thread(self) -> None:
        def read() -> None:
            objects.Container.list(self.admin)

        with engine.statement_counter() as mine, \
                engine.statement_counter(all_threads=True) as everybody:
            read()
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
        self.assertEqual((1, 2), (mine.count, everybody.count))
        read()
        self.assertEqual(2, everybody.count)

    def test_many_threads(self) -> None:
        """Readers that become writers do not get in each other's way."""
        objects.Container(project_id='project', disk=0).create(self.context)
        table = models.container

        @engine.retry
        def count_up(_: int) -> None:
            with engine.writer() as session:
                seen = session.execute(sa.select(table.c.disk).with_for_update()).scalar_one()
                session.execute(sa.update(table).values(disk=seen + 1))

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(count_up, range(64)))
        self.assertEqual(64, objects.Container.list(self.context)[0].disk)

    def test_foreign_keys(self) -> None:
        self.assertRaises(exception.ContainerNotFound, objects.ContainerAction.start,
                          self.context, uuidutils.generate_uuid(), 'stop')

    def test_check(self) -> None:
        engine.check()
        self.config(group='database', connection=None)
        engine.reset()
        self.assertRaises(exception.ConfigInvalid, engine.check)


class TestSqlite(base.TestCase):
    def test_settings(self) -> None:
        self.useFixture(database.Database())
        for settings in (engine.reader, engine.writer):
            with settings() as session:
                for name, value in (('journal_mode', 'wal'), ('foreign_keys', 1),
                                    ('busy_timeout', 30000)):
                    self.assertEqual(value, session.execute(
                        sa.text(f'PRAGMA {name}')).scalar_one(), name)

    def test_first_connections_all_at_once(self) -> None:
        for _ in range(20):
            self.useFixture(test_database.SqliteDatabase())
            start = threading.Barrier(16)

            def connect(start: threading.Barrier = start) -> None:
                start.wait(60)
                with engine.reader() as session:
                    session.execute(sa.select(models.container.c.id))
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                for done in [pool.submit(connect) for _ in range(16)]:
                    done.result()

    def test_reader_beside_writer(self) -> None:
        self.useFixture(database.Database())
        with engine.writer() as session:
            session.execute(sa.insert(models.container).values(uuid='c'))
            with engine.reader() as other:
                self.assertEqual([], other.execute(sa.select(models.container.c.id)).all())

    def test_unusable_connections(self) -> None:
        for url in ('sqlite:////nowhere/at/all/zun.db', 'nonsense', 'no+such://host/db'):
            self.config(group='database', connection=url, max_retries=0)
            engine.reset()
            error = self.assertRaises(exception.ConfigInvalid, engine.check)
            self.assertIn('[database]/connection', error.message)
            self.assertNotIn('\n', error.message)
        self.addCleanup(engine.reset)

    def test_option_that_it_does_not_have(self) -> None:
        self.useFixture(database.Database())
        self.config(group='database', pool_timeout=30)
        engine.reset()
        error = self.assertRaises(exception.ConfigInvalid, engine.check)
        self.assertIn("'pool_timeout'", error.message)
