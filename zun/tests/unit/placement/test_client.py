# SPDX-License-Identifier: Apache-2.0
import fixtures
from keystoneauth1 import exceptions as ks_exc

from zun.common import context
from zun.common import exception
from zun.placement import client
from zun.tests import base
from zun.tests.unit.placement import scripted

PROVIDERS = {'resource_providers': []}


class VersionTest(scripted.TestCase):
    def _pinned(self, newest):
        connection = self.connect(scripted.answer(200, PROVIDERS))
        self.adapter.root = scripted.answer(200, {'versions': [{'max_version': newest}]})
        client.find_provider(connection, uuid=scripted.RP)
        return self.adapter.headers[0]['OpenStack-API-Version']

    def test_ours_unless_less_is_offered(self):
        for newest, pinned in (('1.39', '1.39'), ('1.45', '1.39'), ('1.31', '1.31'),
                               ('1.36', '1.36')):
            self.assertEqual(f'placement {pinned}', self._pinned(newest))

    def test_too_old_is_refused_by_name(self):
        for newest in ('1.30', '1.9'):
            error = self.assertRaises(exception.ConfigInvalid, self._pinned, newest)
            self.assertIn(f'Placement offers {newest}; 1.31 is needed', error.message)

    def test_types_of_consumers_need_1_38(self):
        connection = self.connect(scripted.answer(204))
        client.put_allocations(connection, scripted.CONSUMER, {}, None)
        self.assertEqual('CONTAINER', self.adapter.calls[0][2]['consumer_type'])
        connection = self.connect(scripted.answer(204))
        self.adapter.root = scripted.answer(200, {'versions': [{'max_version': '1.37'}]})
        client.put_allocations(connection, scripted.CONSUMER, {}, None)
        self.assertNotIn('consumer_type', self.adapter.calls[0][2])

    def test_another_release_is_noticed_once(self):
        connection = self.connect(scripted.answer(200, PROVIDERS), scripted.answer(406),
                                  scripted.answer(200, PROVIDERS))
        client.find_provider(connection, uuid=scripted.RP)
        self.adapter.root = scripted.answer(200, {'versions': [{'max_version': '1.35'}]})
        client.find_provider(connection, uuid=scripted.RP)
        self.assertEqual(['placement 1.39', 'placement 1.39', 'placement 1.35'],
                         [item['OpenStack-API-Version'] for item in self.adapter.headers])

    def test_a_version_that_is_never_right_ends(self):
        connection = self.connect(scripted.answer(406, code=scripted.UNDEFINED))
        self.assertRaises(exception.ZunException, client.find_provider, connection,
                          uuid=scripted.RP)
        self.assertEqual(2, len(self.adapter.calls))


