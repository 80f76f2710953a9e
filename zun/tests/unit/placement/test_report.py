# SPDX-License-Identifier: Apache-2.0
"""What a node tells Placement, against every order of answers."""

import time

import fixtures

from zun.common import exception
from zun.placement import ledger
from zun.tests.unit.placement import scripted
from zun.tests.unit.placement.scripted import answer

CPU = {'total': 4, 'reserved': 0, 'min_unit': 1, 'max_unit': 4, 'step_size': 1,
       'allocation_ratio': 16.0}
WANT = {'VCPU': ledger.Inventory(4, 0, 16.0)}
CONFLICT = answer(409, code=scripted.CONCURRENT)


def inventories(generation=1, **classes):
    return answer(200, {'inventories': classes, 'resource_provider_generation': generation})


def traits(*names, generation=1):
    return answer(200, {'traits': [ledger.NODE_TRAIT, *names],
                        'resource_provider_generation': generation})


def usages(**amounts):
    return answer(200, {'usages': amounts, 'resource_provider_generation': 1})


PUT_OK = answer(200, {})


class ReportTest(scripted.TestCase):
    def _report(self, *script, want=None, own=()):
        self.books = self.ledger(*script)
        self.books.report(scripted.RP, WANT if want is None else want, own)
        return [f'{method} {path.rpartition("/")[2]}'
                for method, path, _body in self.adapter.calls]

    def test_no_change_is_no_write(self):
        self.assertEqual(['GET inventories', 'GET traits'],
                         self._report(inventories(VCPU=CPU), traits('HW_X')))
        self.books.report(scripted.RP, WANT)
        self.assertEqual(2, len(self.adapter.calls))

    def test_looked_at_again_when_old_or_changed(self):
        now = self.useFixture(fixtures.MockPatchObject(time, 'monotonic')).mock
        now.return_value = 1000.0
        self._report(inventories(VCPU=CPU), traits(), inventories(VCPU=CPU), traits())
        now.return_value = 1299.0
        self.books.report(scripted.RP, WANT)
        self.assertEqual(2, len(self.adapter.calls))
        now.return_value = 1301.0
        self.books.report(scripted.RP, WANT)
        self.assertEqual(4, len(self.adapter.calls))

    def test_never_looked_at_again_with_refresh_0(self):
        self.config(group='compute', resource_provider_association_refresh=0)
        now = self.useFixture(fixtures.MockPatchObject(time, 'monotonic')).mock
        now.return_value = 1000.0
        self._report(inventories(VCPU=CPU), traits())
        now.return_value = 99999.0
        self.books.report(scripted.RP, WANT)
        self.assertEqual(2, len(self.adapter.calls))

    def test_first_report(self):
        self._report(inventories(generation=3), PUT_OK, traits())
        self.assertEqual(('PUT', f'/resource_providers/{scripted.RP}/inventories', {
            'resource_provider_generation': 3, 'inventories': {'VCPU': CPU}}),
            self.adapter.calls[1])

    def test_conflicts_read_again_and_end(self):
        for count in range(1, 5):
            self._report(*[inventories(), CONFLICT] * count, inventories(generation=9), PUT_OK,
                         traits())
            put = self.adapter.calls[2 * count + 1]
            self.assertEqual(9, put[2]['resource_provider_generation'])
        self.assertRaises(exception.LedgerUnavailable, self._report,
                          *[inventories(), CONFLICT] * 20)
        self.assertEqual(10, len(self.adapter.calls))

    def test_a_failed_report_is_not_taken_for_known(self):
        self.assertRaises(exception.LedgerUnavailable, self._report, answer(503))
        self.adapter.script = [inventories(VCPU=CPU), traits()]
        self.adapter.calls.clear()
        self.books.report(scripted.RP, WANT)
        self.assertEqual(2, len(self.adapter.calls))

    def test_ratio_that_placement_holds_stays_unless_an_option_says_otherwise(self):
        operators = {**CPU, 'allocation_ratio': 4.0}
        self.assertEqual(['GET inventories', 'GET traits'],
                         self._report(inventories(VCPU=operators), traits()))
        self.config(group='compute', cpu_allocation_ratio=16.0)
        self.assertEqual(['GET inventories', 'PUT inventories', 'GET traits'],
                         self._report(inventories(VCPU=operators), PUT_OK, traits()))

    def test_shrinking_below_usage_reserves_instead(self):
        disk = {**CPU, 'total': 100, 'max_unit': 100, 'allocation_ratio': 1.0}
        want = {'DISK_GB': ledger.Inventory(50, 10, 1.0)}
        script = (inventories(DISK_GB=disk), usages(DISK_GB=60), PUT_OK, traits())
        self.assertEqual(['GET inventories', 'GET usages', 'PUT inventories', 'GET traits'],
                         self._report(*script, want=want))
        sent = self.adapter.calls[2][2]['inventories']['DISK_GB']
        self.assertEqual((100, 60, 100), (sent['total'], sent['reserved'], sent['max_unit']))
        # and the next report finds it as it wants it
        self._report(inventories(DISK_GB=sent), usages(DISK_GB=60), traits(), want=want)
        self.assertEqual(3, len(self.adapter.calls))
        # until there is room again
        self._report(inventories(DISK_GB=sent), usages(DISK_GB=30), PUT_OK, traits(), want=want)
        sent = self.adapter.calls[2][2]['inventories']['DISK_GB']
        self.assertEqual((50, 10), (sent['total'], sent['reserved']))

    def test_shrinking_with_a_ratio_looks_at_the_capacity(self):
        self._report(inventories(VCPU={**CPU, 'total': 8, 'max_unit': 8}), usages(VCPU=60),
                     PUT_OK, traits())
        self.assertEqual(4, self.adapter.calls[2][2]['inventories']['VCPU']['total'])

    def test_class_in_use_is_kept_but_closed(self):
        disk = {**CPU, 'total': 100, 'max_unit': 100, 'allocation_ratio': 1.0}
        self._report(inventories(VCPU=CPU, DISK_GB=disk), usages(DISK_GB=1), PUT_OK, traits())
        self.assertEqual({'VCPU': CPU, 'DISK_GB': {**disk, 'reserved': 100}},
                         self.adapter.calls[2][2]['inventories'])
        self._report(inventories(VCPU=CPU, DISK_GB=disk), usages(DISK_GB=0), PUT_OK, traits())
        self.assertEqual({'VCPU': CPU}, self.adapter.calls[2][2]['inventories'])

    def test_misleading_code_for_a_class_in_use_ends(self):
        in_use = answer(409, code='placement.inventory.inuse')
        for refusal in (in_use, CONFLICT):
            self.assertRaises(exception.LedgerUnavailable, self._report,
                              *[inventories(), refusal] * 20)
            self.assertEqual(10, len(self.adapter.calls))

    def test_every_host_of_ours_is_marked(self):
        self._report(inventories(VCPU=CPU), answer(
            200, {'traits': ['HW_X'], 'resource_provider_generation': 1}), answer(201), PUT_OK)
        self.assertEqual([ledger.NODE_TRAIT, 'HW_X'], self.adapter.calls[3][2]['traits'])

    def test_only_our_traits_are_ours(self):
        self._report(inventories(VCPU=CPU), traits('HW_X', 'CUSTOM_ZUN_OLD', 'CUSTOM_OTHER'),
                     answer(201), PUT_OK, own=[ledger.DISABLED_TRAIT])
        self.assertEqual([('PUT', f'/traits/{ledger.DISABLED_TRAIT}', None),
                          ('PUT', f'/resource_providers/{scripted.RP}/traits', {
                              'resource_provider_generation': 1, 'traits': [
                                  'CUSTOM_OTHER', ledger.NODE_TRAIT, ledger.DISABLED_TRAIT,
                                  'HW_X']})],
                         self.adapter.calls[2:])

    def test_unknown_provider(self):
        self.assertRaises(exception.ResourceProviderNotFound, self._report,
                          answer(404, code=scripted.UNDEFINED))

    def test_shared_with_nova_writes_no_inventory(self):
        self.config(group='compute', host_shared_with_nova=True)
        self.assertEqual(['GET traits', f'PUT {ledger.DISABLED_TRAIT}', 'PUT traits'],
                         self._report(traits('COMPUTE_NODE'), answer(204), PUT_OK,
                                      own=[ledger.DISABLED_TRAIT]))


