# SPDX-License-Identifier: Apache-2.0
"""A node's periodic work reads its own rows, and none of other hosts, however many there are."""

import sqlalchemy as sa

from zun import objects
from zun.common import states
from zun.compute import heartbeat
from zun.compute import image_gc
from zun.compute import resources
from zun.compute import sweep
from zun.compute import sync
from zun.db import engine
from zun.db import models
from zun.placement import local
from zun.tests.functional import database
from zun.tests.functional import reads
from zun.tests.functional.compute import base

PER_HOST = 20
TABLES = ('container', 'container_request', 'container_actions', 'compute_node', 'zun_service',
          'network', 'volume', 'volume_mapping', 'image', 'local_allocation', 'local_provider')


class OwnRowsTest(base.NodeTestCase):
    """On MariaDB, which tells how many rows it looked at."""

    def setUp(self):
        super().setUp()
        self.useFixture(database.Database(database.server(self, 'mysql')))
        self.node.provider = None
        self.tracker = resources.Tracker(self.node)
        self.tracker.refresh()
        self.beat = heartbeat.Heartbeat(self.node, lambda: True)
        self.beat.beat()
        self.sweep = sweep.Sweep(self.node)
        self.collector = image_gc.Collector(self.node)
        self.mine = [self.created() for _ in range(3)]
        self.assertEqual({states.RUNNING}, {row.status for row in self.mine})
        self._minute()  # what is written and cached at first is so

    def _minute(self):
        """All that a node does by itself."""
        self.tracker.refresh()
        self.beat.beat()
        self.sweep.run()
        self.node.network.sweep(self.admin)
        sync.reconcile(self.node)
        self.collector.run()

    def _others(self, numbers):
        """Hosts with all that hosts have, and with the same images and networks as this one."""
        names = [f'other-{number}' for number in numbers]
        network = objects.ZunNetwork.list(self.admin)[0]
        rows = [{'uuid': f'{name} {number}'.ljust(36), 'name': 'x', 'image': 'busybox',
                 'project_id': 'project', 'user_id': 'user', 'cpu': 1.0, 'memory': '64',
                 'host': name, 'container_type': models.CONTAINER,
                 # some at rest, some with everything open
                 'status': 'Running' if number % 2 else 'Creating',
                 'task_state': None if number % 2 else 'image_pulling'}
                for name in names for number in range(PER_HOST)]
        with engine.writer() as session:
            session.execute(sa.insert(models.container), rows)
            session.execute(sa.insert(models.container_request), [
                {'container_uuid': row['uuid'], 'operation': 'create', 'claimed': True}
                for row in rows])
            session.execute(sa.insert(models.local_allocation), [
                {'consumer_uuid': row['uuid'], 'rp_uuid': row['host'].ljust(36), 'vcpu': 1}
                for row in rows])
            session.execute(sa.insert(models.compute_node), [
                {'uuid': name.ljust(36), 'rp_uuid': name.ljust(36), 'hostname': name}
                for name in names])
            session.execute(sa.insert(models.local_provider), [
                {'rp_uuid': name.ljust(36), 'name': name} for name in names])
            session.execute(sa.insert(models.zun_service), [
                {'host': name, 'binary': 'zun-compute'} for name in names])
            session.execute(sa.insert(models.network), [
                {'uuid': f'net {name}'.ljust(36), 'host': name, 'name': network.name,
                 'neutron_net_id': network.neutron_net_id} for name in names])
            session.execute(sa.insert(models.image), [
                {'uuid': f'image {name}'.ljust(36), 'host': name, 'repo': 'busybox',
                 'tag': 'latest'} for name in names])
        reads.analyze(*TABLES)

    def test_a_minute_costs_the_same_whatever_the_others_have(self):
        self._others(range(30))
        with reads.counted() as few:
            self._minute()
        self._others(range(30, 90))
        with reads.counted() as many:
            self._minute()
        self.assertEqual(few.kinds, many.kinds)
        more = [(statement, before, after) for (statement, _, before), (_, _, after) in zip(
            few.statements, many.statements, strict=True) if after != before]
        self.assertEqual([], more)
        # and that is little: some rows for each of its own containers
        self.assertLess(0, many.rows)
        self.assertLessEqual(many.rows, 40 * len(self.mine), [
            (count, statement) for statement, _, count in many.statements])
        self.assertEqual(3, len(local.LocalLedger().allocations_on(self.node.provider)))
