# SPDX-License-Identifier: Apache-2.0
"""Capsules on an engine in memory that fails where a test says."""

from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.compute import recovery
from zun.compute import sync
from zun.compute.tasks import capsules
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base
from zun.tests.functional.compute import capsule_base

DOWN = exception.EngineUnavailable(error_msg='connection refused')


class CreateTest(capsule_base.CapsuleTestCase):
    def test_all_run(self):
        one, two = self.member(), self.member()
        capsule = self.created_capsule(one, two)
        self.assertEqual((states.RUNNING, None), (capsule.status, capsule.status_reason))
        self.assertEqual([states.RUNNING] * 2, self.statuses(capsule))
        self.assertEqual({capsule.uuid, one.uuid, two.uuid}, set(self.engine.list()))
        self.assertTrue(capsule.addresses)
        self.assertEqual({base.HOST}, {m.host for m in capsule.containers})
        self.assertEqual([('create', None, True)], self.actions(capsule))
        self.assert_closed(capsule)

    def test_init_containers_come_first(self):
        first, second = self.init('a'), self.init('b')
        capsule = self.created_capsule(first, second, self.member())
        self.assertEqual(states.CREATING, capsule.status)
        self.assertEqual([states.RUNNING, states.CREATED, states.CREATED],
                         self.statuses(capsule))
        self.engine.exit(first.uuid)
        self.observe(first)
        self.settled(capsule)
        self.assertEqual([states.STOPPED, states.RUNNING, states.CREATED],
                         self.statuses(capsule))
        self.engine.exit(second.uuid)
        self.observe(second)
        self.assertEqual(states.RUNNING, self.settled(capsule).status)
        self.assertEqual([states.STOPPED, states.STOPPED, states.RUNNING],
                         self.statuses(capsule))
        self.assert_closed(capsule)

    def test_init_container_that_fails(self):
        init = self.init('a')
        capsule = self.created_capsule(init, self.member())
        self.engine.exit(init.uuid, 3)
        self.observe(init)
        found = self.settled(capsule)
        self.assertEqual((states.ERROR, base.HOST), (found.status, found.host))
        self.assertEqual(f'Create failed: init container {init.name} failed: exit 3',
                         found.status_reason)
        self.assertEqual([states.STOPPED, states.CREATED], self.statuses(capsule))
        self.assertFalse(self.engine.inspect(capsule).running)
        self.assertEqual([('create', 'Error', True)], self.actions(capsule))
        self.deleted(capsule)
        self.assertEqual(({}, {}), (self.engine.list(), self.held(capsule)))

    def test_image_that_does_not_exist(self):
        self.engine.missing.add('no/such')
        capsule = self.created_capsule(self.member(), self.member(image='no/such'))
        self.assertEqual((states.ERROR, None), (capsule.status, capsule.host))
        self.assertIn('no/such', capsule.status_reason)
        self.assertEqual([(states.ERROR, None)] * 2,
                         [(m.status, m.host) for m in capsule.containers])
        self.assertEqual(({}, {}), (self.engine.list(), self.held(capsule)))
        self.assert_closed(capsule)

    def test_engine_that_fails_in_the_middle(self):
        self.engine.fail('create_member', DOWN)
        capsule = self.created_capsule(self.member(), self.member())
        self.assertEqual([(capsule.uuid, 1)], self.scheduler.asked)
        self.assertEqual((states.CREATING, None), (capsule.status, capsule.host))
        self.assertEqual([(states.CREATING, None)] * 2,
                         [(m.status, m.host) for m in capsule.containers])
        self.assertEqual({}, self.engine.list())
        self.assertEqual({}, base.network_driver_addresses(capsule.uuid))

    def test_host_without_a_driver_for_capsules(self):
        self.node.capsules = None
        capsule = self.created_capsule(self.member())
        self.assertEqual([(capsule.uuid, 1)], self.scheduler.asked)
        self.assertIn('runs no capsules', capsule.status_reason)


