# SPDX-License-Identifier: Apache-2.0
"""Changes that do nothing when they are made already.

MariaDB commits each DDL statement by itself: a step that was interrupted is run again.
"""

import typing as ty

from alembic import op
import sqlalchemy as sa


def _inspector() -> sa.Inspector:
    return sa.inspect(op.get_bind())


def columns_of(table: str) -> set[str]:
    """Names of the columns of a table."""
    return {column['name'] for column in _inspector().get_columns(table)}


def uniques_of(table: str) -> set[str | None]:
    """Names of the unique constraints of a table."""
    return {unique['name'] for unique in _inspector().get_unique_constraints(table)}


def add_columns(table: str, *columns: sa.Column[ty.Any]) -> None:
    """Add the columns that are missing."""
    present = columns_of(table)
    for column in columns:
        if column.name not in present:
            op.add_column(table, column)


def add_index(name: str, table: str, columns: list[str], unique: bool = False) -> None:
    """Create an index unless there is one of this name."""
    if name not in {index['name'] for index in _inspector().get_indexes(table)}:
        op.create_index(name, table, columns, unique=unique)


def create_table(name: str, *items: ty.Any) -> None:
    """Create a table unless there is one of this name.

    On MySQL it gets the collation of upstream's tables, which may not be the database's any more:
    foreign keys and comparisons need equal ones.
    """
    if _inspector().has_table(name):
        return
    options = {}
    if op.get_bind().dialect.name in ('mysql', 'mariadb'):
        options = {'mysql_collate': _inspector().get_table_options('container')['mysql_collate']}
    op.create_table(name, *items, **options)
