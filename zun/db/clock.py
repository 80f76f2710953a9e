# SPDX-License-Identifier: Apache-2.0
"""The database's clock, naive UTC, in SQL. Liveness and expiry are judged by it alone."""

import datetime
import typing as ty

import sqlalchemy as sa
from sqlalchemy.ext import compiler
from sqlalchemy.sql import functions


class utc_now(functions.FunctionElement[datetime.datetime]):  # noqa: N801
    """The time of the statement, plus some seconds."""

    type = sa.DateTime()
    inherit_cache = True
    name = 'utc_now'

    def __init__(self, seconds: float = 0) -> None:
        super().__init__(sa.literal(seconds, sa.Float()))


class seconds_since(functions.FunctionElement[float]):  # noqa: N801
    """Seconds from a time to now; negative for a time to come."""

    type = sa.Float()
    inherit_cache = True
    name = 'seconds_since'


@compiler.compiles(utc_now, 'sqlite')
def _utc_now_sqlite(element: utc_now, compiled: ty.Any, **kwargs: ty.Any) -> str:
    # The text that SQLAlchemy stores ends in six digits: keep comparisons of texts true.
    seconds = compiled.process(element.clauses, **kwargs)
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', {seconds} || ' seconds') || '000')"


@compiler.compiles(utc_now, 'mysql', 'mariadb')
def _utc_now_mysql(element: utc_now, compiled: ty.Any, **kwargs: ty.Any) -> str:
    return ('DATE_ADD(UTC_TIMESTAMP(), INTERVAL '
            f'{compiled.process(element.clauses, **kwargs)} SECOND)')


@compiler.compiles(utc_now, 'postgresql')
def _utc_now_postgresql(element: utc_now, compiled: ty.Any, **kwargs: ty.Any) -> str:
    return ("(timezone('utc', clock_timestamp()) + make_interval(secs => "
            f'{compiled.process(element.clauses, **kwargs)}))')


@compiler.compiles(seconds_since, 'sqlite')
def _seconds_since_sqlite(element: seconds_since, compiled: ty.Any, **kwargs: ty.Any) -> str:
    then = compiled.process(element.clauses, **kwargs)
    return f"((julianday('now') - julianday({then})) * 86400.0)"


@compiler.compiles(seconds_since, 'mysql', 'mariadb')
def _seconds_since_mysql(element: seconds_since, compiled: ty.Any, **kwargs: ty.Any) -> str:
    then = compiled.process(element.clauses, **kwargs)
    return f'TIMESTAMPDIFF(SECOND, {then}, UTC_TIMESTAMP())'


@compiler.compiles(seconds_since, 'postgresql')
def _seconds_since_postgresql(element: seconds_since, compiled: ty.Any, **kwargs: ty.Any) -> str:
    then = compiled.process(element.clauses, **kwargs)
    return f"EXTRACT(EPOCH FROM (timezone('utc', clock_timestamp()) - {then}))"
