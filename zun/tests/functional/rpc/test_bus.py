# SPDX-License-Identifier: Apache-2.0
"""Calls over a real RabbitMQ."""

import os
import time

from oslo_utils import uuidutils

from zun.common import exception
from zun.rpc import compute
from zun.tests.unit.rpc import test_rpc

_BUS = 'LAB_TRANSPORT_URL'
#: A good part of ``[DEFAULT]/rpc_response_timeout``.
_SOON = 10


class BusTest(test_rpc.RpcTestCase):
    def setUp(self):
        if _BUS not in os.environ:
            self.skipTest(f'{_BUS} is not set: run tools/lab up')
        self.url = os.environ[_BUS]
        super().setUp()

    def test_call_that_nobody_takes_is_refused_at_once(self):
        began = time.monotonic()
        error = self.assertRaises(exception.BusUnavailable, self.client.container_stats,
                                  self.context, self.host, test_rpc.UUID)
        self.assertEqual(503, error.code)
        self.assertLess(time.monotonic() - began, _SOON)

    def test_cast_that_nobody_takes(self):
        self.client.container_create(self.context, self.host, test_rpc.UUID, 0)

    def test_call(self):
        self.serve()
        client = compute.Client()
        self.assertEqual({'CPU %': 1.5}, client.container_stats(
            self.context, self.host, uuidutils.generate_uuid()))
