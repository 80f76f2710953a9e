# SPDX-License-Identifier: Apache-2.0
"""Pages, order and filters of lists, on every database alike."""

import datetime
import itertools
import typing as ty

from oslo_utils import uuidutils
import testscenarios

from zun import objects
from zun.common import exception
from zun.db import engine
from zun.db import models
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

_NAMES = ['b', None, 'a', 'c', 'a', None, 'b']
_CPUS = [0.1, 0.3, None, 0.1, 0.7, 0.1, 0.3]


def _smallest_first(value: ty.Any) -> tuple[bool, ty.Any]:
    return value is not None, value if value is not None else 0


class TestPages(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        for number, (name, cpu) in enumerate(zip(_NAMES, _CPUS, strict=True)):
            container = objects.Container(
                name=name, cpu=cpu, project_id='project', user_id='user', status='Running',
                labels={'n': str(number % 3)}, auto_remove=number % 2 == 0, memory=str(number),
                started_at=None if number == 3 else datetime.datetime(2026, 1, 1 + number % 2))
            container.create(self.context)
        self.all = objects.Container.list(self.context)

    def _walk(self, limit: int, **kwargs: ty.Any) -> list[int]:
        found: list[ty.Any] = []
        marker = None
        for _ in range(len(self.all) + 1):
            page = objects.Container.list(self.context, limit=limit, marker=marker, **kwargs)
            found += page
            if len(page) < limit:
                return [container.id for container in found]
            marker = page[-1].uuid
        raise AssertionError('the pages do not end')

    def test_every_key_pages_completely(self) -> None:
        for key, direction, limit in itertools.product(
                models.container.columns.keys(), ('asc', 'desc'), (1, 2, 3)):
            whole = [container.id for container in objects.Container.list(
                self.context, sort_key=key, sort_dir=direction)]
            self.assertEqual(sorted(container.id for container in self.all), sorted(whole))
            self.assertEqual(whole, self._walk(limit, sort_key=key, sort_dir=direction),
                             f'{key} {direction} {limit}')

    def test_order(self) -> None:
        for key in ('name', 'cpu', 'started_at', 'auto_remove', 'memory', 'id'):
            for reverse, direction in ((False, 'asc'), (True, 'desc')):
                wanted = sorted(
                    self.all, key=lambda c, key=key: (_smallest_first(getattr(c, key)), c.id),
                    reverse=reverse)
                found = objects.Container.list(self.context, sort_key=key, sort_dir=direction)
                self.assertEqual([c.id for c in wanted], [c.id for c in found],
                                 f'{key} {direction}')

    def test_default_order(self) -> None:
        self.assertEqual(sorted(c.id for c in self.all), [c.id for c in self.all])
        self.assertEqual([c.id for c in self.all][::-1], [
            c.id for c in objects.Container.list(self.context, sort_dir='desc')])

    def test_number_of_statements(self) -> None:
        with engine.statement_counter() as counter:
            objects.Container.list(self.context, limit=3, sort_key='name')
        self.assertEqual(1, counter.count)
        with engine.statement_counter() as counter:
            objects.Container.list(self.context, limit=3, sort_key='name', marker=self.all[2])
        self.assertEqual(2, counter.count)

    def test_unknown_sort_key(self) -> None:
        for lister in (objects.Container, objects.Image, objects.ZunNetwork, objects.Registry,
                       objects.VolumeMapping):
            error = self.assertRaises(exception.InvalidParameterValue, lister.list, self.context,
                                      sort_key='nonsense')
            self.assertEqual('The sort_key value "nonsense" is an invalid field for sorting',
                             error.message)

    def test_unknown_marker(self) -> None:
        uuid = uuidutils.generate_uuid()
        for lister, missing in (
                (objects.Container, exception.ContainerNotFound),
                (objects.Capsule, exception.ContainerNotFound),
                (objects.Image, exception.ImageNotFound),
                (objects.ZunNetwork, exception.NetworkNotFound),
                (objects.Registry, exception.RegistryNotFound),
                (objects.ComputeNode, exception.ComputeNodeNotFound),
                (objects.VolumeMapping, exception.VolumeMappingNotFound)):
            error = self.assertRaises(missing, lister.list, self.context, marker=uuid)
            self.assertIn(uuid, error.message)

    def test_marker_of_another_project(self) -> None:
        other = objects.Container(project_id='other')
        other.create(self.context)
        self.assertRaises(exception.ContainerNotFound, objects.Container.list, self.context,
                          marker=other.uuid)

    def test_filters(self) -> None:
        def names(**filters: ty.Any) -> list[str | None]:
            return [c.name for c in objects.Container.list(self.context, filters=filters)]

        self.assertEqual(['a', 'a'], names(name='a'))
        self.assertEqual(['b', 'a', 'a', 'b'], names(name=['a', 'b']))
        self.assertEqual([None, None], names(name=None))
        self.assertEqual([None, 'c', None], names(name=[None, 'c']))
        self.assertEqual([], names(name=[]))
        self.assertEqual(['b', 'a', 'a', 'b'], names(auto_remove=True))
        self.assertEqual(['a'], names(name='a', memory='2'))
        self.assertEqual([], names(host='node'))
        self.assertEqual([self.all[1].name], names(uuid=self.all[1].uuid))

    def test_filter_and_marker(self) -> None:
        found = objects.Container.list(
            self.context, limit=1, marker=self.all[0].uuid, filters={'name': ['a', 'b']})
        self.assertEqual([self.all[2].id], [c.id for c in found])

    def test_unknown_filter(self) -> None:
        self.assertRaises(exception.InvalidParameterValue, objects.Container.list, self.context,
                          filters={'websocket_token': 'x'})


class TestHosts(database.TestCase):
    """The key of hosts is the uuid."""

    def test_pages(self) -> None:
        for number in range(5):
            objects.ComputeNode(hostname=f'node{number}', cpus=number % 2).create(self.admin)
        for key in (None, 'cpus', 'hostname', 'cpu_used', 'numa_topology'):
            whole = [node.uuid for node in objects.ComputeNode.list(self.admin, sort_key=key)]
            found: list[str] = []
            while page := objects.ComputeNode.list(
                    self.admin, limit=2, sort_key=key, marker=found[-1] if found else None):
                found += [node.uuid for node in page]
            self.assertEqual(whole, found, key)
        self.assertEqual(['node3'], [
            node.hostname for node in objects.ComputeNode.list(
                self.admin, filters={'hostname': ['node3', 'x']})])
