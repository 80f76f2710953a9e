# SPDX-License-Identifier: Apache-2.0
"""A host whose agent is killed and started again, on a real engine, and what must hold after it."""

import json
import os
import pathlib
import typing as ty
import unittest

import fixtures

from zun import objects
from zun.common import failpoints
from zun.common import states
from zun.db import embedded_networks
from zun.tests.fault import agent
from zun.tests.functional.compute import base

#: Set to run a choice of the tests, as tools/test does.
SHORT = bool(os.environ.get('ZUN_TEST_FAULT_SHORT'))
#: File for the table of kill points and outcomes.
TABLE = os.environ.get('ZUN_TEST_FAULT_TABLE')
HOST = base.HOST

_CONFIG = """[DEFAULT]
host = {host}
state_path = {state_path}
container_driver = docker
capsule_driver = docker
image_driver_list = docker
report_interval = 1
use_stderr = true
transport_url = {transport_url}
graceful_shutdown_timeout = 5
[database]
connection = {connection}
sqlite_synchronous = false
max_retries = -1
retry_interval = 1
[docker]
api_url = {api_url}
default_timeout = {timeout}
create_timeout = {timeout}
stop_grace_margin = {timeout}
[network]
driver = embedded
[embedded_network]
address_pool = {pool}
subnet_prefix = {prefix}
[scheduler]
ledger = local
[volume]
driver_list = local
"""

#: Leave a test out of the short form.
long = unittest.skipIf(SHORT, 'not in the short form')


def some(*items: ty.Any) -> tuple[ty.Any, ...]:
    """All; the first two in the short form."""
    return items[:2] if SHORT else items


class FaultTestCase(base.NodeTestCase):
    """
    :cvar timeout: seconds that the agent waits for the engine
    :ivar made: uuids of this test's containers
    """

    driver = 'docker'
    timeout = 60

    def setUp(self) -> None:
        super().setUp()
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.file, self.log_file = directory / 'zun.conf', directory / 'zun.log'
        self.configure()

    def configure(self, **changes: str) -> None:
        """Write the agent's configuration."""
        options = self.CONF
        self.file.write_text(_CONFIG.format(**{
            'host': HOST, 'state_path': options.state_path, 'timeout': self.timeout,
            'connection': options.database.connection, 'api_url': options.docker.api_url,
            'pool': options.embedded_network.address_pool, 'transport_url': 'fake:/',
            'prefix': options.embedded_network.subnet_prefix, **changes}))

    def build(self) -> ty.Any:
        self.made: set[str] = set()
        return super().build()

    def placed(self, **columns: ty.Any) -> 'objects.Container':
        container = super().placed(**columns)
        self.made.add(container.uuid)
        return container

    # The agent ----------------------------------------------------------------------------------

    def start(self, fail_point: str | None = None, calls: agent.Calls = (),
              serve: bool = False) -> ty.Any:
        """Start one."""
        process = agent.start(str(self.file), str(self.log_file), fail_point, calls, serve)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: ty.Any) -> None:
        """As kill -9 does."""
        process.kill()
        process.join()

    def work(self, fail_point: str | None = None, calls: agent.Calls = ()) -> int | None:
        """Run an agent until nothing is open, or it is killed; its exit code."""
        process = self.start(fail_point, calls)
        process.join(120)
        return process.exitcode

    def crash(self, point: str, calls: agent.Calls = ()) -> None:
        """An agent begins to work and is killed at a point."""
        self.assertEqual(failpoints.EXIT_CODE, self.work(point, calls), self.log())

    def recover(self) -> None:
        """The next agent works until nothing is open."""
        self.assertEqual(0, self.work(), self.log())

    def log(self) -> str:
        return self.log_file.read_text()[-8000:] if self.log_file.exists() else ''

    # What must hold -------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Engine containers of this test's rows, and what was set aside for them."""
        return sorted(name.removeprefix('/zun-') for item in self.docker.api.containers(all=True)
                      for name in item['Names'] if name.startswith('/zun-')
                      and name[5:41] in self.made)

    def behind(self, container: 'objects.Container') -> list[str]:
        return [name for name in self.names() if container.uuid in name]

    def assert_owned(self, container: 'objects.Container', status: str,
                     reason: str | None = None) -> None:
        """One engine container, one allocation of its size, its addresses, nothing open."""
        row = self.row(container)
        self.assertEqual((status, reason), (row.status, row.status_reason), self.log())
        self.assert_closed(container)
        self.assertEqual([container.uuid], self.behind(container))
        self.assertEqual([self.node.provider], list(self.held(container)))
        found = self.docker.inspect(container)
        self.assertEqual(row.container_id, found['Id'])
        self.assertEqual(status in (states.RUNNING, states.PAUSED), found['State']['Running'])
        self.assertEqual(status == states.PAUSED, found['State']['Paused'])
        addresses = [a['addr'] for nets in row.addresses.values() for a in nets]
        self.assertEqual(sorted(addresses), sorted(self.allocated(container)))
        if found['State']['Running']:
            self.assertEqual(sorted(addresses), sorted(
                n['IPAddress'] for n in found['NetworkSettings']['Networks'].values()))
        self.assertEqual(int(row.memory) << 20, found['HostConfig']['Memory'])
        self.assertEqual(int(row.memory), self.held(container)[self.node.provider]['MEMORY_MB'])

    def allocated(self, container: 'objects.Container') -> list[str]:
        """Its network addresses."""
        return list(embedded_networks.addresses_of(container.uuid).values())

    def assert_gone(self, container: 'objects.Container') -> None:
        self.assertIsNone(self.row(container), self.log())
        self.assert_nothing_left(container)

    def assert_nothing_left(self, container: 'objects.Container') -> None:
        """In engine, ledger and network."""
        self.assertEqual(([], {}, []), (self.behind(container), self.held(container),
                                        self.allocated(container)), self.log())

    def with_file(self, container: 'objects.Container') -> pathlib.Path:
        """Give it an injected file; the path on the host."""
        volume = objects.VolumeMapping(
            self.context, container_uuid=container.uuid, container_path='/etc/sauce',
            volume_provider='local', contents='c2F1Y2U=', project_id='project', user_id='user')
        volume.create(self.context)
        asked = self.asked(container)
        asked.requested_volumes = {container.uuid: [volume.uuid]}
        asked.save()
        return pathlib.Path(self.CONF.volume.volume_dir) / volume.volume.uuid

    def note(self, operation: str, point: str, outcome: str) -> None:
        """A line of the table."""
        if TABLE:
            with open(TABLE, 'a') as table:
                table.write(json.dumps([operation, point, outcome]) + '\n')
