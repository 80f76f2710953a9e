# SPDX-License-Identifier: Apache-2.0

import contextlib
import threading
import types

from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.network import embedded
from zun.tests import base
from zun.tests import database

LONG = 30


class Engine:
    """The networks of an engine, in memory; it refuses what a real one refuses."""

    def __init__(self):
        self.networks = {}
        self.connected = []
        self.calls = []
        self.refuse = None
        self._making = threading.Lock()

    def create_network(self, network):
        if not self._making.acquire(blocking=False):
            raise AssertionError('two creates at a time')
        try:
            self.calls.append(network.name)
            found = self.networks.setdefault(network.name, network)
            if found.cidr != network.cidr:
                raise exception.Conflict('a network of that name with other addresses')
            return f'id-{network.name}'
        finally:
            self._making.release()

    def network_blocks(self):
        return [network.cidr for network in self.networks.values()]

    def remove_network(self, name):
        if any(item[1] == name for item in self.connected):
            raise exception.Conflict('has active endpoints')
        self.networks.pop(name, None)

    def connect(self, container, attachment):
        if self.refuse:
            raise self.refuse
        self.connected.append((container.uuid, attachment.engine_network))

    def disconnect(self, container, name):
        with contextlib.suppress(ValueError):
            self.connected.remove((container.uuid, name))


def make_context(project='p1', **kwargs):
    return zun_context.RequestContext(project_id=project, user_id=f'u-{project}',
                                      overwrite=False, **kwargs)


def make_container(**fields):
    uuid = uuidutils.generate_uuid()
    return types.SimpleNamespace(
        **{'uuid': uuid, 'name': f'c-{uuid[:4]}', 'hostname': None, **fields})


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.config(host='node1')
        self.config('embedded_network', address_pool='10.9.0.0/22', subnet_prefix=28)
        self.context = make_context()
        self.engine = Engine()
        self.driver = embedded.EmbeddedDriver(engine=self.engine)
        self.api = embedded.EmbeddedDriver()

    def resolve(self, *nets, context=None):
        return self.api.resolve(context or self.context, list(nets))

    def shared(self, name='blue'):
        admin = make_context('admin', is_admin=True)
        return self.api.create_network(admin, {'name': name})['neutron_net_id']

    def plan(self, container, *nets):
        return self.driver.plan(self.context, container, self.resolve(*nets))

    def address(self, attachment):
        return attachment.address(4)

    def rows(self):
        return objects.ZunNetwork.list(self.context.elevated())


def run_all(functions):
    errors = []

    def run(function):
        try:
            function()
        except Exception as error:  # noqa: BLE001 - shown by the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    if errors:
        raise errors[0]
