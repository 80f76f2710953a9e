# SPDX-License-Identifier: Apache-2.0
"""The manager on real rows and the local ledger."""

import fixtures

from zun import objects
from zun.common import exception
from zun.db import engine
from zun.placement import local
from zun.scheduler import manager
from zun.tests import base
from zun.tests import database
from zun.tests.functional.scheduler import agreement
from zun.tests.functional.scheduler import cloud


class Refusing(local.LocalLedger):
    """A ledger that fails where it is told to."""

    def __init__(self, claim=None, candidates=None):
        self.trouble = {'claim': claim, 'candidates': candidates}
        self.claims = []

    def candidates(self, *args, **kwargs):
        if self.trouble['candidates']:
            raise self.trouble['candidates']
        return super().candidates(*args, **kwargs)

    def claim(self, consumer, candidate):
        self.claims.append(candidate.provider)
        trouble = self.trouble['claim']
        if isinstance(trouble, Exception):
            raise trouble
        return False if trouble and trouble(candidate) else super().claim(consumer, candidate)


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.books = local.LocalLedger()
        self.nodes = cloud.Nodes()
        self.released = []
        self.addCleanup(agreement.check, self, self.books)

    def manager(self, books=None):
        return manager.Manager(
            books or self.books, self.nodes,
            lambda context, uuid, requested: self.released.append((uuid, requested)))

    def schedule(self, container, generation=0, books=None, ctx=None):
        ctx = ctx or cloud.user(container.project_id)
        self.manager(books).schedule_container(ctx, container.uuid, generation)
        return cloud.row(container.uuid)

    def details(self, uuid):
        """Message of the container's action, and details of its event."""
        action, = objects.ContainerAction.get_by_container_uuid(cloud.ADMIN, uuid)
        event, = objects.ContainerActionEvent.get_by_action(cloud.ADMIN, action.id)
        self.assertEqual(('Error', event.details), (event.result, event.traceback))
        return action.message, event.details


