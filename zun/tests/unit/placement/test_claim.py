# SPDX-License-Identifier: Apache-2.0
"""Claim, resize and release against every order of answers."""

from zun.common import exception
from zun.placement import ledger
from zun.tests.unit.placement import scripted
from zun.tests.unit.placement.scripted import answer
from zun.tests.unit.placement.scripted import held

RACED = answer(409, code=scripted.CONCURRENT)
NO_ROOM = answer(409, code=scripted.UNDEFINED)
BAD = answer(400, code=scripted.UNDEFINED)
DONE = answer(204)
FOUND = answer(200, {'resource_providers': [{'uuid': scripted.RP, 'name': 'a'}]})
GONE = answer(200, {'resource_providers': []})
MINE = held({scripted.RP: scripted.RESOURCES})
NOTHING = held({})


class ClaimTest(scripted.TestCase):
    def _claim(self, *script):
        return self.ledger(*script).claim(scripted.CONSUMER, scripted.CANDIDATE)

    def _generations(self):
        return [body['consumer_generation'] for method, _path, body in self.adapter.calls
                if method == 'PUT']

    def test_one_request_when_nobody_interferes(self):
        self.assertTrue(self._claim(DONE))
        self.assertEqual([('PUT', f'/allocations/{scripted.CONSUMER.uuid}', {
            'allocations': {scripted.RP: {'resources': scripted.RESOURCES}},
            'project_id': 'project', 'user_id': 'user', 'consumer_generation': None,
            'consumer_type': 'CONTAINER'})], self.adapter.calls)

    def test_no_room(self):
        self.assertFalse(self._claim(NO_ROOM))
        self.assertEqual(1, len(self.adapter.calls))

    def test_orphan_record_of_the_consumer(self):
        self.assertTrue(self._claim(RACED, NOTHING, DONE))
        self.assertEqual([None, 0], self._generations())

    def test_conflicts_then_success(self):
        for count in range(1, 6):
            self.assertTrue(self._claim(*[RACED, NOTHING] * count, DONE))
            self.assertEqual(([None, 0] * 3)[:count + 1], self._generations())

    def test_conflicts_for_ever_end(self):
        error = self.assertRaises(exception.LedgerUnavailable, self._claim,
                                  *[RACED, NOTHING] * 20)
        self.assertIn('contended', error.message)
        self.assertEqual(14, len(self.adapter.calls))
        self.assertEqual(7, self.pause.call_count)

    def test_lost_answer_of_an_earlier_try(self):
        self.assertTrue(self._claim(answer(503), RACED, MINE))

    def test_claim_of_somebody_else(self):
        for found in (held({scripted.OTHER_RP: scripted.RESOURCES}),
                      held({scripted.RP: {'VCPU': 9}}),
                      held({scripted.RP: scripted.RESOURCES}, project='another')):
            self.assertRaises(exception.ConsumerConflict, self._claim, RACED, found)
            self.assertEqual(2, len(self.adapter.calls))

    def test_provider_that_vanished(self):
        self.assertFalse(self._claim(BAD, GONE))
        self.assertEqual(['PUT allocations', 'GET resource_providers'], self.adapter.methods)

    def test_request_that_is_wrong(self):
        self.assertRaises(exception.ZunException, self._claim, BAD, FOUND)
        self.assertEqual(2, len(self.adapter.calls))

    def test_conflict_of_an_unknown_kind_is_no_want_of_room(self):
        self.assertRaises(exception.Conflict, self._claim, answer(409, code='placement.new'))

    def test_placement_that_comes_back(self):
        self.assertTrue(self._claim(answer(503), answer(503), answer(503), DONE))

    def test_placement_that_does_not(self):
        self.assertRaises(exception.LedgerUnavailable, self._claim, answer(503))
        self.assertEqual(4, len(self.adapter.calls))


class ReleaseTest(scripted.TestCase):
    def _release(self, *script):
        self.ledger(*script).release(scripted.CONSUMER.uuid)
        return self.adapter.methods

    def test_nothing_held_is_never_written(self):
        self.assertEqual(['GET allocations'], self._release(NOTHING))

    def test_with_the_generation_that_was_read(self):
        self._release(held({scripted.RP: scripted.RESOURCES}, generation=4), DONE)
        body = self.adapter.calls[1][2]
        self.assertEqual(({}, 4, 'project', 'CONTAINER'), (
            body['allocations'], body['consumer_generation'], body['project_id'],
            body['consumer_type']))

    def test_lost_answer(self):
        self.assertEqual(['GET allocations', 'PUT allocations', 'PUT allocations',
                          'GET allocations'],
                         self._release(MINE, answer(502), RACED, NOTHING))

    def test_conflicts_then_success(self):
        for count in range(1, 5):
            self.assertEqual(2 * (count + 1), len(self._release(*[MINE, RACED] * count,
                                                                MINE, DONE)))

    def test_conflicts_for_ever_end(self):
        self.assertRaises(exception.LedgerUnavailable, self._release, *[MINE, RACED] * 20)
        self.assertEqual(10, len(self.adapter.calls))

    def test_a_move_under_way_is_left_alone(self):
        both = held({scripted.RP: scripted.RESOURCES, scripted.OTHER_RP: scripted.RESOURCES})
        self.assertEqual(['GET allocations', 'PUT allocations', 'GET allocations'],
                         self._release(MINE, RACED, both))