class DisabledTest(scripted.TestCase):
    def test_set_and_unset(self):
        self.ledger(traits('HW_X'), answer(204), PUT_OK).set_disabled(scripted.RP, True)
        self.assertEqual([ledger.NODE_TRAIT, ledger.DISABLED_TRAIT, 'HW_X'],
                         self.adapter.calls[2][2]['traits'])
        self.ledger(traits('HW_X', ledger.DISABLED_TRAIT), PUT_OK).set_disabled(
            scripted.RP, False)
        self.assertEqual([ledger.NODE_TRAIT, 'HW_X'], self.adapter.calls[1][2]['traits'])

    def test_nothing_to_change(self):
        self.ledger(traits()).set_disabled(scripted.RP, False)
        self.assertEqual(1, len(self.adapter.calls))

    def test_no_such_provider(self):
        self.ledger(answer(404, code=scripted.UNDEFINED)).set_disabled(scripted.RP, True)
        self.assertEqual(1, len(self.adapter.calls))


def providers(*found):
    return answer(200, {'resource_providers': [
        {'uuid': uuid, 'name': name} for uuid, name in found]})


DUPLICATE = answer(409, code='placement.duplicate_name')


class ProviderTest(scripted.TestCase):
    def _ensure(self, *script):
        return self.ledger(*script).ensure_provider(scripted.RP, 'host1')

    def test_found(self):
        self.assertEqual(scripted.RP, self._ensure(providers((scripted.RP, 'host1'))))
        self.assertEqual(1, len(self.adapter.calls))

    def test_renamed(self):
        self._ensure(providers((scripted.RP, 'old')), answer(200, {}))
        self.assertEqual(('PUT', {'name': 'host1'}), self.adapter.calls[1][::2])

    def test_rename_that_is_refused_keeps_the_old_name(self):
        self.assertEqual(scripted.RP, self._ensure(providers((scripted.RP, 'old')), DUPLICATE))

    def test_created(self):
        self.assertEqual(scripted.RP, self._ensure(providers(), answer(200, {})))
        self.assertEqual({'uuid': scripted.RP, 'name': 'host1'}, self.adapter.calls[1][2])

    def test_made_by_a_lost_request(self):
        self.assertEqual(scripted.RP, self._ensure(
            providers(), DUPLICATE, providers((scripted.RP, 'host1'))))

    def test_former_life_without_allocations_is_replaced(self):
        self.assertEqual(scripted.RP, self._ensure(
            providers(), DUPLICATE, providers(), providers((scripted.OTHER_RP, 'host1')),
            answer(204), answer(200, {})))
        self.assertEqual(['GET', 'POST', 'GET', 'GET', 'DELETE', 'POST'],
                         [method for method, _path, _body in self.adapter.calls])

    def test_former_life_with_allocations_goes_on(self):
        in_use = answer(409, code='placement.resource_provider.inuse')
        self.assertEqual(scripted.OTHER_RP, self._ensure(
            providers(), DUPLICATE, providers(), providers((scripted.OTHER_RP, 'host1')),
            in_use))

    def test_endless_duplicates_end(self):
        former = providers((scripted.OTHER_RP, 'host1'))
        self.assertRaises(exception.LedgerUnavailable, self._ensure, providers(),
                          *[DUPLICATE, providers(), former, answer(204)] * 5)
        self.assertEqual(9, len(self.adapter.calls))

    def test_a_name_that_is_refused(self):
        self.assertRaises(exception.ZunException, self._ensure, providers(),
                          answer(400, code=scripted.UNDEFINED), providers())

    def test_shared_with_nova_is_found_by_name(self):
        self.config(group='compute', host_shared_with_nova=True)
        self.assertEqual(scripted.OTHER_RP, self._ensure(
            providers((scripted.OTHER_RP, 'host1'))))
        self.assertRaises(exception.ResourceProviderNotFound, self._ensure, providers())


