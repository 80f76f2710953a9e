# SPDX-License-Identifier: Apache-2.0
"""The agent is killed after each step, and started again, on a real engine.

Then every container is what its last request asked for, and nothing is left that no row owns.
"""

import os
import pathlib
import subprocess
import sys

import fixtures

from zun import objects
from zun.common import failpoints
from zun.common import states
from zun.tests.functional import engine as real
from zun.tests.functional.compute import agent
from zun.tests.functional.compute import base

_CONFIG = """[DEFAULT]
host = {host}
state_path = {state_path}
container_driver = docker
image_driver_list = docker
report_interval = 1
use_stderr = true
[database]
connection = {connection}
[docker]
api_url = {api_url}
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


class CrashTestCase(base.NodeTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'zun.conf'
        options = self.CONF
        self.file.write_text(_CONFIG.format(
            host=base.HOST, state_path=options.state_path, connection=options.database.connection,
            api_url=options.docker.api_url, pool=options.embedded_network.address_pool,
            prefix=options.embedded_network.subnet_prefix))

    def agent(self, fail_point=None):
        """A process that works on what is open."""
        env = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
        if fail_point:
            env[failpoints.VARIABLE] = fail_point
        log = open(self.file.with_suffix('.log'), 'ab')  # noqa: SIM115
        self.addCleanup(log.close)
        process = subprocess.Popen([sys.executable, '-m', agent.__name__, str(self.file)],
                                   env=env, stdout=log, stderr=log)
        self.addCleanup(self._end, process)
        return process

    def _end(self, process):
        process.kill()
        process.wait()

    def work(self, fail_point=None):
        """Run an agent to its end; its exit code."""
        return self.agent(fail_point).wait(120)

    def log(self):
        return self.file.with_suffix('.log').read_text()[-8000:]

    def crash_and_recover(self, point):
        self.assertEqual(failpoints.EXIT_CODE, self.work(point), self.log())
        self.assertEqual(0, self.work(), self.log())

    def names(self):
        """Engine containers of this test's rows, and what was set aside for them."""
        return sorted(name.removeprefix('/zun-') for item in self.docker.api.containers(all=True)
                      for name in item['Names'] if name.startswith('/zun-')
                      and name[5:41] in self.made)

    def placed(self, **columns):
        container = super().placed(**columns)
        self.made.add(container.uuid)
        return container

    def build(self):
        self.made = set()
        return super().build()

    def assert_owned(self, container, status):
        """One engine container, one allocation, its addresses, nothing open."""
        row = self.row(container)
        self.assertEqual((status, None), (row.status, row.status_reason), self.log())
        self.assert_closed(container)
        self.assertEqual([container.uuid], [n for n in self.names() if container.uuid in n])
        self.assertEqual([self.node.provider], list(self.held(container)))
        found = self.docker.inspect(container)
        self.assertEqual(row.container_id, found['Id'])
        self.assertEqual(status == states.RUNNING, found['State']['Running'])
        addresses = [a['addr'] for nets in row.addresses.values() for a in nets]
        self.assertEqual(addresses, list(base.network_driver_addresses(container.uuid).values()))
        if found['State']['Running']:
            self.assertEqual(addresses, [
                n['IPAddress'] for n in found['NetworkSettings']['Networks'].values()])

    def assert_gone(self, container):
        self.assertIsNone(self.row(container), self.log())
        self.assertEqual([], [n for n in self.names() if container.uuid in n])
        self.assertEqual(({}, {}), (self.held(container),
                                    base.network_driver_addresses(container.uuid)))

    def with_file(self, container):
        """Give it an injected file; the path on the host."""
        volume = objects.VolumeMapping(
            self.context, container_uuid=container.uuid, container_path='/etc/sauce',
            volume_provider='local', contents='c2F1Y2U=', project_id='project', user_id='user')
        volume.create(self.context)
        asked = self.asked(container)
        asked.requested_volumes = {container.uuid: [volume.uuid]}
        asked.save()
        return pathlib.Path(self.CONF.volume.volume_dir) / volume.volume.uuid


