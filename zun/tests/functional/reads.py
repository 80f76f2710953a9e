# SPDX-License-Identifier: Apache-2.0
"""What MariaDB reads for our statements: rows looked at, not only rows returned."""

import contextlib

import sqlalchemy as sa

from zun.db import engine

_ASK = "SHOW SESSION STATUS LIKE 'Handler_read%'"
_SKIPPED = ('BEGIN', 'SELECT 1', 'SHOW', 'SET', 'EXPLAIN')


class Reads:
    """
    :ivar statements: [(statement, parameters, rows looked at)]
    """

    def __init__(self):
        self.statements = []

    @property
    def rows(self):
        return sum(count for _statement, _parameters, count in self.statements)

    @property
    def kinds(self):
        """Statements without their values, in order."""
        return [statement for statement, _parameters, _count in self.statements]


def _looked_at(connection):
    cursor = connection.connection.cursor()
    try:
        cursor.execute(_ASK)
        return sum(int(value) for _name, value in cursor.fetchall())
    finally:
        cursor.close()


@contextlib.contextmanager
def counted():
    """Count the reads of every statement of this process."""
    found = Reads()

    def before(connection, _cursor, statement, *_rest):
        if not statement.startswith(_SKIPPED):
            connection.info['looked_at'] = _looked_at(connection)

    def after(connection, _cursor, statement, parameters, *_rest):
        if not statement.startswith(_SKIPPED):
            count = _looked_at(connection) - connection.info['looked_at']
            found.statements.append((statement, parameters, count))

    for name, listener in (('before_cursor_execute', before), ('after_cursor_execute', after)):
        sa.event.listen(sa.Engine, name, listener)
    try:
        yield found
    finally:
        for name, listener in (('before_cursor_execute', before), ('after_cursor_execute', after)):
            sa.event.remove(sa.Engine, name, listener)


def plan(statement, parameters):
    """How the server goes about a statement: [(table, kind of access, index)]."""
    with engine.get_engine().connect() as connection:
        found = connection.exec_driver_sql(f'EXPLAIN {statement}', parameters).mappings()
        return [(row['table'], row['type'], row['key']) for row in found]


def analyze(*tables):
    """Let the server know how its tables look by now."""
    with engine.get_engine().connect() as connection:
        connection.exec_driver_sql(f'ANALYZE TABLE {", ".join(tables)}')
