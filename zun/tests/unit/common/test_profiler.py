# SPDX-License-Identifier: Apache-2.0
"""Traces of API requests."""

import fixtures
from osprofiler import notifier
from osprofiler import web

from zun.common import profiler
from zun.tests import base


def application(environ, start_response):
    return []


class ProfilerTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.opened = []
        self.useFixture(fixtures.MonkeyPatch(
            'osprofiler.drivers.base.get_driver',
            lambda url, **kwargs: self.opened.append((url, kwargs['service'])) or self))
        self.addCleanup(notifier.set, notifier.get())
        self.addCleanup(notifier.clear_notifier_cache)
        self.addCleanup(web.disable)

    def notify(self, info, **kwargs):
        """What a driver of osprofiler does with a trace."""

    def test_off(self):
        self.assertIs(application, profiler.WsgiMiddleware.factory({})(application))
        self.assertEqual([], self.opened)

    def test_on(self):
        self.config(group='profiler', enabled=True, connection_string='redis://192.0.2.9')
        made = profiler.WsgiMiddleware.factory({})(application)
        self.assertIsInstance(made, web.WsgiMiddleware)
        self.assertEqual([('redis://192.0.2.9', 'api')], self.opened)
        self.assertEqual(self.notify, notifier.get())