class RetryTest(scripted.TestCase):
    def test_transient_failures_are_repeated(self):
        for failure in (scripted.answer(429), scripted.answer(500), scripted.answer(502),
                        scripted.answer(503), scripted.answer(504), ks_exc.ConnectFailure(),
                        ks_exc.ConnectTimeout(), ks_exc.EndpointNotFound()):
            connection = self.connect(failure, failure, failure,
                                      scripted.answer(200, PROVIDERS))
            self.assertIsNone(client.find_provider(connection, uuid=scripted.RP))
            self.assertEqual(4, len(self.adapter.calls))

    def test_the_end_of_patience(self):
        for retries in (0, 3):
            self.config(group='placement_client', max_retries=retries)
            connection = self.connect(scripted.answer(503))
            error = self.assertRaises(exception.LedgerUnavailable, client.find_provider,
                                      connection, uuid=scripted.RP)
            self.assertEqual(retries + 1, len(self.adapter.calls))
            self.assertIn('answered 503', error.message)
            self.assertNotIn(scripted.RP, error.message)

    def test_retry_after_is_honoured_within_reason(self):
        for header, least in (('7', 7.0), ('600', 30.0), ('soon', 0.0)):
            self.pause.reset_mock()
            connection = self.connect(scripted.answer(429, **{'Retry-After': header}),
                                      scripted.answer(200, PROVIDERS))
            client.find_provider(connection, uuid=scripted.RP)
            self.pause.assert_called_once_with(0, 0.5, least)

    def test_candidates_that_time_out_are_asked_for_once_more_and_later(self):
        connection = self.connect(ks_exc.ConnectTimeout())
        error = self.assertRaises(exception.LedgerUnavailable, client.candidates, connection,
                                  'resources=VCPU:1')
        self.assertEqual(2, len(self.adapter.calls))
        self.pause.assert_called_once_with(0, 0.5, 5.0)
        self.assertTrue(error.kwargs['timed_out'])

    def test_nobody_may_do_this(self):
        for refusal in (scripted.answer(401, {'message': 'no', 'code': '401 Unauthorized'}),
                        scripted.answer(403, code=scripted.UNDEFINED, detail='Policy'),
                        ks_exc.Unauthorized()):
            connection = self.connect(refusal)
            error = self.assertRaises(exception.LedgerForbidden, client.find_provider,
                                      connection, uuid=scripted.RP)
            self.assertEqual(1, len(self.adapter.calls))
            self.assertIn('role service or admin', error.message)

    def test_what_is_wrong_for_good_is_not_repeated(self):
        for status, error in ((400, exception.ZunException), (404, exception.NotFound),
                              (415, exception.ZunException)):
            connection = self.connect(scripted.answer(status, code=scripted.UNDEFINED))
            self.assertRaises(error, client.find_provider, connection, uuid=scripted.RP)
            self.assertEqual(1, len(self.adapter.calls))

    def test_a_page_of_a_proxy_is_no_answer(self):
        response = scripted.answer(200)
        response._content = b'<html>'
        self.assertRaises(exception.LedgerUnavailable, client.find_provider, self.connect(response),
                          uuid=scripted.RP)


class PauseTest(base.TestCase):
    def test_bounds(self):
        sleep = self.useFixture(fixtures.MockPatch('time.sleep')).mock
        for attempt, most in ((0, 0.5), (1, 1.0), (3, 4.0)):
            for _round in range(50):
                client.pause(attempt, 0.5)
                self.assertLessEqual(sleep.call_args.args[0], most)
        seen = {call.args[0] for call in sleep.call_args_list}
        self.assertGreater(len(seen), 100)
        client.pause(0, 0.5, 30.0)
        self.assertEqual(30.0, sleep.call_args.args[0])


class HeaderAndLogTest(scripted.TestCase):
    def test_request_id_of_whoever_asked(self):
        asker = context.RequestContext()
        connection = self.connect(scripted.answer(200, PROVIDERS))
        client.find_provider(connection, uuid=scripted.RP)
        headers = self.adapter.headers[0]
        self.assertEqual(('application/json', asker.request_id),
                         (headers['Accept'], headers['X-Openstack-Request-Id']))

    def test_one_line_for_a_write_and_none_for_a_read(self):
        log = self.useFixture(fixtures.FakeLogger('zun.placement.client', level=20))
        connection = self.connect(scripted.answer(204))
        client.put_allocations(connection, scripted.CONSUMER, {scripted.RP: {'VCPU': 2}}, None)
        self.assertEqual(1, log.output.count('\n'))
        for word in (scripted.CONSUMER.uuid, scripted.RP, '"VCPU": 2'):
            self.assertIn(word, log.output)
        self.assertNotIn('project', log.output)
        client.find_provider(self.connect(scripted.answer(200, PROVIDERS)), uuid=scripted.RP)
        client.put_allocations(self.connect(scripted.answer(409, code=scripted.UNDEFINED)),
                               scripted.CONSUMER, {}, None)
        self.assertEqual(1, log.output.count('\n'))

    def test_traits_that_are_known_are_success(self):
        for status in (201, 204):
            client.ensure_trait(self.connect(scripted.answer(status)), 'CUSTOM_X')
        self.assertRaises(exception.ZunException, client.ensure_trait,
                          self.connect(scripted.answer(400, code=scripted.UNDEFINED)), 'X')
