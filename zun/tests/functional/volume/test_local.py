# SPDX-License-Identifier: Apache-2.0

import base64
import os

import fixtures

from zun import objects
from zun.common import context as zun_context
from zun.container import driver as container_driver
from zun.container.docker import driver as docker_driver
from zun.tests import base
from zun.tests import database
from zun.tests.functional import engine
from zun.volume import local

DATA = bytes(range(256)) + b'\nline\n'


class InjectedFileTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.config('docker', api_url=engine.URL)
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.config('volume', volume_dir=os.path.join(self.directory, 'mnt'))
        self.useFixture(database.SqliteDatabase())
        self.behind = self.useFixture(engine.Engine())
        self.engine = docker_driver.DockerDriver()
        self.driver = local.LocalDriver()
        self.context = zun_context.RequestContext(project_id='p', user_id='u', overwrite=False)
        self.container = self.behind.container()
        objects.Container(uuid=self.container.uuid, name='c').create(self.context)
        self.mapping = objects.VolumeMapping(
            container_uuid=self.container.uuid, container_path='/etc/app/config',
            volume_provider='local', contents=base64.b64encode(DATA).decode(),
            project_id='p', user_id='u')
        self.mapping.create(self.context)

    def _run(self):
        mapping, = objects.VolumeMapping.list_by_container(self.context, self.container.uuid)
        mount = self.driver.attach(self.context, mapping)
        self.engine.create(container_driver.Workload(
            container=self.container, image=self.behind.image_id, mounts=[mount]))
        self.engine.start(self.container)
        return mapping

    def _inside(self, command):
        output, code = self.engine.execute(self.container, command)
        self.assertEqual(0, code, output)
        return output

    def test_container_reads_it_byte_for_byte(self):
        self._run()
        found, _stat = engine.fetched(self.engine, self.container, '/etc/app/config')
        self.assertEqual({'config': DATA}, engine.untar(found))
        self.assertIn('-rw-r--r--', self._inside('ls -l /etc/app/config'))

    def test_changes_of_the_container_survive_an_attach_and_a_restart(self):
        mapping = self._run()
        self._inside("sh -c 'echo changed > /etc/app/config'")
        self.driver.attach(self.context, mapping)
        self.engine.stop(self.container, 1)
        self.engine.start(self.container)
        self.assertEqual('changed\n', self._inside('cat /etc/app/config'))

    def test_nothing_is_left(self):
        mapping = self._run()
        self.engine.delete(self.container.uuid)
        self.driver.detach(self.context, mapping)
        self.assertEqual([], os.listdir(os.path.join(self.directory, 'mnt')))