class DeleteTest(capsule_base.CapsuleTestCase):
    def test_everything_goes(self):
        capsule = self.created_capsule(self.member(), self.member())
        self.deleted(capsule)
        self.assertIsNone(self.row(capsule))
        self.assertEqual(({}, {}), (self.engine.list(), self.held(capsule)))
        self.assertEqual({}, base.network_driver_addresses(capsule.uuid))

    def test_pieces_that_are_missing(self):
        one, two = self.member(), self.member()
        capsule = self.created_capsule(one, two)
        for uuid in (one.uuid, capsule.uuid):
            self.engine.vanish(uuid)
        self.deleted(capsule)
        self.assertIsNone(self.row(capsule))
        self.assertEqual({}, self.engine.list())

    def test_while_an_init_container_runs(self):
        capsule = self.created_capsule(self.init('a'), self.member())
        self.deleted(capsule)
        self.assertIsNone(self.row(capsule))
        self.assertEqual({}, self.engine.list())

    def test_engine_that_is_away_for_a_moment(self):
        capsule = self.created_capsule(self.member())
        self.engine.fail('delete', DOWN)
        self.deleted(capsule)
        real.wait_for('the delete', lambda: self.row(capsule) is None)
        self.assertEqual({}, self.engine.list())


class RecoveryTest(capsule_base.CapsuleTestCase):
    def resume(self, capsule):
        recovery.resume(self.node, capsule.uuid)
        return self.settled(capsule)

    def test_create_whose_message_was_lost(self):
        capsule = self.placed_capsule(self.member())
        self.assertEqual(states.RUNNING, self.resume(capsule).status)
        self.assert_closed(capsule)

    def test_agent_that_was_away_when_the_init_container_ended(self):
        init = self.init('a')
        capsule = self.created_capsule(init, self.member())
        self.restart()
        self.engine.exit(init.uuid)
        before = self.engine.inspect(capsule).engine_id
        self.assertEqual(states.RUNNING, self.resume(capsule).status)
        self.assertEqual(before, self.engine.inspect(capsule).engine_id)
        self.assert_closed(capsule)

    def test_init_container_that_still_runs_is_waited_for(self):
        init = self.init('a')
        capsule = self.created_capsule(init, self.member())
        self.assertEqual(states.CREATING, self.resume(capsule).status)
        self.assertEqual([states.RUNNING, states.CREATED], self.statuses(capsule))

    def test_all_that_is_open_is_found(self):
        capsule = self.placed_capsule(self.member())
        self.assertEqual(1, recovery.resume_all(self.node))
        self.assertEqual(states.RUNNING, self.settled(capsule).status)

    def test_delete(self):
        capsule = self.created_capsule(self.member())
        capsule.status, capsule.task_state = states.DELETING, states.CONTAINER_DELETING
        capsule.save()
        self.assertIsNone(self.resume(capsule))
        self.assertEqual({}, self.engine.list())


