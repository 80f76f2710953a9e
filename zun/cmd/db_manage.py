# SPDX-License-Identifier: Apache-2.0
"""zun-db-manage: the schema of the database, and how its data are written."""

import argparse
import collections.abc
import logging as std_logging
import sys

from oslo_config import cfg
from oslo_db import exception as db_exc
import sqlalchemy.exc

from zun.common import config
from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.control import registries
from zun.db import migration

CONF = zun.conf.CONF

_PROGRAM = 'zun-db-manage'
#: Exit code of online-data.
LEFT = 3
_EXIT_CODES = {migration.State.HEAD: 0, migration.State.BEHIND: 3, migration.State.UNKNOWN: 4}


def _upgrade() -> int:
    migration.upgrade(CONF.command.revision)
    return 0


def _version() -> int:
    print(f'Current DB revision is {migration.version()}')
    return 0


def _stamp() -> int:
    migration.stamp(CONF.command.revision, CONF.command.force)
    return 0


def _revision() -> int:
    print(migration.revision(CONF.command.message, CONF.command.autogenerate))
    return 0


def _check() -> int:
    state = migration.check()
    print(f'Current DB revision is {migration.version()}, head is {migration.head()}')
    return _EXIT_CODES[state]


def _online_data() -> int:
    if migration.check() != migration.State.HEAD:
        raise migration.MigrationError('The database is not at head: upgrade it first.')
    count, lost = registries.renew_passwords(zun_context.get_admin_context(all_projects=True))
    print(f'Passwords of registries put under the newest key: {count}')
    if lost:
        print(f'No key opens those of: {" ".join(lost)}')
    return LEFT if lost else 0


def _add_commands(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    subparsers.required = True

    def add(name: str, function: collections.abc.Callable[[], int],
            text: str) -> argparse.ArgumentParser:
        parser = subparsers.add_parser(name, help=text)
        parser.set_defaults(func=function)
        return parser

    parser = add('upgrade', _upgrade, 'upgrade the schema')
    parser.add_argument('revision', nargs='?', default='head')
    add('version', _version, 'show the revision of the database')
    parser = add('stamp', _stamp, 'record a revision without changing a table')
    parser.add_argument('--force', action='store_true',
                        help='also on an empty database or over an unknown revision')
    parser.add_argument('revision')
    parser = add('revision', _revision, 'write a new migration script into the source tree')
    parser.add_argument('-m', '--message', required=True)
    parser.add_argument('--autogenerate', action='store_true')
    add('online-data', _online_data, 'rewrite stored data as this release and its keys want it, '
        'while services run; exit with 3 when something cannot be')
    add('check', _check, 'exit with 0 at head, 3 behind it, 4 at something unknown')


def main() -> int:
    """Run one command; what went wrong is one line."""
    CONF.register_cli_opt(cfg.SubCommandOpt('command', title='Commands', handler=_add_commands))
    try:
        config.parse_args(sys.argv[1:], program=_PROGRAM)
        CONF.set_default('use_stderr', True)
        config.setup_logging(_PROGRAM)
        std_logging.getLogger('alembic').setLevel(std_logging.INFO)
        return CONF.command.func()
    except (cfg.Error, exception.ZunException, db_exc.DBError, ImportError,
            sqlalchemy.exc.SQLAlchemyError) as error:
        print(f'{_PROGRAM}: {(str(error).splitlines() or [type(error).__name__])[0]}',
              file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
