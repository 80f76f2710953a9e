# SPDX-License-Identifier: Apache-2.0
"""A database for tests that need rows but do not test the database."""

import functools
import pathlib
import tempfile

import fixtures
from oslo_config import fixture as config_fixture
import sqlalchemy as sa

import zun.conf
from zun.db import engine
from zun.db import models
from zun.db import models_console  # noqa: F401  its table is one of them


@functools.cache
def _template() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / 'zun.db'
        made = sa.create_engine(f'sqlite:///{path}')
        models.metadata.create_all(made)
        made.dispose()
        return path.read_bytes()


class SqliteDatabase(fixtures.Fixture):
    """An empty SQLite file with all tables, to which ``[database]/connection`` points.

    :ivar url: of the file
    """

    def _setUp(self) -> None:  # noqa: N802
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'zun.db'
        path.write_bytes(_template())
        self.url = f'sqlite:///{path}'
        config = self.useFixture(config_fixture.Config(zun.conf.CONF))
        config.config(group='database', connection=self.url, sqlite_synchronous=False)
        engine.reset()
        self.addCleanup(engine.reset)
