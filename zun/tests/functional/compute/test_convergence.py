# SPDX-License-Identifier: Apache-2.0
"""What is left of many containers on a slow engine."""

import concurrent.futures
import random
import time

import fixtures
import sqlalchemy as sa

from zun import objects
from zun.common import states
from zun.compute import operations
from zun.container import fake
from zun.db import engine as db_engine
from zun.db import models
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

_COUNT = 200
_AT_ONCE = 16
#: Seconds of the longest call of the engine.
_SLOW = 0.03


class ConvergenceTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        genuine = fake.FakeDriver._enter

        def enter(engine, *args):
            genuine(engine, *args)
            time.sleep(random.uniform(0, _SLOW))

        self.useFixture(fixtures.MonkeyPatch('zun.container.fake.FakeDriver._enter', enter))

    def _live(self, number):
        """A create, and a delete that comes at any time."""
        container = self.placed(image=f'image-{number % 3}', image_pull_policy='always')
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        if number % 4 == 0:
            return container
        time.sleep(random.uniform(0, 5 * _SLOW))
        context = self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        operations.submit(self.node, context, container.uuid, 'delete', force=True, stop=False)
        self.settled(container)
        return None

    def test_two_hundred(self):
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
            kept = {container.uuid for container in pool.map(self._live, range(_COUNT))
                    if container is not None}
        real.wait_for('the node to be idle', lambda: not any(map(self.node.busy, kept)), 60)
        rows = objects.Container.list(self.admin)
        self.assertEqual({(uuid, states.RUNNING, None) for uuid in kept},
                         {(row.uuid, row.status, row.task_state) for row in rows})
        for row in rows:
            self.assert_closed(row)
        self.assertEqual(kept, set(self.engine.list()))
        self.assertEqual(kept, set(self.node.ledger.allocations_on(self.node.provider)))
        addresses = {item['addr'] for row in rows for found in row.addresses.values()
                     for item in found}
        with db_engine.reader() as session:
            held = session.scalars(sa.select(models.embedded_allocation.c.address)).all()
        self.assertEqual(sorted(addresses), sorted(held))
        self.assertEqual(({}, {}), (self.node.flights._flights, dict(self.node.away)))
        self.assertEqual([], self.scheduler.asked)
