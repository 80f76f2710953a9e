# SPDX-License-Identifier: Apache-2.0
"""The schema of a MariaDB database, in the form of the recorded one."""

import json
import pathlib
import re
import typing as ty

import sqlalchemy as sa

DATA = pathlib.Path(__file__).parent / 'data'
Table = dict[str, ty.Any]


def recorded() -> dict[str, Table]:
    """What upstream's migrations leave at 3f2b36231bee: table -> its parts."""
    return json.loads((DATA / 'schema-mariadb.json').read_text())['tables']


def load_dump(connection: sa.Connection, revision: str) -> None:
    """Execute a dump that upstream's code has written."""
    text = (DATA / f'upstream-db-{revision}.sql').read_text()
    # Comments of mysqldump and blank lines are no statements; no value holds a line break.
    lines = [line for line in text.splitlines() if line and not line.startswith('--')]
    for statement in re.split(r';\n', '\n'.join(lines) + '\n'):
        if statement.strip():
            connection.exec_driver_sql(statement.replace('%', '%%'))


def read(connection: sa.Connection) -> dict[str, Table]:
    """Columns in order, primary key, unique keys, indexes and foreign keys of every table."""
    names = _query(connection, 'SELECT table_name AS name FROM information_schema.tables '
                               'WHERE table_schema = DATABASE()')
    return {row['name']: {
        'columns': _columns(connection, row['name']), **_keys(connection, row['name']),
        'foreign_keys': _foreign_keys(connection, row['name'])} for row in names}


def _query(connection: sa.Connection, text: str, **values: str) -> list[dict[str, ty.Any]]:
    return [dict(row) for row in connection.execute(sa.text(text), values).mappings()]


def _columns(connection: sa.Connection, table: str) -> list[dict[str, ty.Any]]:
    found = _query(
        connection,
        'SELECT column_name AS name, column_type AS type, is_nullable AS nullable, '
        'column_default AS value, extra FROM information_schema.columns '
        'WHERE table_schema = DATABASE() AND table_name = :name ORDER BY ordinal_position',
        name=table)
    return [{'name': row['name'], 'type': row['type'], 'nullable': row['nullable'] == 'YES',
             'server_default': None if row['value'] in (None, 'NULL') else row['value'],
             'auto_increment': 'auto_increment' in row['extra']} for row in found]


def _keys(connection: sa.Connection, table: str) -> Table:
    found = _query(
        connection,
        'SELECT index_name AS name, column_name AS col, non_unique AS plain '
        'FROM information_schema.statistics WHERE table_schema = DATABASE() '
        'AND table_name = :name ORDER BY index_name, seq_in_index', name=table)
    result: Table = {'primary_key': [], 'unique': {}, 'indexes': {}}
    for row in found:
        if row['name'] == 'PRIMARY':
            result['primary_key'].append(row['col'])
        else:
            kind = 'indexes' if row['plain'] else 'unique'
            result[kind].setdefault(row['name'], []).append(row['col'])
    return result


def _foreign_keys(connection: sa.Connection, table: str) -> list[dict[str, str]]:
    found = _query(
        connection,
        'SELECT k.column_name AS col, k.referenced_table_name AS other, '
        'k.referenced_column_name AS other_col, r.delete_rule AS rule '
        'FROM information_schema.key_column_usage k '
        'JOIN information_schema.referential_constraints r '
        'ON r.constraint_schema = k.constraint_schema AND r.table_name = k.table_name '
        'AND r.constraint_name = k.constraint_name '
        'WHERE k.table_schema = DATABASE() AND k.table_name = :name ORDER BY col', name=table)
    return [{'column': row['col'], 'references': f"{row['other']}.{row['other_col']}",
             'on_delete': 'RESTRICT' if row['rule'] == 'NO ACTION' else row['rule']}
            for row in found]
