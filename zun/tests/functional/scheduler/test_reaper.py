# SPDX-License-Identifier: Apache-2.0
"""What becomes of containers at which nobody works any more, and of those a node gives back."""

from zun import objects
from zun.control import handover
from zun.scheduler import manager
from zun.tests.functional.scheduler import cloud
from zun.tests.functional.scheduler import test_manager


class ReapTest(test_manager.TestCase):
    def _stuck(self, **values):
        request = values.pop('request', {})
        return cloud.container(reap_after=-1, request=request, **values)

    def _reap(self):
        self.manager().reap()

    def test_lost_message(self):
        cloud.host(self.books, 'a')
        container = self._stuck()
        self._reap()
        self.assertEqual('a', cloud.row(container.uuid).host)
        self.assertEqual([('a', container.uuid, 2)], self.nodes.sent)
        self._reap()
        self.assertEqual(1, len(self.nodes.sent))

    def test_not_due_yet(self):
        cloud.host(self.books, 'a')
        cloud.container(reap_after=60)
        self._reap()
        self.assertEqual([], self.nodes.sent)

    def test_the_late_message_finds_nothing_to_do(self):
        cloud.host(self.books, 'a')
        container = self._stuck()
        self._reap()
        self.schedule(container, 0)
        self.assertEqual(1, len(self.nodes.sent))

    def test_claim_left_by_a_scheduler_that_died(self):
        a, b = (cloud.host(self.books, name) for name in 'ab')
        container = self._stuck(request={'excluded_hosts': ['a'], 'generation': 1})
        self.schedule_claim(container, a)
        self._reap()
        self.assertEqual('b', cloud.row(container.uuid).host)
        self.assertEqual([b], list(self.books.held(container.uuid)))

    def schedule_claim(self, container, provider):
        candidate, = self.books.candidates({'VCPU': 1, 'MEMORY_MB': 512}, in_tree=provider)
        self.assertTrue(self.books.claim(
            manager.placement_ledger.Consumer(container.uuid, 'demo', 'alice'), candidate))

    def test_host_that_lives_is_told_again(self):
        cloud.host(self.books, 'a')
        container = self._stuck(host='a')
        self._reap()
        self.assertEqual([('a', container.uuid, 0)], self.nodes.sent)
        self.assertEqual(0, cloud.request(container.uuid).attempts)
        self._reap()
        self.assertEqual(1, len(self.nodes.sent))

    def test_host_that_is_down_or_disabled_or_gone_is_left(self):
        cloud.host(self.books, 'b')
        a = cloud.host(self.books, 'a')
        cloud.seen_ago('a', 3600)
        cloud.host(self.books, 'off')
        service = objects.ZunService.get_by_host_and_binary(cloud.ADMIN, 'off', 'zun-compute')
        service.disabled = True
        service.save()
        for host in ('a', 'off', 'gone'):
            container = self._stuck(host=host)
            if host == 'a':
                self.schedule_claim(container, a)
            self._reap()
            self.assertEqual('b', cloud.row(container.uuid).host)
            self.assertEqual(('b', container.uuid, 3), self.nodes.sent[-1])
            asked = cloud.request(container.uuid)
            self.assertEqual(([host], 1, 3), (asked.excluded_hosts, asked.attempts,
                                              asked.generation))
        self.assertEqual({}, self.books.allocations_on(a))

    def test_admitted_by_its_host_is_the_hosts_matter(self):
        cloud.host(self.books, 'a')
        cloud.host(self.books, 'b')
        cloud.seen_ago('a', 3600)
        container = self._stuck(host='a', request={'claimed': True})
        self._reap()
        self.assertEqual(('a', []), (cloud.row(container.uuid).host, self.nodes.sent))

    def test_enough_hosts_have_failed(self):
        cloud.host(self.books, 'b')
        homeless = self._stuck(request={'attempts': 3}, status_reason='Create failed: no room')
        placed = self._stuck(host='a', request={'attempts': 2})
        self._reap()
        for container, reason in ((homeless, 'Create failed: no room'),
                                  (placed, 'Host a is not available.')):
            found = cloud.row(container.uuid)
            self.assertEqual(('Error', reason, None),
                             (found.status, found.status_reason, found.host))
        self.assertEqual([], self.nodes.sent)

    def test_requested_host_that_died_is_named(self):
        cloud.host(self.books, 'b')
        container = self._stuck(host='a', request={'requested_host': 'a'})
        self._reap()
        found = cloud.row(container.uuid)
        self.assertEqual(('Error', 'Host a is not available.'),
                         (found.status, found.status_reason))

    def test_crash_in_the_middle_of_leaving_a_host(self):
        # the request has left it already, the container's row has not
        cloud.host(self.books, 'a')
        cloud.host(self.books, 'b')
        container = self._stuck(host='a', request={
            'generation': 1, 'attempts': 1, 'excluded_hosts': ['a']})
        self._reap()
        self.assertEqual('b', cloud.row(container.uuid).host)

    def test_many_reapers(self):
        for name in 'abcd':
            cloud.host(self.books, name, cpus=50, memory=50000)
        stuck = [self._stuck() for _number in range(10)]
        stuck += [self._stuck(host='gone') for _number in range(10)]
        stuck += [self._stuck(host='a') for _number in range(10)]
        managers = [self.manager() for _number in range(4)]
        cloud.together([one.reap for one in managers])
        self.assertEqual(30, len(self.nodes.sent))
        for container in stuck:
            found, asked = cloud.row(container.uuid), cloud.request(container.uuid)
            self.assertIn((found.host, container.uuid, asked.generation), self.nodes.sent)

    def test_one_bad_row_does_not_stop_the_others(self):
        cloud.host(self.books, 'a')
        bad = self._stuck(memory='many')
        good = self._stuck()
        self._reap()
        self.assertEqual('a', cloud.row(good.uuid).host)
        self.assertEqual(manager.BROKEN, cloud.row(bad.uuid).status_reason)


