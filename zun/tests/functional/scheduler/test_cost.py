# SPDX-License-Identifier: Apache-2.0
"""One create through API, scheduler and node: what it asks of the database, however full."""

import collections

import sqlalchemy as sa

from zun.common import policy
from zun.common import states
from zun.compute import operations
from zun.compute import resources
from zun.control import clients
from zun.control import containers
from zun.db import engine
from zun.db import models
from zun.network import embedded
from zun.scheduler import manager
from zun.tests.functional import database
from zun.tests.functional import reads
from zun.tests.functional.compute import base
from zun.tests.functional.scheduler import agreement
from zun.tests.functional.scheduler import cloud

#: Tables that grow with the containers of a cloud.
GROWING = ('container', 'container_request', 'container_actions', 'container_actions_events',
           'local_allocation', 'embedded_allocation', 'volume_mapping', 'quota_usages')
_HOSTS = ('compute_node', 'zun_service', 'local_provider')
_CHUNK = 5000


class CostTest(base.NodeTestCase):
    """On MariaDB, which tells how many rows it looked at."""

    def setUp(self):
        super().setUp()
        self.useFixture(database.Database(database.server(self, 'mysql')))
        self.config(group='compute', default_image_pull_policy='ifnotpresent')
        self.config(group='quota', containers=-1, cpu=-1, memory=-1)
        policy.reset()
        self.addCleanup(policy.reset)
        self.node.provider = None
        self.tracker = resources.Tracker(self.node)
        self.tracker.refresh()
        self.books = self.node.ledger
        cloud.objects.ZunService(host=base.HOST, binary='zun-compute').create(self.admin)
        self.nodes, self.schedulers = cloud.Nodes(), cloud.Schedulers()
        self.manager = manager.Manager(self.books, self.nodes)
        clients.use(clients.Clients(
            compute=self.nodes, scheduler=self.schedulers, network=embedded.EmbeddedDriver(),
            volumes=None, images=None, ledger=self.books))
        self.addCleanup(clients.use, None)

    def _create(self, **values):
        """A container that runs in the end."""
        context = self.request()
        made = containers.create(context, {'image': 'busybox', 'cpu': 0.01, 'memory': 4,
                                           'run': True, 'host': base.HOST, **values})
        self.manager.schedule_container(context, made.uuid, 0)
        if values.get('host', base.HOST) == base.HOST:
            (host, uuid, generation), = self.nodes.sent
            operations.submit(self.node, context, uuid, 'create', generation=generation)
            self.assertEqual(states.RUNNING, self.settled(made).status)
        del self.nodes.sent[:]
        return made

    def _counted(self, **values):
        with reads.counted() as found:
            self._create(**values)
        return found

    def _fill(self, first, last):
        """Containers of other projects on other hosts."""
        for start in range(first, last, _CHUNK):
            rows = [{'uuid': f'{number:036d}', 'name': f'n{number}', 'image': 'busybox',
                     'project_id': f'p{number % 50}', 'user_id': 'user', 'cpu': 1.0,
                     'memory': '64', 'host': f'h{number % 100}', 'status': 'Running',
                     'container_type': models.CONTAINER}
                    for number in range(start, min(start + _CHUNK, last))]
            with engine.writer() as session:
                session.execute(sa.insert(models.container), rows)
                session.execute(sa.insert(models.container_request), [
                    {'container_uuid': row['uuid'], 'claimed': True} for row in rows])
                session.execute(sa.insert(models.container_actions), [
                    {'container_uuid': row['uuid'], 'action': 'create',
                     'request_id': f'req-{row["uuid"]}'} for row in rows])
                session.execute(sa.insert(models.container_actions_events).from_select(
                    ['event', 'action_id'], sa.select(
                        sa.literal('e'), models.container_actions.c.id).where(
                        models.container_actions.c.container_uuid.in_(
                            [row['uuid'] for row in rows]))))
                session.execute(sa.insert(models.local_allocation), [
                    {'consumer_uuid': row['uuid'], 'rp_uuid': row['host'].ljust(36), 'vcpu': 1}
                    for row in rows])
        reads.analyze(*GROWING)

    def test_it_does_not_grow_with_the_containers_of_the_cloud(self):
        self._create()  # what is made at first is there, and caches are warm
        self._fill(0, 10)
        few = self._counted()
        self._fill(10, 10_000)
        many = self._counted()
        self.assertEqual(collections.Counter(few.kinds), collections.Counter(many.kinds))
        # the host and the project have one container more by now: two rows in each sum, and no
        # more; a plan for a table of ten rows may also read them all
        self.assertLessEqual(many.rows, few.rows + 20, self._dear(many))

    def test_every_statement_finds_its_rows_by_an_index(self):
        self._create()
        self._fill(0, 10_000)
        found = self._counted()
        for statement, parameters, _count in found.statements:
            if not statement.startswith(('SELECT', 'UPDATE', 'DELETE')):
                continue
            for table, access, key in reads.plan(statement, parameters):
                if table in GROWING:
                    self.assertIsNotNone(key, f'{table}: {statement}')
                    self.assertNotIn(access, ('ALL', 'index'), f'{table}: {statement}')

    @staticmethod
    def _dear(found):
        return [(count, statement) for statement, _, count in found.statements if count > 10]

    def _add_hosts(self, numbers):
        for number in numbers:
            cloud.host(self.books, f'more-{number}', cpus=1000, memory=1 << 20)
        reads.analyze(*_HOSTS)

    def test_it_hardly_grows_with_the_hosts(self):
        """Of many hosts a draw is looked at, and as many rows of hosts as it takes."""
        self._create()
        looked_at, total = {}, 0
        for size in (25, 100, 400):
            self._add_hosts(range(total, size))
            total = size
            samples = [self._counted(host=None, memory=8192 * 8) for _ in range(5)]
            self.assertEqual(1, len({tuple(found.kinds) for found in samples}))
            looked_at[size] = max(found.rows for found in samples)
        self.assertLess(looked_at[25], looked_at[100])
        self.assertLessEqual(looked_at[400], 1.5 * looked_at[100], looked_at)
        agreement.check(self, self.books)