class LeaveTest(scripted.TestCase):
    BOTH = held({scripted.RP: scripted.RESOURCES, scripted.OTHER_RP: scripted.RESOURCES},
                generation=3)

    def _leave(self, *script):
        self.ledger(*script).leave(scripted.CONSUMER.uuid, scripted.RP)
        return [(body['allocations'], body['consumer_generation'])
                for method, _path, body in self.adapter.calls if method == 'PUT']

    def test_the_other_host_stays(self):
        rest = {scripted.OTHER_RP: {'resources': scripted.RESOURCES}}
        self.assertEqual([(rest, 3)], self._leave(self.BOTH, DONE))
        self.assertEqual([(rest, 3)] * 2, self._leave(self.BOTH, RACED, self.BOTH, DONE))

    def test_shared_storage_goes_with_the_last_host(self):
        shared = held({scripted.RP: scripted.RESOURCES, scripted.OTHER_RP: {'DISK_GB': 5}})
        (left, _generation), = self._leave(shared, DONE)
        self.assertEqual({}, left)

    def test_what_is_not_held_is_never_written(self):
        for found in (NOTHING, held({scripted.OTHER_RP: scripted.RESOURCES})):
            self.assertEqual([], self._leave(found))

    def test_conflicts_for_ever_end(self):
        self.assertRaises(exception.LedgerUnavailable, self._leave, *[self.BOTH, RACED] * 20)
        self.assertEqual(10, len(self.adapter.calls))


class ResizeTest(scripted.TestCase):
    def _resize(self, *script, resources=None):
        return self.ledger(*script).resize(scripted.CONSUMER,
                                           resources or {'VCPU': 2, 'MEMORY_MB': 512})

    def test_on_the_same_provider(self):
        self.assertTrue(self._resize(MINE, DONE))
        self.assertEqual({scripted.RP: {'resources': {'VCPU': 2, 'MEMORY_MB': 512}}},
                         self.adapter.calls[1][2]['allocations'])

    def test_every_class_stays_where_it_is(self):
        spread = held({scripted.RP: scripted.RESOURCES, scripted.OTHER_RP: {'DISK_GB': 1}})
        self.assertTrue(self._resize(spread, DONE, resources={
            'VCPU': 3, 'MEMORY_MB': 1024, 'DISK_GB': 5, 'CUSTOM_X': 1}))
        self.assertEqual({
            scripted.RP: {'resources': {'VCPU': 3, 'MEMORY_MB': 1024, 'CUSTOM_X': 1}},
            scripted.OTHER_RP: {'resources': {'DISK_GB': 5}}},
            self.adapter.calls[1][2]['allocations'])

    def test_no_change_is_no_write(self):
        self.assertTrue(self._resize(MINE, resources=scripted.RESOURCES))
        self.assertEqual(['GET allocations'], self.adapter.methods)

    def test_no_room(self):
        self.assertFalse(self._resize(MINE, NO_ROOM))

    def test_nothing_held(self):
        self.assertTrue(self._resize(NOTHING))
        self.assertEqual(['GET allocations'], self.adapter.methods)

    def test_conflicts(self):
        self.assertTrue(self._resize(MINE, RACED, MINE, DONE))
        self.assertRaises(exception.LedgerUnavailable, self._resize, *[MINE, RACED] * 20)
        self.assertEqual(14, len(self.adapter.calls))


class CandidatesTest(scripted.TestCase):
    EMPTY = answer(200, {'allocation_requests': [], 'provider_summaries': {}})

    def test_fresh_placement_learns_the_trait_once(self):
        found = self.ledger(BAD, answer(201), self.EMPTY).candidates(
            scripted.RESOURCES, forbidden=[ledger.DISABLED_TRAIT])
        self.assertEqual([], found)
        self.assertEqual(['GET allocation_candidates', 'PUT traits',
                          'GET allocation_candidates'], self.adapter.methods)

    def test_a_request_that_stays_bad_ends(self):
        self.assertRaises(exception.ZunException, self.ledger(BAD, answer(204), BAD).candidates,
                          scripted.RESOURCES, forbidden=[ledger.DISABLED_TRAIT])
        self.assertEqual(3, len(self.adapter.calls))

    def test_trees_and_shared_disk(self):
        numa, disk = '33333333-0000-4000-8000-000000000001', scripted.OTHER_RP
        body = {
            'allocation_requests': [{'allocations': {
                disk: {'resources': {'DISK_GB': 5}},
                numa: {'resources': {'VCPU': 1, 'MEMORY_MB': 512}}}}],
            'provider_summaries': {
                scripted.RP: {'resources': {'MEMORY_MB': {'capacity': 10, 'used': 1}},
                              'root_provider_uuid': scripted.RP},
                numa: {'resources': {'MEMORY_MB': {'capacity': 4000, 'used': 600},
                                     'VCPU': {'capacity': 8, 'used': 2}},
                       'root_provider_uuid': scripted.RP},
                disk: {'resources': {'DISK_GB': {'capacity': 100, 'used': 0}},
                       'root_provider_uuid': disk}}}
        found, = self.ledger(answer(200, body)).candidates(scripted.RESOURCES)
        self.assertEqual(scripted.RP, found.provider)
        self.assertEqual({numa: {'VCPU': 1, 'MEMORY_MB': 512}, disk: {'DISK_GB': 5}},
                         found.allocations)
        self.assertEqual(({'MEMORY_MB': 4010, 'VCPU': 8}, {'MEMORY_MB': 601, 'VCPU': 2}),
                         (found.capacity, found.used))
