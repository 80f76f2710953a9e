# SPDX-License-Identifier: Apache-2.0
"""Limits, usage and reservation."""

import concurrent.futures
import typing as ty

import sqlalchemy as sa
from sqlalchemy import orm
import testscenarios

from zun import objects
from zun.common import exception
from zun.db import engine
from zun.db import models
from zun.db import quotas
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios


class TestUsage(database.TestCase):
    def _insert(self, **values: ty.Any) -> None:
        with engine.writer() as session:
            session.execute(sa.insert(models.container).values(
                {'project_id': 'project', 'container_type': 0, **values}))

    def test_nothing(self) -> None:
        self.assertEqual({'containers': 0, 'cpu': 0.0, 'memory': 0.0, 'disk': 0.0},
                         quotas.usage('project'))

    def test_what_counts(self) -> None:
        self._insert(cpu=0.1, memory='512', disk=5, status='Running')
        self._insert(cpu=0.2, memory='100', disk=1, status='Error')
        self._insert(cpu=1.0, memory='1000', disk=0, status=None, container_type=1)
        for uncounted in ({'container_type': 2}, {'container_type': 3}, {'status': 'Deleted'},
                          {'project_id': 'other'}):
            self._insert(**{'cpu': 8.0, 'memory': '8000', 'disk': 800, 'status': 'Running',
                            **uncounted})
        with engine.statement_counter() as counter:
            self.assertEqual({'containers': 3, 'cpu': 1.3, 'memory': 1612.0, 'disk': 6.0},
                             quotas.usage('project'))
        self.assertEqual(1, counter.count)

    def test_old_memory_texts(self) -> None:
        for text, mib in (('512', 512.0), ('512m', 512.0), ('1g', 1024.0), ('2048k', 2.0),
                          ('1048576b', 1.0), ('1.5G', 1536.0), ('512.5', 512.5), ('0', 0.0),
                          ('', 0.0), (None, 0.0)):
            with engine.writer() as session:
                session.execute(sa.delete(models.container))
            self._insert(memory=text)
            self.assertEqual(mib, quotas.usage('project')['memory'], text)


class TestLimits(database.TestCase):
    def test_put_is_an_upsert(self) -> None:
        for limit in (1, 2, 3):
            made = objects.Quota.put(self.admin, 'project', 'cpu', limit)
            self.assertEqual(limit, made.hard_limit)
            objects.QuotaClass.put(self.admin, 'default', 'cpu', 10 * limit)
        self.assertEqual([3], [q.hard_limit for q in objects.Quota.get_all(
            self.admin, 'project')])
        self.assertEqual([30], [q.hard_limit for q in objects.QuotaClass.get_all(self.admin)])
        self.assertEqual(3, objects.Quota.get(self.admin, 'project', 'cpu').hard_limit)
        self.assertEqual(30, objects.QuotaClass.get(self.admin, 'default', 'cpu').hard_limit)

    def test_racing_puts(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda limit: objects.Quota.put(self.admin, 'project', 'cpu', limit),
                          range(16)))
        self.assertEqual(1, len(objects.Quota.get_all(self.admin, 'project')))

    def test_project_over_class(self) -> None:
        objects.QuotaClass.put(self.admin, 'default', 'cpu', 10)
        objects.QuotaClass.put(self.admin, 'default', 'disk', 20)
        objects.QuotaClass.put(self.admin, 'gold', 'memory', 30)
        objects.Quota.put(self.admin, 'project', 'cpu', -1)
        objects.Quota.put(self.admin, 'other', 'disk', 40)
        with engine.statement_counter() as counter:
            self.assertEqual({'cpu': -1, 'disk': 20}, quotas.limits('project'))
        self.assertEqual(1, counter.count)

    def test_missing(self) -> None:
        self.assertRaises(exception.ProjectQuotaNotFound, objects.Quota.get, self.admin,
                          'project', 'cpu')
        self.assertRaises(exception.QuotaClassNotFound, objects.QuotaClass.get, self.admin,
                          'default', 'cpu')

    def test_forget_a_project(self) -> None:
        objects.Quota.put(self.admin, 'project', 'cpu', 1)
        objects.Quota.put(self.admin, 'other', 'cpu', 1)
        self.assertEqual(1, objects.Quota.destroy_all_by_project(self.admin, 'project'))
        self.assertEqual({}, quotas.limits('project'))
        self.assertEqual({'cpu': 1}, quotas.limits('other'))


