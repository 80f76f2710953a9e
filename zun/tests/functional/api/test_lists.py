# SPDX-License-Identifier: Apache-2.0
"""Lists of many: complete pages, few statements, and an index for each of them."""

import contextlib
import typing as ty
from urllib import parse

import sqlalchemy as sa
import testscenarios
import webob

from zun.api import app
from zun.api.views import containers as views
from zun.common import policy
from zun.db import engine
from zun.db import models
from zun.tests.functional import database

load_tests = testscenarios.load_tests_apply_scenarios

COUNT = 10_000
OWNED = 100
#: The most statements of a page: the marker, the rows, their registries.
MOST = 3
_PROJECT = 'project'
_MEMBER = {'X-Project-Id': _PROJECT, 'X-User-Id': 'user', 'X-Roles': 'member,reader'}
_ADMIN = {**_MEMBER, 'X-Roles': 'admin,member,reader'}
_FILTERS = ('name=c7', 'image=busybox', 'project_id=project', 'user_id=user', 'memory=512',
            'host=node1', 'task_state=x', 'status=Running', 'auto_remove=true')
#: What an administrator looks for in all projects, and the index for it. Sorting by another
#: column, or looking for one that has few values, reads the table.
_ALL_PROJECTS = {
    'limit=1000': 'PRIMARY', 'limit=1000&sort_dir=desc': 'PRIMARY', 'name=c7': 'container_name',
    'host=node1': 'container_host', 'project_id=p7': 'container_project',
}


def _uuid(number: int) -> str:
    return f'c0000000-0000-4000-8000-{number:012}'


def _row(number: int) -> dict[str, ty.Any]:
    owner = _PROJECT if number % (COUNT // OWNED) == 0 else f'p{number % 50}'
    return {'uuid': _uuid(number), 'project_id': owner, 'user_id': 'user', 'name': f'c{number}',
            'image': 'busybox', 'memory': '512', 'cpu': 1.0, 'status': 'Running',
            'host': f'node{number % 100}', 'container_type': models.CONTAINER, 'disk': 0,
            'registry_id': 1, 'labels': {'number': str(number)}, 'auto_remove': False}


class _Case(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        policy.reset()
        self.addCleanup(policy.reset)
        with engine.writer() as session:
            session.execute(sa.insert(models.registry).values(
                id=1, uuid=_uuid(COUNT), project_id=_PROJECT, domain='example.org'))
            session.execute(sa.insert(models.container),
                            [_row(number) for number in range(COUNT)])
            if self.backend != 'sqlite':
                session.execute(sa.text('ANALYZE TABLE container' if self.backend == 'mysql'
                                        else 'ANALYZE container'))
        self.wsgi = app.make_app()

    def get(self, path: str, identity: dict[str, str] = _MEMBER) -> dict[str, ty.Any]:
        request = webob.Request.blank(path)
        request.headers.update({**identity, 'OpenStack-API-Version': 'container 1.40'})
        response = request.get_response(self.wsgi)
        self.assertEqual(200, response.status_int, response.body)
        return response.json


class TestPages(_Case):
    def _walk(self, query: str, identity: dict[str, str]) -> list[list[str]]:
        path, pages = f'/v1/containers?{query}', []
        while path:
            with engine.statement_counter() as counter:
                page = self.get(path, identity)
            self.assertLessEqual(counter.count, MOST, counter.statements)
            pages.append([found['uuid'] for found in page['containers']])
            path = page['next'] and page['next'].partition('localhost')[2]
        return pages

    def test_one_percent(self) -> None:
        mine = [_uuid(number) for number in range(0, COUNT, COUNT // OWNED)]
        self.assertEqual([mine], self._walk('limit=1000', _MEMBER))
        self.assertEqual([mine[at:at + 30] for at in range(0, OWNED, 30)],
                         self._walk('limit=30', _MEMBER))
        self.assertEqual(mine[::-1],
                         self._walk('limit=1000&sort_key=uuid&sort_dir=desc', _MEMBER)[0])

    def test_all(self) -> None:
        pages = self._walk('limit=1000&all_projects=true', _ADMIN)
        self.assertEqual([1000] * 10, [len(page) for page in pages if page])
        self.assertEqual([_uuid(number) for number in range(COUNT)], sum(pages, []))


class TestIndexes(_Case):
    """What MariaDB plans for the statements of the API."""

    scenarios: ty.ClassVar = [('mysql', {'backend': 'mysql'})]

    def _plans(self, query: str, identity: dict[str, str]) -> list[dict[str, ty.Any]]:
        """What EXPLAIN tells of each statement about containers, of a page behind a marker."""
        with _statements() as seen:
            self.get(f'/v1/containers?{query}', identity)
        plans: list[dict[str, ty.Any]] = []
        with engine.get_engine().connect() as connection:
            for statement, parameters in seen:
                if 'FROM container' in statement:
                    plans += connection.exec_driver_sql(
                        f'EXPLAIN {statement}', parameters).mappings().all()
        self.assertNotEqual([], plans)
        return plans

    def _assert_indexed(self, query: str, plans: list[dict[str, ty.Any]], most: int) -> None:
        for plan in plans:
            if plan['Extra'] and 'Impossible WHERE' in plan['Extra']:
                continue
            self.assertIsNotNone(plan['key'], (query, plan))
            self.assertLessEqual(int(plan['rows']), most, (query, plan))

    def test_pages_of_a_project(self) -> None:
        marker = _uuid(50 * (COUNT // OWNED))
        queries = [f'sort_key={key}&sort_dir={direction}&limit=20&marker={marker}'
                   for key in ('id', *views.FIELDS) for direction in ('asc', 'desc')]
        for query in (*queries, *_FILTERS, *(f'{text}&marker={marker}' for text in _FILTERS)):
            self._assert_indexed(query, self._plans(query, _ADMIN), 2 * OWNED)

    def test_all_projects(self) -> None:
        for query, index in _ALL_PROJECTS.items():
            plan = self._plans(f'{query}&all_projects=true', _ADMIN)[-1]
            self.assertIn(index, plan['key'] or '', (query, plan))

    def test_look_up(self) -> None:
        for ident in (_uuid(0), 'c0'):
            with _statements() as seen:
                self.get(f'/v1/containers/{ident}')
            with engine.get_engine().connect() as connection:
                plan = connection.exec_driver_sql(
                    f'EXPLAIN {seen[0][0]}', seen[0][1]).mappings().one()
            self.assertIn(plan['type'], ('const', 'ref'), plan)
            self.assertLessEqual(int(plan['rows']), OWNED, plan)


@contextlib.contextmanager
def _statements() -> ty.Iterator[list[tuple[str, ty.Any]]]:
    """Statements with their parameters, as the database gets them."""
    seen: list[tuple[str, ty.Any]] = []

    def on_execute(_connection: ty.Any, _cursor: ty.Any, statement: str, parameters: ty.Any,
                   *_rest: ty.Any) -> None:
        seen.append((statement, parameters))

    sa.event.listen(sa.Engine, 'before_cursor_execute', on_execute)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', on_execute)


class TestAddress(_Case):
    scenarios: ty.ClassVar = [('sqlite', {'backend': 'sqlite'})]

    def test_next_page_is_of_the_same_list(self) -> None:
        page = self.get('/v1/containers?limit=10&status=Running&sort_key=name&sort_dir=desc')
        self.assertEqual(
            {'limit': '10', 'status': 'Running', 'sort_key': 'name', 'sort_dir': 'desc',
             'marker': page['containers'][-1]['uuid']},
            dict(parse.parse_qsl(parse.urlsplit(page['next']).query)))
