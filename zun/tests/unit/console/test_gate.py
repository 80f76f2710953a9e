# SPDX-License-Identifier: Apache-2.0
"""Origins, forwarded headers, failures."""

from websockets import datastructures

from zun.console import gate
from zun.tests import base


class TestOrigins(base.TestCase):
    def allow(self, origin: str | None, proto: str | None = None) -> bool:
        return gate.Origins.configured().allow(origin, proto)

    def test_plain_base_url(self):
        self.config(group='websocket_proxy', base_url='ws://console.example:6784/',
                    allowed_origins=['Dashboard.example', '[::1]'])
        for origin, expected in (
                (None, True),
                ('http://console.example', True),
                ('http://console.example:6784', True),
                ('http://console.example:None', True),
                ('http://CONSOLE.example:99999', True),
                ('ws://console.example', True),
                ('http://dashboard.example', True),
                ('http://[::1]:8080', True),
                ('https://console.example', False),
                ('https://dashboard.example', False),
                ('http://console.example.evil.example', False),
                ('http://evil.example', False),
                ('http://console.example@evil.example', False),
                ('ftp://console.example', False),
                ('file:///console.example', False),
                ('console.example', False),
                ('null', False),
                ('', False),
                ('http://', False),
                ('http://[::1', False)):
            self.assertEqual(expected, self.allow(origin), origin)

    def test_several_base_urls(self):
        self.config(group='websocket_proxy', base_url='wss://public.example/c/',
                    additional_base_urls=['ws://10.0.0.1:6784/', 'wss://[fd00::1]/'],
                    allowed_origins=['dashboard.example'])
        for origin, expected in (
                ('https://public.example', True), ('http://public.example', False),
                ('http://10.0.0.1:6784', True), ('https://10.0.0.1', False),
                ('https://[FD00::1]:444', True),
                ('https://dashboard.example', True), ('http://dashboard.example', True)):
            self.assertEqual(expected, self.allow(origin), origin)

    def test_what_a_trusted_proxy_says(self):
        self.config(group='websocket_proxy', base_url='wss://public.example/')
        for origin, proto, expected in (
                ('https://public.example', 'https', True),
                ('http://public.example', 'https', True),
                ('https://public.example', 'http', False),
                (None, 'https', True), (None, 'wss', True), (None, 'http', False),
                (None, 'gopher', False), (None, '', False),
                ('https://evil.example', 'https', False)):
            self.assertEqual(expected, self.allow(origin, proto), (origin, proto))

    def test_a_request_changes_nothing(self):
        self.config(group='websocket_proxy', base_url='ws://console.example/')
        origins = gate.Origins.configured()
        before = repr(origins)
        origins.allow('http://evil.example', None)
        self.assertEqual(before, repr(origins))


class TestClient(base.TestCase):
    HEADERS = {'X-Forwarded-Proto': 'HTTPS, http', 'X-Forwarded-For': '6.6.6.6, 192.0.2.7'}

    def client(self, headers: dict[str, str]) -> gate.Client:
        return gate.client_of(datastructures.Headers(headers), '10.0.0.9')

    def test_header_given_twice(self):
        self.config(group='oslo_middleware', enable_proxy_headers_parsing=True)
        headers = datastructures.Headers([('X-Forwarded-For', '6.6.6.6'),
                                          ('X-Forwarded-For', '192.0.2.7')])
        self.assertEqual('192.0.2.7', gate.client_of(headers, '10.0.0.9').address)

    def test_headers_of_anybody_do_not_count(self):
        self.assertEqual(('10.0.0.9', None), self.client(self.HEADERS))

    def test_headers_of_a_trusted_proxy(self):
        self.config(group='oslo_middleware', enable_proxy_headers_parsing=True)
        for headers, expected in (
                (self.HEADERS, ('192.0.2.7', 'https')),
                ({}, ('10.0.0.9', None)),
                ({'X-Forwarded-For': 'nonsense' * 99}, ('10.0.0.9', None)),
                ({'X-Forwarded-For': '2001:db8::1'}, ('2001:db8::1', None))):
            self.assertEqual(expected, self.client(headers))


class TestFailures(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.config(group='websocket_proxy', max_failures=3)
        self.failures = gate.Failures()

    def fail(self, *times: float, address: str = 'a') -> None:
        for now in times:
            self.failures.add(address, now)

    def test_limit(self):
        self.fail(0, 1)
        self.assertFalse(self.failures.too_many('a', 2))
        self.fail(2)
        self.assertTrue(self.failures.too_many('a', 3))
        self.assertFalse(self.failures.too_many('b', 3))

    def test_a_minute_later(self):
        self.fail(0, 1, 2)
        self.assertFalse(self.failures.too_many('a', 60.5))
        self.assertFalse(self.failures.too_many('a', 1000))
        self.assertEqual({}, self.failures._times)

    def test_no_limit(self):
        self.config(group='websocket_proxy', max_failures=0)
        self.fail(*range(99))
        self.assertFalse(self.failures.too_many('a', 99))
        self.assertLessEqual(len(self.failures._times['a']), 1)

    def test_memory_is_bounded(self):
        for number in range(gate._MOST_ADDRESSES + 5):
            self.fail(0, address=str(number))
        self.assertEqual(gate._MOST_ADDRESSES, len(self.failures._times))
        self.fail(*range(99))
        self.assertEqual(3, len(self.failures._times['a']))
