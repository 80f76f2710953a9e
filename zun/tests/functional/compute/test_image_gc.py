# SPDX-License-Identifier: Apache-2.0
"""The removal of images that nobody uses."""

import time

import fixtures
from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import image_gc
from zun.compute import image_usage
from zun.compute import operations
from zun.tests.functional import docker_registry
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base


class UsageTest(base.base.TestCase):
    def setUp(self):
        super().setUp()
        self.config(state_path=self.useFixture(fixtures.TempDir()).path)

    def test_kept_over_a_restart(self):
        usage = image_usage.Usage()
        usage.arrived('one')
        self.assertEqual({'one'}, set(image_usage.Usage().fetched()))

    def test_only_what_was_fetched_counts(self):
        usage = image_usage.Usage()
        self.assertTrue(usage.lease('of somebody'))
        self.assertEqual({}, usage.fetched())

    def test_doomed(self):
        usage = image_usage.Usage()
        usage.arrived('one')
        self.assertFalse(usage.doom('one'))
        self.useFixture(fixtures.MonkeyPatch('zun.compute.image_usage.LEASE', -1.0))
        self.assertTrue(usage.doom('one'))
        self.assertFalse(usage.lease('one'))
        usage.spare('one', removed=False)
        self.assertTrue(usage.lease('one'))
        self.assertTrue(usage.doom('one'))
        usage.spare('one', removed=True)
        self.assertEqual({}, image_usage.Usage().fetched())

    def test_broken_file(self):
        with open(image_usage._path(), 'w') as file:
            file.write('[nonsense')
        self.assertEqual({}, image_usage.Usage().fetched())


class CollectorTest(base.NodeTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='compute', image_gc=True, image_gc_max_age=1000)
        self.collector = image_gc.Collector(self.node)

    def fetched(self, name, age):
        """An image that Zun fetched so many seconds ago."""
        image = self.engine.pull_image(name, 'latest')
        self.node.usage.arrived(image)
        self.node.usage._known()[image] = time.time() - age
        return image

    def names(self):
        return {name.partition(':')[0] for image in self.engine.list_images()
                for name in image.names}

    def test_by_age(self):
        self.fetched('old', 1001)
        self.fetched('young', 900)
        self.engine.pull_image('of-somebody', 'latest')
        self.collector.run()
        self.assertEqual({'young', 'of-somebody'}, self.names())
        self.assertEqual(1, len(image_usage.Usage().fetched()))

    def test_off_by_default(self):
        self.CONF.clear_override('image_gc', 'compute')
        self.fetched('old', 1001)
        self.collector.run()
        self.assertEqual({'old'}, self.names())

    def test_not_what_a_container_uses(self):
        container = self.created(image='used', networks=[])
        image = self.engine.find_image('used:latest')
        self.node.usage._known()[image] = time.time() - 5000
        self.collector.run()
        self.assertEqual({'used'}, self.names())
        self.run_operation(container, 'delete', force=True, stop=False)
        self.collector.run()
        self.assertEqual({'used'}, self.names(), 'its age counts from its last use')
        self.node.usage._known()[image] = time.time() - 5000
        self.collector.run()
        self.assertEqual(set(), self.names())

    def test_not_what_was_just_wanted(self):
        image = self.fetched('old', 1001)
        self.node.usage.lease(image)
        self.collector.run()
        self.assertEqual({'old'}, self.names())

    def test_not_what_an_administrator_keeps_nor_the_sandbox(self):
        image = self.fetched('kept', 1001)
        row = objects.Image(self.context, uuid=uuidutils.generate_uuid(), repo='kept',
                            tag='latest', host=base.HOST, image_id=image)
        row.pull(self.context)
        self.config(sandbox_image='pause:latest')
        self.fetched('pause', 1001)
        self.fetched('old', 1001)
        self.collector.run()
        self.assertEqual({'kept', 'pause'}, self.names())

    def test_by_need_of_room(self):
        self.config(group='compute', image_gc_max_age=0)
        for name, age in (('a', 5000), ('b', 4000), ('c', 3000), ('d', 100)):
            self.fetched(name, age)
        self.engine.disk_percent = 84.0
        self.collector.run()
        self.assertEqual(set('abcd'), self.names())
        self.engine.disk_percent = 90.0
        genuine = self.engine.remove_image

        def remove(name):
            genuine(name)
            self.engine.disk_percent -= 8

        self.engine.remove_image = remove
        self.collector.run()
        self.assertEqual(set('cd'), self.names())

    def test_image_that_is_being_removed_is_not_handed_out(self):
        image = self.fetched('old', 1001)
        self.assertTrue(self.node.usage.doom(image))
        container = self.placed(image='old', networks=[])
        operations.submit(self.node, self.context, container.uuid, 'create', generation=0)
        self.settled(container)
        self.assertEqual([(container.uuid, 1)], self.scheduler.asked)

    def test_engine_that_fails(self):
        self.fetched('old', 1001)
        self.engine.fail('remove_image', exception.Conflict('in use'))
        self.collector.run()
        self.assertEqual({'old'}, self.names())
        self.engine.fail('list_images', exception.EngineUnavailable(error_msg='x'))
        self.collector.run()


class DockerCollectorTest(base.NodeTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.source = self.useFixture(docker_registry.Registry())
        self.config(group='compute', image_gc=True, image_gc_max_age=1000)
        self.collector = image_gc.Collector(self.node)

    def _pulled(self, name):
        self.source.push(name, text=name)
        row = self.created(run=False, image=self.source.name(name), networks=[],
                           image_pull_policy='always')
        image = self.engine.find_image(f'{self.source.name(name)}:latest')
        return row, image

    def _age(self, *images):
        for image in images:
            self.node.usage._known()[image] = time.time() - 5000

    def test_on_a_real_engine(self):
        used, kept = self._pulled('used')
        unused, gone = self._pulled('unused')
        self.run_operation(unused, 'delete', states.DELETING, force=True, stop=False)
        self._age(kept, gone)
        self.collector.run()
        self.assertIsNotNone(self.engine.find_image(kept))
        self.assertIsNone(self.engine.find_image(gone))
        self.assertEqual({kept}, set(self.node.usage.fetched()))
        self.assertIsNotNone(self.engine.find_image(real.IMAGE), 'it was not fetched by Zun')
        self.assertEqual(states.CREATED, self.row(used).status)

    def test_disk(self):
        self.assertTrue(0 < self.engine.disk_use() < 100)