class PlaceTest(TestCase):
    def test_claimed_written_and_sent(self):
        provider = cloud.host(self.books, 'a')
        container = cloud.container(cpu=1.5)
        with engine.statement_counter() as counter:
            placed = self.schedule(container)
        self.assertEqual(('a', 'Creating', None),
                         (placed.host, placed.status, placed.status_reason))
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)
        self.assertEqual({provider: {'VCPU': 2, 'MEMORY_MB': 512}},
                         self.books.held(container.uuid))
        # the last one reads the row for this test; the ledger has six of them
        self.assertLessEqual(counter.count - 1, 11, counter.statements)

    def test_a_create_asks_for_its_hosts_once_whatever_their_number(self):
        counts = []
        for size in (1, 12):
            for number in range(size):
                cloud.host(self.books, f'h{size}-{number}')
            container = cloud.container()
            with engine.statement_counter() as counter:
                self.schedule(container)
            counts.append(counter.count)
        self.assertEqual(counts[0], counts[1])

    def test_the_only_host_that_passes_is_found_among_very_many(self):
        for number in range(260):
            cloud.host(self.books, f'h{number}', zone='west')
        cloud.host(self.books, 'far', zone='east', cpus=2, memory=1024)
        with engine.statement_counter() as counter:
            placed = self.schedule(cloud.container(request={'availability_zone': 'east'}))
        self.assertEqual('far', placed.host)
        # a draw of 50, which may have it; else all by their ranks: 50, 200 and the rest
        reads = [found for found in counter.statements if 'FROM compute_node' in found]
        self.assertIn(len(reads), (1, 4))
        refused = self.schedule(cloud.container(request={'availability_zone': 'north'}))
        self.assertIn('261 with room; 0 after AvailabilityZoneFilter',
                      self.details(refused.uuid)[1])

    def test_fullest_of_very_many(self):
        self.config(group='scheduler', host_weight_policy='pack')
        for number in range(120):
            cloud.host(self.books, f'h{number}', cpus=8)
        cloud.host(self.books, 'fullest', cpus=1, memory=512)
        self.assertEqual('fullest', self.schedule(cloud.container()).host)

    def test_rows_decide_the_order_when_containers_count(self):
        self.config(group='scheduler', cpu_weight_multiplier=0, ram_weight_multiplier=0,
                    containers_weight_multiplier=1.0, host_weight_policy='pack')
        for number in range(60):
            cloud.host(self.books, f'h{number}')
        cloud.host(self.books, 'most', running_containers=50)
        self.assertEqual('most', self.schedule(cloud.container()).host)

    def test_moved_on_is_left_alone(self):
        cloud.host(self.books, 'a')
        for values, generation in (({'status': 'Deleting'}, 0), ({'host': 'b'}, 0), ({}, 1)):
            container = cloud.container(**values)
            placed = self.schedule(container, generation)
            self.assertEqual((container.host, container.status), (placed.host, placed.status))
            self.assertEqual({}, self.books.held(container.uuid))
        self.manager().schedule_container(
            cloud.user(), '99999999-9999-4999-8999-999999999999', 0)
        self.assertEqual([], self.nodes.sent)

    def test_capsule(self):
        cloud.host(self.books, 'a')
        member = objects.CapsuleContainer(
            uuid='33333333-3333-4333-8333-333333333333', name='m', image='x', status='Creating',
            project_id='demo', user_id='alice')
        capsule = cloud.container(objects.Capsule, cpu=2.0, memory='1024', containers=[member],
                                  init_containers=[])
        self.assertEqual('a', self.schedule(capsule).host)
        held, = self.books.held(capsule.uuid).values()
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 1024}, held)

    def test_requested_host(self):
        for name in 'abc':
            cloud.host(self.books, name)
        for _round in range(4):
            container = cloud.container(request={'requested_host': 'b'})
            with engine.statement_counter() as counter:
                self.assertEqual('b', self.schedule(container).host)
            self.assertEqual(1, sum('FROM compute_node' in found
                                    for found in counter.statements))

    def test_zone_runtime_and_labels(self):
        cloud.host(self.books, 'a', zone='east')
        cloud.host(self.books, 'b', zone='west', runtimes=['runc', 'kata'])
        cloud.host(self.books, 'c', zone='west', labels={'disk': 'ssd'})
        self.assertEqual('a', self.schedule(cloud.container(
            request={'availability_zone': 'east'})).host)
        self.assertEqual('b', self.schedule(cloud.container(runtime='kata')).host)
        self.assertEqual('c', self.schedule(cloud.container(
            request={'hints': {'label:disk': 'ssd'}})).host)
        self.config(default_schedule_zone='east')
        self.assertEqual('a', self.schedule(cloud.container()).host)

    def test_affinity(self):
        for name in 'abc':
            cloud.host(self.books, name)
        first = self.schedule(cloud.container())
        same = self.schedule(cloud.container(request={'hints': {'same_host': first.uuid}}))
        self.assertEqual(first.host, same.host)
        other = self.schedule(cloud.container(
            request={'hints': {'different_host': [first.uuid]}}))
        third = self.schedule(cloud.container(
            request={'hints': {'different_host': [first.uuid, other.uuid]}}))
        self.assertEqual(3, len({first.host, other.host, third.host}))

    def test_affinity_stays_within_the_project(self):
        cloud.host(self.books, 'a')
        foreign = self.schedule(cloud.container(ctx=cloud.user('other')))
        refused = self.schedule(cloud.container(request={'hints': {'same_host': foreign.uuid}}))
        self.assertEqual('Error', refused.status)
        self.assertIn('0 after AffinityFilter', self.details(refused.uuid)[1])

    def test_reasons_are_in_the_log(self):
        log = self.useFixture(fixtures.FakeLogger('zun.control.handover'))
        cloud.host(self.books, 'a', zone='west')
        cloud.host(self.books, 'b', zone='east', labels={'disk': 'hdd'})
        refused = self.schedule(cloud.container(request={
            'availability_zone': 'east', 'hints': {'label:disk': 'ssd'}}))
        trail = ('2 with room; 1 after AvailabilityZoneFilter; 1 after ComputeFilter; '
                 '1 after RuntimeFilter; 0 after LabelFilter')
        self.assertIn(trail, log.output)
        self.assertIn(trail, self.details(refused.uuid)[1])

    def test_disabled_and_dead_hosts(self):
        cloud.host(self.books, 'disabled')
        service = objects.ZunService.get_by_host_and_binary(
            cloud.ADMIN, 'disabled', 'zun-compute')
        service.disabled = True
        service.save()
        cloud.host(self.books, 'dead')
        cloud.seen_ago('dead', 3600)
        trait = cloud.host(self.books, 'trait')
        self.books.set_disabled(trait, True)
        cloud.host(self.books, 'unregistered')
        objects.ZunService.get_by_host_and_binary(
            cloud.ADMIN, 'unregistered', 'zun-compute').destroy()
        refused = self.schedule(cloud.container())
        self.assertEqual(('Error', manager.NO_HOST), (refused.status, refused.status_reason))
        self.assertIn('2 with room; 2 after AvailabilityZoneFilter; 0 after ComputeFilter',
                      self.details(refused.uuid)[1])

    def test_spread(self):
        for name in 'abcd':
            cloud.host(self.books, name)
        hosts = {self.schedule(cloud.container()).host for _round in range(4)}
        self.assertEqual(set('abcd'), hosts)

    def test_pack(self):
        self.config(group='scheduler', host_weight_policy='pack')
        for name in 'abcd':
            cloud.host(self.books, name)
        hosts = {self.schedule(cloud.container()).host for _round in range(4)}
        self.assertEqual(1, len(hosts))
        self.assertNotEqual(hosts, {self.schedule(cloud.container()).host})

    def test_host_that_filled_up_gives_way_to_the_next(self):
        providers = {cloud.host(self.books, name): name for name in 'abcde'}
        books = Refusing(claim=lambda candidate: providers[candidate.provider] != 'e')
        container = cloud.container()
        self.assertEqual('e', self.schedule(container, books=books).host)
        self.assertEqual(len(books.claims), len(set(books.claims)))

    def test_an_old_choice_is_made_again(self):
        for name in 'abc':
            cloud.host(self.books, name)
        self.useFixture(fixtures.MockPatchObject(manager, '_CHOICE_AGE', -1.0))
        looks = []

        class Looking(Refusing):
            def candidates(self, *args, **kwargs):
                looks.append(len(self.claims))
                return super().candidates(*args, **kwargs)

        books = Looking(claim=lambda candidate: len(books.claims) < 3)
        self.schedule(cloud.container(), books=books)
        self.assertEqual([0, 1, 2], looks)

    def test_all_hosts_filled_up(self):
        for name in 'abcde':
            cloud.host(self.books, name)
        books = Refusing(claim=lambda candidate: True)
        refused = self.schedule(cloud.container(), books=books)
        self.assertEqual(manager.NO_HOST, refused.status_reason)
        self.assertEqual((5, 5), (len(books.claims), len(set(books.claims))))
        self.assertIn('5 filled up', self.details(refused.uuid)[1])

    def test_every_alternative_of_a_host(self):
        provider = cloud.host(self.books, 'a')
        container = cloud.container()

        class Alternatives(Refusing):
            def candidates(self, *args, **kwargs):
                return super().candidates(*args, **kwargs) * 2

        books = Alternatives(claim=lambda candidate: len(books.claims) < 2)
        self.assertEqual('a', self.schedule(container, books=books).host)
        self.assertEqual([provider] * 2, books.claims)

    def test_chance_and_fake(self):
        cloud.host(self.books, 'b')
        cloud.host(self.books, 'a')
        cloud.seen_ago('a', 3600)
        self.config(group='scheduler', driver='chance_scheduler')
        container = cloud.container(cpu=99.0)
        self.assertEqual('b', self.schedule(container).host)
        self.assertEqual({}, self.books.held(container.uuid))
        self.config(group='scheduler', driver='fake_scheduler')
        self.assertEqual('a', self.schedule(cloud.container()).host)

    def test_shards(self):
        asked = []

        class Sharded(local.LocalLedger):
            def candidates(self, *args, member_of=None, **kwargs):
                asked.append(member_of)
                return [] if member_of else super().candidates(*args, **kwargs)

        self.config(group='scheduler', shard_aggregates=['one', 'two'])
        cloud.host(self.books, 'a')
        self.assertEqual('a', self.schedule(cloud.container(), books=Sharded()).host)
        self.assertEqual(({'one', 'two'}, None), (set(asked[:2]), asked[2]))
        del asked[:]
        self.schedule(cloud.container(request={'requested_host': 'a'}), books=Sharded())
        self.assertEqual([None], asked)


