# SPDX-License-Identifier: Apache-2.0
"""Many creates at once through three schedulers, on a real MariaDB and a real Placement.

``ZUN_TEST_CREATES`` and ``ZUN_TEST_HOSTS`` make it larger.
"""

import collections
import os
import threading
import time

from oslo_log import log as logging

from zun import objects
from zun.common import exception
from zun.common import pools
from zun.control import handover
from zun.placement import local
from zun.placement import placement
from zun.scheduler import manager
from zun.tests import base
from zun.tests.functional import database
from zun.tests.functional.placement import process
from zun.tests.functional.scheduler import agreement
from zun.tests.functional.scheduler import cloud

LOG = logging.getLogger(__name__)

CREATES = int(os.environ.get('ZUN_TEST_CREATES', 60))
HOSTS = int(os.environ.get('ZUN_TEST_HOSTS', 8))
SCHEDULERS = 3
WORKERS = 8
_SECONDS = 300


class Schedulers:
    """Three schedulers that share the messages, as they do on a bus."""

    def __init__(self, managers):
        self._managers = managers
        self._pools = [pools.Pool(f'scheduler{number}', WORKERS, 10 * CREATES)
                       for number in range(len(managers))]
        self._turn = 0
        self.latencies = []

    def schedule_container(self, context, uuid, generation):
        self._turn += 1
        number = self._turn % len(self._managers)
        self._pools[number].run(self._schedule, self._managers[number], context, uuid, generation)

    def _schedule(self, one, context, uuid, generation):
        begun = time.monotonic()
        one.schedule_container(context, uuid, generation)
        self.latencies.append(time.monotonic() - begun)

    def wait_idle(self):
        deadline = time.monotonic() + _SECONDS
        for _round in range(2):  # a node may have given something back meanwhile
            for pool in self._pools:
                assert pool.wait_idle(max(0.0, deadline - time.monotonic()))

    def stop(self):
        for pool in self._pools:
            pool.shutdown(1)


class Nodes:
    """Nodes that admit a container only while it fits, whatever the ledger says.

    :ivar running: host -> containers
    :ivar refused: how often the ledger had given away more than there is
    """

    def __init__(self, books, slots):
        self._books = books
        self._slots = slots
        self._lock = threading.Lock()
        self.running = collections.defaultdict(set)
        self.refused = 0
        self.schedulers = None

    def container_create(self, context, host, container_uuid, generation):
        with self._lock:
            fits = len(self.running[host]) < self._slots
            if fits:
                self.running[host].add(container_uuid)
            else:
                self.refused += 1
        container = cloud.row(container_uuid)
        asked = cloud.request(container_uuid)
        if asked.generation != generation:
            raise AssertionError(f'{container_uuid} has generation {asked.generation}')
        if not fits:
            handover.hand_back(context, container, asked, self.schedulers, self._books,
                               'no room')
            return
        asked.claimed = True
        asked.save(expected={'generation': generation, 'claimed': False})
        container.status = 'Running'
        container.save(expected={'status': 'Creating', 'host': host})


class Cases:
    def _start(self, slots):
        """Hosts with so many slots of 1 VCPU each."""
        self.hosts = {}
        for number in range(HOSTS):
            name = f'host{number}'
            self.hosts[name] = cloud.host(self.books(), name, cpus=slots, memory=slots * 1024)
        self.nodes = Nodes(self.books(), slots)
        managers = [manager.Manager(self.books(), self.nodes) for _number in range(SCHEDULERS)]
        self.schedulers = self.nodes.schedulers = Schedulers(managers)
        self.addCleanup(self.schedulers.stop)

    def _create(self, count):
        containers = [cloud.container() for _number in range(count)]
        begun = time.monotonic()
        for container in containers:
            self.schedulers.schedule_container(cloud.user(), container.uuid, 0)
        self.schedulers.wait_idle()
        seconds = time.monotonic() - begun
        latencies = sorted(self.schedulers.latencies)
        LOG.info('%s: %d creates on %d hosts in %.1f s, median %.3f s, refused by nodes: %d',
                 self.id(), count, HOSTS, seconds, latencies[len(latencies) // 2],
                 self.nodes.refused)
        return [cloud.row(container.uuid) for container in containers]

    def _check(self, containers, slots):
        """No host has more than fits, and allocations are exactly the containers on hosts."""
        placed = collections.defaultdict(set)
        for container in containers:
            if container.status == 'Running':
                placed[container.host].add(container.uuid)
            else:
                self.assertEqual(('Error', None), (container.status, container.host))
                self.assertIn(manager.NO_HOST, container.status_reason)
        books = self.books()
        for name, provider in self.hosts.items():
            self.assertLessEqual(len(placed[name]), slots)
            self.assertEqual(self.nodes.running[name], placed[name])
            self.assertEqual(placed[name], set(books.allocations_on(provider)))
        agreement.check(self, books)
        return sum(len(found) for found in placed.values())

    def test_more_than_fits(self):
        slots = CREATES * 3 // 4 // HOSTS
        self._start(slots)
        containers = self._create(CREATES)
        running = self._check(containers, slots)
        self.assertEqual(slots * HOSTS, running)

    def test_less_than_fits(self):
        slots = CREATES * 2 // HOSTS
        self._start(slots)
        containers = self._create(CREATES)
        self.assertEqual(CREATES, self._check(containers, slots))
        for found in self.nodes.running.values():
            self.assertLess(len(found), CREATES * 0.6)

    def test_the_same_message_several_times(self):
        slots = CREATES
        self._start(slots)
        containers = [cloud.container() for _number in range(10)]
        for container in containers:
            for _copy in range(SCHEDULERS):
                self.schedulers.schedule_container(cloud.user(), container.uuid, 0)
        self.schedulers.wait_idle()
        left = [cloud.row(container.uuid) for container in containers]
        self.assertEqual(10, self._check(left, slots))
        self.assertEqual(10, sum(len(found) for found in self.nodes.running.values()))


class LocalTest(Cases, base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.Database(database.server(self, 'mysql')))

    def books(self):
        return local.LocalLedger()


class PlacementTest(Cases, base.TestCase):
    def setUp(self):
        super().setUp()
        url = database.server(self, 'mysql')
        if process.gunicorn() is None:
            self.skipTest('there is no gunicorn to run Placement with')
        self.useFixture(database.Database(url))
        self.placement = self.useFixture(process.Placement(url))

    def books(self):
        return placement.PlacementLedger(self.placement.connection())

    def test_more_than_fits_optimistically(self):
        """Guesses of many schedulers, which no row corrects meanwhile."""
        self.config(group='scheduler', optimistic=True)
        self.test_more_than_fits()

    def test_placement_that_is_away_for_a_while(self):
        self._start(CREATES)
        container = cloud.container()
        closed = placement.PlacementLedger(self.placement.connection())
        self.config(group='placement_client', max_retries=0)
        self.placement.port += 1
        broken = placement.PlacementLedger(self.placement.connection())
        self.assertRaises(exception.LedgerUnavailable, broken.prepare)
        manager.Manager(broken, self.nodes).schedule_container(
            cloud.user(), container.uuid, 0)
        self.assertEqual(('Error', manager.NO_LEDGER),
                         (cloud.row(container.uuid).status,
                          cloud.row(container.uuid).status_reason))
        self.assertEqual({}, closed.held(container.uuid))
        self.assertEqual('Error', objects.ContainerAction.get_by_container_uuid(
            cloud.ADMIN, container.uuid)[0].message)
