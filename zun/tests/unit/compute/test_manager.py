# SPDX-License-Identifier: Apache-2.0
import inspect

from zun.compute import manager
from zun.compute import operations
from zun.rpc import compute as rpc_compute
from zun.tests import base


def methods(cls):
    return {name: list(inspect.signature(method).parameters)
            for name, method in inspect.getmembers(cls, inspect.isfunction)
            if not name.startswith('_')}


class ManagerTest(base.TestCase):
    def test_offers_what_the_client_asks_for(self):
        offered = methods(manager.Manager)
        for name, parameters in methods(rpc_compute.Client).items():
            with self.subTest(method=name):
                self.assertEqual([p for p in parameters if p != 'host'], offered.pop(name))
        self.assertEqual({}, offered)

    def test_version(self):
        self.assertEqual('2.0', manager.Manager.target.version)

    def test_operations_take_what_is_recorded_of_a_message(self):
        for name, function in operations.OPERATIONS.items():
            with self.subTest(operation=name):
                message = name if hasattr(manager.Manager, name) else f'container_{name}'
                sent = set(methods(manager.Manager)[message]) - {
                    'self', 'context', 'container_uuid'}
                self.assertEqual(sent, set(inspect.signature(function).parameters) - {'job'})