class HandBackTest(test_manager.TestCase):
    def setUp(self):
        super().setUp()
        for name in 'ab':
            cloud.host(self.books, name)
        self.scheduler = cloud.Schedulers()

    def _on_a(self, **request):
        container = cloud.container(request={'claimed': True, **request})
        self.schedule(container)
        placed = cloud.row(container.uuid)
        placed.task_state = 'container_creating'
        placed.save()
        return placed, cloud.request(container.uuid)

    def _hand_back(self, container, asked):
        return handover.hand_back(cloud.user(), container, asked, self.scheduler, self.books,
                                  'Create failed: no room')

    def test_another_host_takes_it(self):
        container, asked = self._on_a()
        first = container.host
        self.assertTrue(self._hand_back(container, asked))
        left, request = cloud.row(container.uuid), cloud.request(container.uuid)
        self.assertEqual((None, None, 'Creating', 'Create failed: no room'),
                         (left.host, left.task_state, left.status, left.status_reason))
        self.assertEqual((3, 1, [first], False), (
            request.generation, request.attempts, request.excluded_hosts, request.claimed))
        self.assertEqual([(container.uuid, 3)], self.scheduler.sent)
        placed = self.schedule(container, 3)
        self.assertEqual({first, placed.host}, set('ab'))
        self.assertIsNone(placed.status_reason)

    def test_without_a_scheduler_the_reaper_finds_it(self):
        container, asked = self._on_a()
        self.scheduler = None
        self._hand_back(container, asked)
        self.manager().reap()
        self.assertNotIn(cloud.row(container.uuid).host, (None, container.host))

    def test_no_other_host_says_what_was_wrong_with_the_last(self):
        container, asked = self._on_a(excluded_hosts=['a'])
        self._hand_back(container, asked)
        left = self.schedule(container, 3)
        self.assertEqual('There are not enough hosts available. The last one failed: '
                         'Create failed: no room', left.status_reason)

    def test_enough_hosts_have_failed(self):
        container, asked = self._on_a(attempts=2)
        self.assertTrue(self._hand_back(container, asked))
        left = cloud.row(container.uuid)
        self.assertEqual(('Error', 'Create failed: no room', None, None),
                         (left.status, left.status_reason, left.host, left.task_state))
        self.assertEqual('Error', self.details(container.uuid)[0])
        self.assertEqual(([], {}), (self.scheduler.sent, self.books.held(container.uuid)))

    def test_the_only_host_that_was_wanted(self):
        container, asked = self._on_a(requested_host='a')
        self._hand_back(container, asked)
        self.assertEqual('Error', cloud.row(container.uuid).status)

    def test_taken_away_meanwhile(self):
        container, asked = self._on_a()
        other = cloud.request(container.uuid)
        other.generation = 5
        other.save()
        self.assertFalse(self._hand_back(container, asked))
        self.assertEqual(container.host, cloud.row(container.uuid).host)
        deleting, asked = self._on_a()
        now = cloud.row(deleting.uuid)
        now.status = 'Deleting'
        now.save()
        self.assertFalse(self._hand_back(deleting, asked))
        gone, asked = self._on_a()
        self.books.release(gone.uuid)  # as the delete does
        gone.destroy()
        self.assertFalse(self._hand_back(gone, asked))
        self.assertEqual([], self.scheduler.sent)

    def test_lost_to_another_host_its_allocation_is_left_alone(self):
        """A reaper has taken the container away, and another host has it, when this one fails."""
        container, asked = self._on_a()
        first = container.host
        asked.claimed = False
        asked.save()
        service = objects.ZunService.get_by_host_and_binary(cloud.ADMIN, first, 'zun-compute')
        service.disabled = True
        service.save()
        cloud.due_in(container.uuid, -1)
        self.manager().reap()
        self.assertFalse(self._hand_back(container, asked))
        moved = cloud.row(container.uuid)
        node = objects.ComputeNode.get_by_name(cloud.ADMIN, moved.host)
        self.assertEqual({first, moved.host}, set('ab'))
        self.assertEqual([node.rp_uuid], list(self.books.held(container.uuid)))

    def test_crash_before_the_allocation_was_given_back(self):
        container, asked = self._on_a(attempts=2)
        handover.withdraw(cloud.ADMIN, asked, container.host, 'no room', seconds=0)
        cloud.due_in(container.uuid, -1)
        self.manager().reap()
        self.assertEqual(('Error', {}), (cloud.row(container.uuid).status,
                                         self.books.held(container.uuid)))

    def test_ledger_that_is_down_is_tried_again_by_the_scheduler(self):
        class Down(type(self.books)):
            def release(self, consumer_uuid, provider=None):
                raise test_manager.exception.LedgerUnavailable(reason='x')

        container, asked = self._on_a()
        handover.hand_back(cloud.user(), container, asked, None, Down(), 'x')
        self.assertNotEqual({}, self.books.held(container.uuid))
        placed = self.schedule(container, 3)
        self.assertEqual(1, len(self.books.held(container.uuid)))
        self.assertNotEqual(container.host, placed.host)
