# SPDX-License-Identifier: Apache-2.0
"""The schema's way from one revision to the next: what ``zun-db-manage`` does."""

import collections.abc
import contextlib
import enum
import fcntl
import pathlib
import typing as ty

import alembic.command
import alembic.config
import alembic.script
import alembic.util
from oslo_db.sqlalchemy import engines
import sqlalchemy as sa

from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

_SCRIPTS = pathlib.Path(__file__).parent / 'migrations'
_VERSION_TABLE = 'alembic_version'
_VERSIONS: sa.Select[ty.Any] = sa.select(sa.column('version_num')).select_from(
    sa.table(_VERSION_TABLE))
_LOCK_WAIT = 600
_LOCK_KEY = 0x7a756e


class MigrationError(exception.ZunException):
    """An upgrade that cannot be, in one line for the operator."""


class State(enum.Enum):
    """How a database compares to what this code expects."""

    HEAD = 'head'
    BEHIND = 'behind'
    UNKNOWN = 'unknown'


def _config(connection: sa.Connection | None = None) -> alembic.config.Config:
    config = alembic.config.Config()
    config.set_main_option('script_location', str(_SCRIPTS).replace('%', '%%'))
    config.attributes['connection'] = connection
    return config


def _scripts() -> alembic.script.ScriptDirectory:
    return alembic.script.ScriptDirectory.from_config(_config())


def _resolve(revision: str) -> str | None:
    """The full id of a revision of ours; None when there is none."""
    try:
        script = _scripts().get_revision(revision)
    except alembic.util.CommandError:
        return None
    return None if script is None else str(script.revision)


@contextlib.contextmanager
def _connect() -> collections.abc.Iterator[sa.Engine]:
    if not CONF.database.connection:
        raise MigrationError('The option [database]/connection is not set.')
    # Without foreign keys on SQLite: changing a table there means to make it anew.
    engine = engines.create_engine(CONF.database.connection, max_retries=0,
                                   mysql_sql_mode=CONF.database.mysql_sql_mode)
    try:
        yield engine
    finally:
        engine.dispose()


@contextlib.contextmanager
def _alone(engine: sa.Engine) -> collections.abc.Iterator[None]:
    """Hold the lock that keeps two upgrades of one database apart."""
    database = engine.url.database or ''
    if engine.dialect.name == 'sqlite':
        with open(database, 'ab') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with engine.connect() as connection:
        if engine.dialect.name == 'postgresql':
            connection.execute(sa.text(f"SET lock_timeout = '{_LOCK_WAIT}s'"))
            connection.execute(sa.select(sa.func.pg_advisory_lock(_LOCK_KEY)))
        else:
            name = f'zun-db-upgrade.{database}'[:64]
            if not connection.execute(sa.select(sa.func.get_lock(name, _LOCK_WAIT))).scalar():
                raise MigrationError('Another upgrade of this database is under way.')
        yield


def _found(engine: sa.Engine) -> tuple[set[str], str | None]:
    """Tables and revision of a database."""
    tables = set(sa.inspect(engine).get_table_names())
    if _VERSION_TABLE not in tables:
        return tables, None
    with engine.connect() as connection:
        revisions: list[str] = list(connection.execute(_VERSIONS).scalars())
    return tables - {_VERSION_TABLE}, ', '.join(sorted(revisions)) or None


def version() -> str | None:
    """The revision of the database; None when it is not managed.

    :raises MigrationError: no database is configured
    """
    with _connect() as engine:
        return _found(engine)[1]


def head() -> str:
    """The revision that this code expects."""
    return ty.cast(str, _scripts().get_current_head())


def check() -> State:
    """Compare the database with this code; an empty one is behind.

    :raises MigrationError: no database is configured
    """
    with _connect() as engine:
        tables, revision = _found(engine)
    if revision is None:
        return State.UNKNOWN if tables else State.BEHIND
    if _resolve(revision) != revision:
        return State.UNKNOWN
    return State.HEAD if revision == head() else State.BEHIND


def upgrade(revision: str = 'head') -> None:
    """Take the database to a revision; one that is not ahead changes nothing.

    :raises MigrationError: the revision does not exist, or the database is not one of ours
    """
    target = _resolve(revision)
    if target is None:
        raise MigrationError(f'Revision {revision} does not exist.')
    with _connect() as engine, _alone(engine):
        tables, current = _found(engine)
        if current is None and tables:
            raise MigrationError(
                'The database has tables but no revision. Nothing is created over them.')
        if current is not None and _resolve(current) != current:
            raise MigrationError(
                f'The database is at revision {current}, which is not known here. '
                'Upgrade it with upstream 13.0.0 or later first.')
        ahead = {script.revision
                 for script in _scripts().iterate_revisions('head', current or 'base')}
        if target in ahead - {current}:
            with engine.connect() as connection:
                alembic.command.upgrade(_config(connection), target)


def stamp(revision: str, force: bool = False) -> None:
    """Say that the database is at a revision, without changing a table.

    :param force: also an empty database, and one at a revision that is not known here
    :raises MigrationError: the revision does not exist, or force would be needed
    """
    target = _resolve(revision)
    if target is None:
        raise MigrationError(f'Revision {revision} does not exist.')
    with _connect() as engine, _alone(engine):
        tables, current = _found(engine)
        if not tables and not force:
            raise MigrationError('The database is empty: upgrade it, or stamp with --force.')
        if current is not None and _resolve(current) != current and not force:
            raise MigrationError(f'The database is at revision {current}, which is not known '
                                 'here: stamp with --force if you are sure.')
        with engine.begin() as connection:
            alembic.command.stamp(_config(connection), target, purge=True)


def revision(message: str, autogenerate: bool = False) -> pathlib.Path:
    """Write a new script; its path.

    :param autogenerate: fill it with the difference between the database and the tables of ours
    :raises MigrationError: this is not a source tree
    """
    if not (_SCRIPTS.parents[2] / 'setup.cfg').is_file():
        raise MigrationError('New revisions are written in a source tree only.')
    if not autogenerate:
        script = alembic.command.revision(_config(), message)
    else:
        with _connect() as engine, engine.connect() as connection:
            script = alembic.command.revision(_config(connection), message, autogenerate=True)
    return pathlib.Path(ty.cast(alembic.script.Script, script).path)