class FollowTest(capsule_base.CapsuleTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        self.useFixture(base.Quick(sync, '_FIRST_PAUSE', 0.05))
        follower = sync.Follower(self.node)
        follower.start()
        self.addCleanup(follower.stop)
        real.wait_for('the follower', lambda: self.engine._listeners)

    def wait_status(self, capsule, *statuses):
        real.wait_for(f'{statuses}', lambda: self.row(capsule).status in statuses, 5)
        return self.settled(capsule)

    def test_init_containers_without_any_help(self):
        init = self.init('a')
        capsule = self.created_capsule(init, self.member())
        self.engine.exit(init.uuid)
        self.wait_status(capsule, states.RUNNING)

    def test_members_that_end(self):
        one, two = self.member(), self.member()
        capsule = self.created_capsule(one, two)
        self.engine.exit(one.uuid)
        real.wait_for('the row', lambda: self.row(one).status == states.STOPPED, 5)
        self.assertEqual(states.RUNNING, self.settled(capsule).status)
        self.engine.exit(two.uuid)
        self.wait_status(capsule, states.STOPPED)

    def test_member_that_fails_for_good(self):
        one = self.member()
        capsule = self.created_capsule(one, self.member())
        self.engine.exit(one.uuid, 2)
        found = self.wait_status(capsule, states.ERROR)
        self.assertEqual(f'Container {one.name} failed: exit 2', found.status_reason)

    def test_sandbox_that_ends(self):
        one, two = self.member(policy='always'), self.member(policy='always')
        capsule = self.created_capsule(one, two, policy='always')
        before = self.engine.inspect(one)
        self.engine.exit(capsule.uuid)
        real.wait_for('its end', lambda: ('rebuild', None, True) in self.actions(capsule))
        self.assertEqual(states.RUNNING, self.wait_status(capsule, states.RUNNING).status)
        self.assertEqual(before.engine_id, self.engine.inspect(one).engine_id)
        self.assertEqual([states.RUNNING] * 2, self.statuses(capsule))
        self.assert_closed(capsule)

    def test_sandbox_that_ends_and_should_not_come_back(self):
        capsule = self.created_capsule(self.member())
        self.engine.exit(capsule.uuid)
        self.wait_status(capsule, states.ERROR)
        self.assertEqual([('create', None, True)], self.actions(capsule))

    def test_what_vanished_is_made_anew(self):
        one, init = self.member(policy='always'), self.init('a')
        capsule = self.created_capsule(init, one, policy='always')
        self.engine.exit(init.uuid)
        self.wait_status(capsule, states.RUNNING)
        self.engine.vanish(capsule.uuid)
        real.wait_for('the init container to run again',
                      lambda: self.row(init).status == states.RUNNING)
        self.assertEqual(states.REBUILDING, self.row(capsule).status)
        self.engine.exit(init.uuid)
        self.wait_status(capsule, states.RUNNING)
        self.assertEqual([('create', None, True), ('rebuild', None, True)],
                         self.actions(capsule))

    def test_repair_that_fails_is_repeated(self):
        self.useFixture(base.Quick(capsules, '_FIRST_RETRY', 0.05))
        one = self.member(policy='always')
        capsule = self.created_capsule(one, policy='always')
        self.engine.fail('create_sandbox', DOWN)
        self.engine.vanish(capsule.uuid)
        real.wait_for('the repair', lambda: ('rebuild', None, True) in self.actions(capsule))
        self.wait_status(capsule, states.RUNNING)
        self.assertIn(('compute__do_container_rebuild', 'Error'), self.events(capsule))
        self.assert_closed(capsule)

    def test_repairs_that_all_fail(self):
        self.useFixture(base.Quick(capsules, '_MOST_ATTEMPTS', 0))
        capsule = self.created_capsule(self.member(policy='always'), policy='always')
        self.engine.fail('create_sandbox', DOWN)
        self.engine.vanish(capsule.uuid)
        real.wait_for('the failure', lambda: ('rebuild', 'Error', True) in self.actions(capsule))
        self.assertEqual(states.ERROR, self.settled(capsule).status)
        sync.reconcile(self.node)
        real.wait_for('the repair', lambda: ('rebuild', None, True) in self.actions(capsule))
        self.wait_status(capsule, states.RUNNING)

    def test_engine_that_fails_while_members_start(self):
        self.useFixture(base.Quick(capsules, '_FIRST_RETRY', 0.05))
        capsule = self.placed_capsule(self.member())
        start = self.engine.start

        def fail_once(container):
            if container.uuid != capsule.uuid:
                self.engine.start = start
                raise DOWN
            return start(container)
        self.engine.start = fail_once
        self.send(capsule, 'create', generation=0)
        self.wait_status(capsule, states.RUNNING)
        self.assert_closed(capsule)

    def test_neither_capsule_nor_members_are_strangers(self):
        capsule = self.created_capsule(self.member(), self.member())
        sync.reconcile(self.node)
        self.assertEqual({}, self.node.orphans)
        self.assertEqual([True] * 3, [seen.running for seen in self.engine.list().values()])
        self.assertEqual(states.RUNNING, self.settled(capsule).status)