class ForgetTest(scripted.TestCase):
    def test_removed_or_gone(self):
        self.ledger(traits(), answer(204)).forget(scripted.RP)
        self.assertEqual('DELETE', self.adapter.calls[1][0])
        self.ledger(traits(), answer(404, code=scripted.UNDEFINED)).forget(scripted.RP)
        self.ledger(answer(404, code=scripted.UNDEFINED)).forget(scripted.RP)

    def test_in_use(self):
        books = self.ledger(traits(), answer(409, code='placement.resource_provider.inuse'))
        self.assertRaises(exception.Conflict, books.forget, scripted.RP)

    def test_novas_own_provider_stays(self):
        novas = traits('COMPUTE_NODE', ledger.DISABLED_TRAIT)
        self.ledger(novas, novas, PUT_OK).forget(scripted.RP)
        self.assertEqual(['GET', 'GET', 'PUT'],
                         [method for method, _path, _body in self.adapter.calls])
        self.assertEqual(['COMPUTE_NODE'], self.adapter.calls[2][2]['traits'])


class ReadTest(scripted.TestCase):
    def test_allocations_of_a_provider(self):
        books = self.ledger(answer(200, {
            'allocations': {'c': {'resources': {'VCPU': 1}, 'consumer_generation': 2}},
            'resource_provider_generation': 5}))
        self.assertEqual({'c': {'VCPU': 1}}, books.allocations_on(scripted.RP))
        self.assertEqual({}, self.ledger(
            answer(404, code=scripted.UNDEFINED)).allocations_on(scripted.RP))

    def test_hosts_are_those_with_our_trait(self):
        books = self.ledger(providers((scripted.RP, 'host1')),
                            providers((scripted.OTHER_RP, 'host2')))
        self.assertEqual({scripted.RP: 'host1', scripted.OTHER_RP: 'host2'}, books.providers())
        self.assertEqual(['/resource_providers?required=CUSTOM_ZUN_COMPUTE',
                          '/resource_providers?required=CUSTOM_ZUN_COMPUTE_STATUS_DISABLED'],
                         [path for _method, path, _body in self.adapter.calls])
        self.assertEqual({}, self.ledger(answer(400, code=scripted.UNDEFINED)).providers())

    def test_prepare_reads_and_makes_the_trait_known(self):
        self.ledger(providers(), answer(201), answer(204)).prepare()
        self.assertEqual(['GET resource_providers', 'PUT traits', 'PUT traits'],
                         self.adapter.methods)
        self.assertRaises(exception.LedgerForbidden, self.ledger(
            answer(403, code=scripted.UNDEFINED)).prepare)
