# SPDX-License-Identifier: Apache-2.0
"""The connection to the database: sessions, retry, statement count.

One transaction is one ``with reader()`` or ``with writer()`` block. Blocks do not nest: what
belongs into one transaction gets the session as an argument.
"""

import collections.abc
import contextlib
import datetime
import functools
import threading
import typing as ty

from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
import sqlalchemy as sa
from sqlalchemy import exc as sa_exc
from sqlalchemy import orm

from zun.common import exception
import zun.conf
from zun.db import clock

CONF = zun.conf.CONF

_P = ty.ParamSpec('_P')
_T = ty.TypeVar('_T')

_WRITES = 'zun_writes'
_SQLITE_BUSY_MS = 30000
#: SQLite does not wait for others when it changes the mode of a new file.
_changing_mode = threading.Lock()


class _Scope:
    """What oslo.db keys a transaction by: a fresh one each time, as blocks do not nest."""


def _prepare(engine: sa.Engine) -> None:
    """Make SQLite usable by many threads: readers beside a writer, and writers that queue."""
    if engine.dialect.name != 'sqlite':
        return

    def on_connect(connection: ty.Any, _record: ty.Any) -> None:
        connection.execute(f'PRAGMA busy_timeout = {_SQLITE_BUSY_MS}')
        with _changing_mode:
            connection.execute('PRAGMA journal_mode = WAL')

    def on_options(connection: sa.Connection, options: dict[str, ty.Any]) -> None:
        if options.get(_WRITES):
            connection.info['in_transaction'] = True  # keeps oslo.db from its own BEGIN

    def on_begin(connection: sa.Connection) -> None:
        # A deferred transaction that reads first cannot become a writer while another one writes.
        if connection.get_execution_options().get(_WRITES):
            connection.exec_driver_sql('BEGIN IMMEDIATE')

    sa.event.listen(engine, 'connect', on_connect)
    sa.event.listen(engine, 'set_connection_execution_options', on_options)
    sa.event.listen(engine, 'begin', on_begin)


def _new_manager() -> ty.Any:
    manager = enginefacade.transaction_context()
    manager.configure(sqlite_fk=True, on_engine_create=[_prepare])
    return manager


_manager = _new_manager()


def reset() -> None:
    """Close all connections and read ``[database]`` again at the next use."""
    global _manager
    _manager.dispose_pool()
    _manager = _new_manager()


def get_engine() -> sa.Engine:
    """The engine of ``[database]/connection``; connects at first use."""
    return _manager.writer.get_engine()


def check() -> None:
    """See at a program's start that there is a database; no connection stays open.

    Waits for it as ``[database]/max_retries`` and ``retry_interval`` say.

    :raises ConfigInvalid: none is configured, or it cannot be used, or not with these options, as
        SQLite with ``pool_timeout``
    """
    if not CONF.database.connection:
        raise exception.ConfigInvalid(error_msg='[database]/connection is not set.')
    try:
        with reader() as session:
            session.execute(sa.select(sa.literal(1)))
    except (db_exc.DBError, sa_exc.ArgumentError, ImportError, TypeError) as error:
        raise exception.ConfigInvalid(
            error_msg=f'[database]/connection cannot be used: {_first_line(error)}') from error
    _manager.dispose_pool()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextlib.contextmanager
def _refusals() -> collections.abc.Iterator[None]:
    """Tell values that the database cannot hold from a database that fails."""
    try:
        yield
    except db_exc.DBError as error:
        if isinstance(error.inner_exception, sa_exc.DataError):
            raise exception.InvalidValue(
                'A value cannot be stored: it is out of range, or has characters that the '
                'database cannot hold.') from error
        raise


@contextlib.contextmanager
def reader() -> collections.abc.Iterator[orm.Session]:
    """A transaction that only reads. :raises InvalidValue: of a value that no row can have"""
    with _refusals(), _manager.reader.using(_Scope()) as session:
        yield session


@contextlib.contextmanager
def writer() -> collections.abc.Iterator[orm.Session]:
    """A transaction that commits when the block ends without an exception.

    :raises InvalidValue: the database cannot hold a value
    """
    with _refusals(), _manager.writer.using(_Scope()) as session:
        session.connection(execution_options={_WRITES: True})
        yield session


def now(session: orm.Session) -> datetime.datetime:
    """The database's time, naive UTC."""
    return session.execute(sa.select(clock.utc_now())).scalar_one()


def retry(function: collections.abc.Callable[_P, _T]) -> collections.abc.Callable[_P, _T]:
    """Run a whole transaction again after a deadlock or a lost connection.

    On Galera a certification conflict shows as a deadlock. ``[database]/db_*`` say how often.
    """
    @functools.wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        options = CONF.database
        again = oslo_db_api.wrap_db_retry(
            max_retries=options.db_max_retries, retry_interval=options.db_retry_interval,
            inc_retry_interval=options.db_inc_retry_interval,
            max_retry_interval=options.db_max_retry_interval,
            retry_on_disconnect=True, retry_on_deadlock=True, jitter=True)
        return again(function)(*args, **kwargs)
    return wrapper


class StatementCounter:
    """SQL statements seen while :func:`statement_counter` is active."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    @property
    def count(self) -> int:
        """Number of statements; BEGIN, COMMIT and PRAGMA do not count."""
        return len(self.statements)


@contextlib.contextmanager
def statement_counter(
        all_threads: bool = False) -> collections.abc.Iterator[StatementCounter]:
    """Collect the statements of this thread, or of the whole process."""
    counter = StatementCounter()
    me = threading.get_ident()

    def on_execute(_connection: ty.Any, _cursor: ty.Any, statement: str, *_rest: ty.Any) -> None:
        mine = all_threads or threading.get_ident() == me
        if mine and not statement.startswith(('BEGIN', 'PRAGMA')):
            counter.statements.append(statement)

    sa.event.listen(sa.Engine, 'before_cursor_execute', on_execute)
    try:
        yield counter
    finally:
        sa.event.remove(sa.Engine, 'before_cursor_execute', on_execute)
