# SPDX-License-Identifier: Apache-2.0
"""Real databases for tests: an SQLite file, or one made for the test on a server.

``ZUN_TEST_MYSQL_URL`` and ``ZUN_TEST_POSTGRESQL_URL`` are URLs of accounts that may create
databases; tests of a server without a URL are skipped.
"""

import atexit
import functools
import os
import pathlib
import typing as ty
import uuid

import fixtures
from oslo_config import fixture as config_fixture
import sqlalchemy as sa
import testscenarios

from zun.common import context as zun_context
import zun.conf
from zun.db import engine
from zun.db import migration
from zun.db import models
from zun.db import models_console  # noqa: F401  its table is one of them
from zun.tests import base
from zun.tests import database

#: Kind of database -> variable with the URL of its server.
SERVERS = {'mysql': 'ZUN_TEST_MYSQL_URL', 'postgresql': 'ZUN_TEST_POSTGRESQL_URL'}


def _on_server(url: str, statement: str) -> None:
    admin = sa.create_engine(url, isolation_level='AUTOCOMMIT')
    try:
        with admin.connect() as connection:
            connection.execute(sa.text(statement))
    finally:
        admin.dispose()


def _create(url: str) -> str:
    name = f'zun_test_{uuid.uuid4().hex[:12]}'
    _on_server(url, f'CREATE DATABASE {name}')
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)


def _drop(url: str, made: str) -> None:
    force = ' WITH (FORCE)' if sa.make_url(url).get_backend_name() == 'postgresql' else ''
    _on_server(url, f'DROP DATABASE {sa.make_url(made).database}{force}')


class Database(fixtures.Fixture):
    """A database of its own, to which ``[database]/connection`` points.

    :param url: of an account of a server that may create databases; None: an SQLite file
    :param schema: ``models`` (fast), ``migrations``, or None for an empty database
    :ivar url: of the database
    """

    def __init__(self, url: str | None = None, schema: str | None = 'models') -> None:
        super().__init__()
        self._server = url
        self._schema = schema

    def _setUp(self) -> None:  # noqa: N802
        if self._server is None:
            path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'zun.db'
            self.url = f'sqlite:///{path}'
        else:
            self.url = _create(self._server)
            self.addCleanup(_drop, self._server, self.url)
        _point_to(self, self.url)
        if self._schema == 'models':
            models.metadata.create_all(engine.get_engine())
        elif self._schema == 'migrations':
            migration.upgrade()


def _point_to(fixture: fixtures.Fixture, url: str) -> None:
    config = fixture.useFixture(config_fixture.Config(zun.conf.CONF))
    config.config(group='database', connection=url, db_retry_interval=0, max_retries=0)
    engine.reset()
    fixture.addCleanup(engine.reset)


@functools.cache
def _shared(url: str) -> str:
    """A database that the tests of this process use one after the other."""
    made = _create(url)
    atexit.register(_drop, url, made)
    first = sa.create_engine(made)
    models.metadata.create_all(first)
    first.dispose()
    return made


class _EmptyTables(fixtures.Fixture):
    """The shared database of a server, without rows."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._server = url

    def _setUp(self) -> None:  # noqa: N802
        _point_to(self, _shared(self._server))
        with engine.get_engine().begin() as connection:
            for table in reversed(models.metadata.sorted_tables):
                connection.execute(sa.delete(table))


class TestCase(testscenarios.WithScenarios, base.TestCase):
    """A test that runs on each kind of database.

    :cvar backend: set by the scenario
    """

    scenarios: ty.ClassVar[list[tuple[str, dict[str, str]]]] = [
        (name, {'backend': name}) for name in ('sqlite', *SERVERS)]
    backend: str

    def setUp(self) -> None:
        super().setUp()
        if self.backend == 'sqlite':
            self.useFixture(database.SqliteDatabase())
            self.config(group='database', db_retry_interval=0)
        else:
            self.useFixture(_EmptyTables(self.server()))
        self.context = zun_context.RequestContext(
            user_id='user', project_id='project', overwrite=False)
        self.admin = zun_context.get_admin_context()

    def server(self) -> str:
        """The URL of the server; the test is skipped when there is none."""
        return server(self, self.backend)


def server(test: base.TestCase, backend: str) -> str:
    """The URL of a server; the test is skipped when there is none."""
    url = os.environ.get(SERVERS[backend])
    if not url:
        test.skipTest(f'{SERVERS[backend]} is not set')
    return ty.cast(str, url)