class FailTest(TestCase):
    def _refused(self, books=None, **values):
        container = cloud.container(**values)
        refused = self.schedule(container, books=books)
        self.assertEqual(('Error', None), (refused.status, refused.host))
        self.assertEqual({}, self.books.held(container.uuid))
        self.assertEqual([], self.nodes.sent)
        asked = cloud.request(container.uuid)
        self.assertIsNone(asked.operation)
        return refused

    def test_no_host_at_all(self):
        refused = self._refused(request={'requested_networks': [{'port': 'p'}]})
        self.assertEqual('There are not enough hosts available.', refused.status_reason)
        message, details = self.details(refused.uuid)
        self.assertEqual(('Error', '0 with room'), (message, details))
        self.assertEqual([(refused.uuid, [{'port': 'p'}])], self.released)

    def test_ports_that_cannot_be_given_back_change_nothing(self):
        def refuse(context, uuid, requested):
            raise exception.ZunException('no network')

        container = cloud.container(request={'requested_networks': [{'port': 'p'}]})
        manager.Manager(self.books, self.nodes, refuse).schedule_container(
            cloud.user(), container.uuid, 0)
        self.assertEqual('Error', cloud.row(container.uuid).status)
        self.assertEqual('Error', self.details(container.uuid)[0])

    def test_too_large(self):
        cloud.host(self.books, 'a')
        self.assertEqual(manager.NO_HOST, self._refused(memory='9000').status_reason)

    def test_requested_host_that_is_unknown(self):
        cloud.host(self.books, 'a')
        refused = self._refused(request={'requested_host': 'nope'})
        self.assertIn('No such host - host: nope', self.details(refused.uuid)[1])

    def test_members_of_a_capsule_share_its_fate(self):
        members = [cls(uuid=f'{number}3333333-3333-4333-8333-333333333333', name='m', image='x',
                       status='Creating', project_id='demo', user_id='alice')
                   for number, cls in enumerate((objects.CapsuleContainer,
                                                 objects.CapsuleInitContainer))]
        self._refused(cls=objects.Capsule, containers=members[:1], init_containers=members[1:])
        for member in members:
            found = cloud.row(member.uuid)
            self.assertEqual(('Error', manager.NO_HOST), (found.status, found.status_reason))

    def test_ledger_that_is_down_or_slow_or_closed(self):
        for error, reason in (
                (exception.LedgerUnavailable(reason='x'), manager.NO_LEDGER),
                (exception.LedgerUnavailable(reason='x', timed_out=True), manager.TIMED_OUT),
                (exception.LedgerForbidden(reason='x'), manager.FORBIDDEN),
                (RuntimeError('secret'), manager.BROKEN)):
            refused = self._refused(Refusing(candidates=error))
            self.assertEqual(reason, refused.status_reason)
            self.assertIn(getattr(error, 'message', str(error)), self.details(refused.uuid)[1])

    def test_error_after_the_claim_gives_it_back(self):
        cloud.host(self.books, 'a')

        class Confused(local.LocalLedger):
            def claim(self, consumer, candidate):
                super().claim(consumer, candidate)
                raise RuntimeError('after the claim')

        self._refused(Confused())

    def test_a_claim_whose_answer_was_lost_is_given_back(self):
        cloud.host(self.books, 'a')

        class Deaf(local.LocalLedger):
            def claim(self, consumer, candidate):
                super().claim(consumer, candidate)
                raise exception.LedgerUnavailable(reason='no answer')

        self.assertEqual(manager.NO_LEDGER, self._refused(Deaf()).status_reason)

    def test_a_slow_scheduler_leaves_a_container_to_the_one_that_took_it(self):
        """The first has claimed a host when a reaper takes the container, and goes on later."""
        for name in 'ab':
            cloud.host(self.books, name)
        container = cloud.container(reap_after=-1)

        class Slow(local.LocalLedger):
            def claim(slow, consumer, candidate):  # noqa: N805
                taken = super().claim(consumer, candidate)
                cloud.due_in(container.uuid, -1)
                self.manager().reap()
                return taken

        placed = self.schedule(container, books=Slow())
        asked = cloud.request(container.uuid)
        self.assertEqual([(placed.host, container.uuid, asked.generation)], self.nodes.sent)
        self.assertEqual(1, len(self.books.held(container.uuid)))

    def test_a_slow_scheduler_does_not_place_what_another_is_placing(self):
        """Both have read the container without a host, and one of them has a newer generation."""
        cloud.host(self.books, 'a')
        container = cloud.container()

        class Overtaken(local.LocalLedger):
            def claim(self, consumer, candidate):
                taken = super().claim(consumer, candidate)
                asked = cloud.request(container.uuid)
                asked.generation += 1
                asked.save()
                return taken

        left = self.schedule(container, books=Overtaken())
        self.assertEqual((None, 'Creating', {}, []), (
            left.host, left.status, self.books.held(container.uuid), self.nodes.sent))

    def test_somebody_elses_claim_ends_nothing(self):
        cloud.host(self.books, 'a')
        container = cloud.container()
        left = self.schedule(container, books=Refusing(
            claim=exception.ConsumerConflict(consumer='x')))
        self.assertEqual(('Creating', None), (left.status, left.host))

    def test_deleted_during_the_claim(self):
        cloud.host(self.books, 'a')
        container = cloud.container()

        class Deleting(local.LocalLedger):
            def claim(self, consumer, candidate):
                taken = super().claim(consumer, candidate)
                container.destroy()
                return taken

        self.manager(Deleting()).schedule_container(cloud.user(), container.uuid, 0)
        self.assertEqual(({}, []), (self.books.held(container.uuid), self.nodes.sent))

    def test_placed_by_another_scheduler_during_the_claim(self):
        cloud.host(self.books, 'a')
        for host, held in (('a', True), ('b', False)):
            container = cloud.container()

            class Slow(local.LocalLedger):
                def claim(self, consumer, candidate, container=container, host=host):
                    taken = super().claim(consumer, candidate)
                    container.host = host
                    container.save()
                    return taken

            placed = self.schedule(container, books=Slow())
            self.assertEqual(host, placed.host)
            self.assertEqual(held, bool(self.books.held(container.uuid)))
        self.assertEqual([], self.nodes.sent)

    def test_taken_by_another_scheduler_between_two_looks(self):
        for name in 'abcde':
            cloud.host(self.books, name)
        container = cloud.container()

        def refuse(candidate):
            asked = cloud.request(container.uuid)
            asked.generation = 7
            asked.save()
            return True

        books = Refusing(claim=refuse)
        left = self.schedule(container, books=books)
        self.assertEqual((None, 'Creating', 3), (left.host, left.status, len(books.claims)))

    def test_the_same_message_twice(self):
        cloud.host(self.books, 'a')
        container = cloud.container()
        for _copy in range(2):
            self.schedule(container)
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)

    def test_bus_that_is_down_keeps_the_host(self):
        cloud.host(self.books, 'a')
        self.nodes.down = True
        container = cloud.container()
        placed = self.schedule(container)
        self.assertEqual(('a', 'Creating'), (placed.host, placed.status))
        self.nodes.down = False
        cloud.due_in(container.uuid, -1)
        self.manager().reap()
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)