class CreateTest(CrashTestCase):
    def test_each_step(self):
        for point in ('begun', 'claimed', 'pulled', 'volumes', 'planned', 'made', 'plugged',
                      'started', 'saved'):
            with self.subTest(point=point):
                container = self.placed()
                path = self.with_file(container)
                self.crash_and_recover(f'create.{point}')
                self.assert_owned(container, states.RUNNING)
                self.assertTrue(path.exists())
                container.destroy(self.admin)
                self.docker.remove(f'zun-{container.uuid}')

    def test_without_run(self):
        container = self.placed(run=False)
        self.crash_and_recover('create.made')
        self.assert_owned(container, states.CREATED)

    def test_again_during_the_recovery(self):
        container = self.placed()
        for point in ('create.made', 'recovery.decided', 'create.planned', 'create.started'):
            self.assertEqual(failpoints.EXIT_CODE, self.work(point), self.log())
        self.assertEqual(0, self.work(), self.log())
        self.assert_owned(container, states.RUNNING)

    def test_that_fails(self):
        container = self.placed(image='zun-test/absent', image_pull_policy='never')
        self.assertEqual(failpoints.EXIT_CODE, self.work('create.undone'), self.log())
        self.assertEqual(0, self.work(), self.log())
        row = self.row(container)
        self.assertEqual((states.ERROR, None), (row.status, row.host))
        self.assertIn('zun-test/absent', row.status_reason)
        self.assert_closed(container)
        self.assertEqual(([], {}, {}), (self.names(), self.held(container),
                                        base.network_driver_addresses(container.uuid)))

    def test_twenty_at_once(self):
        made = [self.placed() for _ in range(20)]
        first = self.agent()
        real.wait_for('some in the engine', lambda: len(self.names()) >= 5, 60)
        first.kill()
        first.wait()
        self.assertLess(sum(self.row(c).status == states.RUNNING for c in made), 20)
        self.assertEqual(0, self.work(), self.log())
        for container in made:
            self.assert_owned(container, states.RUNNING)
        self.assertEqual(20, len(self.names()))
        self.assertEqual(20, len(self.node.ledger.allocations_on(self.node.provider)))


class DeleteTest(CrashTestCase):
    def test_each_step(self):
        for point in ('begun', 'stopped', 'removed', 'network', 'volumes', 'released'):
            with self.subTest(point=point):
                container = self.placed()
                path = self.with_file(container)
                self.assertEqual(0, self.work(), self.log())
                self.accept(container, 'delete', states.DELETING, force=False, stop=True)
                self.crash_and_recover(f'delete.{point}')
                self.assert_gone(container)
                self.assertFalse(path.exists())

    def test_during_the_create(self):
        container = self.placed()
        self.assertEqual(failpoints.EXIT_CODE, self.work('create.made'), self.log())
        self.accept(container, 'delete', states.DELETING, force=True, stop=False)
        self.crash_and_recover('delete.removed')
        self.assert_gone(container)


class RebuildTest(CrashTestCase):
    def test_each_step(self):
        container = self.placed()
        self.assertEqual(0, self.work(), self.log())
        before = self.row(container)
        for point in ('begun', 'pulled', 'aside', 'made', 'started', 'discarded'):
            with self.subTest(point=point):
                self.accept(container, 'rebuild', states.REBUILDING, run=True)
                self.crash_and_recover(f'rebuild.{point}')
                self.assert_owned(container, states.RUNNING)
                self.assertEqual(before.addresses, self.row(container).addresses)
                self.assertNotEqual(before.container_id, self.row(container).container_id)


class PowerTest(CrashTestCase):
    def test_each_step(self):
        container = self.placed()
        self.assertEqual(0, self.work(), self.log())
        for operation, args, before, after in [
                ('stop', {'timeout': 5}, states.RUNNING, states.STOPPED),
                ('start', {}, states.STOPPED, states.RUNNING),
                ('reboot', {'timeout': 5}, states.RUNNING, states.RUNNING),
                ('kill', {'signal': 'SIGKILL'}, states.RUNNING, states.STOPPED)]:
            for point in ('begun', 'done'):
                with self.subTest(operation=operation, point=point):
                    self.bring_to(container, before)
                    self.accept(container, operation, **args)
                    self.crash_and_recover(f'{operation}.{point}')
                    self.assert_owned(container, after)

    def bring_to(self, container, status):
        if self.row(container).status != status:
            self.run_operation(container, 'start' if status == states.RUNNING else 'stop')
        self.assertEqual(status, self.row(container).status)