class TestReserve(database.TestCase):
    def _create(self, limits: dict[str, int], project: str = 'project',
                **values: ty.Any) -> objects.Container:
        deltas = {'containers': 1, 'cpu': values.get('cpu', 0.0),
                  'memory': int(values.get('memory', 0)), 'disk': values.get('disk', 0)}

        def reserve(session: orm.Session) -> None:
            quotas.reserve(session, project, deltas, lambda stored: limits)

        container = objects.Container(project_id=project, status='Creating', **values)
        container.create(self.context, objects.ContainerRequest(), 'create', reserve)
        return container

    def test_statements_of_a_create(self) -> None:
        self._create({})
        with engine.statement_counter() as counter:
            self._create({'containers': 5})
        self.assertEqual(5, counter.count, counter.statements)

    def test_over(self) -> None:
        self._create({}, cpu=1.0, memory='512', disk=1)
        error = self.assertRaises(
            exception.OverQuota, self._create,
            {'containers': 1, 'cpu': 1, 'memory': 1024, 'disk': -1}, cpu=0.5, memory='512',
            disk=9)
        self.assertEqual("Quota exceeded for resources: ['containers', 'cpu']", error.message)
        self.assertEqual(1, quotas.usage('project')['containers'])

    def test_exactly_full(self) -> None:
        for _ in range(10):
            self._create({'containers': 10, 'cpu': 1}, cpu=0.1)
        self.assertRaises(exception.OverQuota, self._create, {'cpu': 1}, cpu=0.1)

    def test_stored_limits(self) -> None:
        """They are read along with the usage: those of the project over those of the class."""
        objects.QuotaClass.put(self.admin, 'default', 'cpu', 10)
        objects.QuotaClass.put(self.admin, 'default', 'disk', 20)
        objects.Quota.put(self.admin, 'project', 'cpu', 3)
        objects.Quota.put(self.admin, 'other', 'disk', 1)
        seen = []

        def complete(stored: dict[str, int]) -> dict[str, int]:
            seen.append(stored)
            return stored

        with engine.writer() as session:
            quotas.reserve(session, 'project', {'cpu': 3.0, 'disk': 20}, complete)
            self.assertRaises(exception.OverQuota, quotas.reserve, session, 'project',
                              {'cpu': 3.5}, complete)
        self.assertEqual([{'cpu': 3, 'disk': 20}] * 2, seen)

    def test_zero_forbids(self) -> None:
        self.assertRaises(exception.OverQuota, self._create, {'containers': 0})
        self._create({'disk': 0})

    def test_giving_back_is_never_over(self) -> None:
        self._create({}, cpu=4.0)
        with engine.writer() as session:
            quotas.reserve(session, 'project', {'cpu': -1.0}, lambda stored: {'cpu': 2})
            self.assertRaises(exception.OverQuota, quotas.reserve, session, 'project',
                              {'cpu': 0.1}, lambda stored: {'cpu': 2})

    def test_change_with_reservation(self) -> None:
        made = self._create({}, cpu=1.0)

        def reserve(session: orm.Session) -> None:
            quotas.reserve(session, 'project', {'cpu': 2.0}, lambda stored: {'cpu': 2})

        made.cpu = 3.0
        self.assertRaises(exception.OverQuota, made.save, reserve=reserve)
        made.refresh()
        self.assertEqual(1.0, made.cpu)

    def test_race(self) -> None:
        def create(_: int) -> bool:
            try:
                self._create({'containers': 7})
            except exception.OverQuota:
                return False
            return True

        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            self.assertEqual(7, sum(pool.map(create, range(20))))
        self.assertEqual(7, quotas.usage('project')['containers'])

    def test_projects_do_not_share(self) -> None:
        self._create({'containers': 1})
        self._create({'containers': 1}, project='other')
