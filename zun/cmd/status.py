# SPDX-License-Identifier: Apache-2.0
"""zun-status: what an operator should know before an upgrade."""

import shutil
import sys
import typing as ty

from oslo_config import cfg
from oslo_upgradecheck import common_checks
from oslo_upgradecheck import upgradecheck
import sqlalchemy as sa

from zun.common import config
import zun.conf
from zun.conf import base
from zun.db import engine
from zun.db import migration
from zun.db import models

CONF = zun.conf.CONF

Code = upgradecheck.Code
Result = upgradecheck.Result


def _duplicates(table: sa.Table, *columns: str) -> list[tuple[ty.Any, ...]]:
    keys = [table.c[column] for column in columns]
    query = sa.select(*keys).group_by(*keys).having(sa.func.count() > 1)
    with engine.reader() as session:
        return [tuple(row) for row in session.execute(query)]


def _verdict(found: list[ty.Any], code: ty.Any, text: str) -> upgradecheck.Result:
    return Result(code, text % ', '.join(map(str, found))) if found else Result(Code.SUCCESS)


def _needs_schema(check: ty.Callable[['Checks'], upgradecheck.Result],
                  ) -> ty.Callable[['Checks'], upgradecheck.Result]:
    """A check of rows, which a database of another revision may not even have."""
    def guarded(self: 'Checks') -> upgradecheck.Result:
        if migration.version() != migration.head():
            return Result(Code.WARNING, 'not checked before the database is upgraded')
        return check(self)
    return guarded


class Checks(upgradecheck.UpgradeCommands):
    def _numactl(self) -> upgradecheck.Result:
        if shutil.which('numactl'):
            return Result(Code.SUCCESS)
        return Result(Code.WARNING, 'numactl is not installed; NUMA is read from sysfs instead')

    def _revision(self) -> upgradecheck.Result:
        found, head = migration.version(), migration.head()
        if found == head:
            return Result(Code.SUCCESS)
        return Result(Code.FAILURE,
                      f'the database is at {found}, not at {head}: run zun-db-manage upgrade')

    @_needs_schema
    def _quotas(self) -> upgradecheck.Result:
        return _verdict(_duplicates(models.quotas, 'project_id', 'resource'), Code.WARNING,
                        'the newest row of these counts, an upgrade removes the others: %s')

    @_needs_schema
    def _hostnames(self) -> upgradecheck.Result:
        return _verdict(_duplicates(models.compute_node, 'hostname'), Code.FAILURE,
                        'several compute_node rows for one host: %s')

    @_needs_schema
    def _lost_hosts(self) -> upgradecheck.Result:
        known = sa.select(models.compute_node.c.hostname)
        host = models.container.c.host
        query = sa.select(host).where(host.is_not(None), host.not_in(known)).distinct()
        with engine.reader() as session:
            found = list(session.scalars(query))
        return _verdict(found, Code.WARNING, 'containers on hosts that are not known: %s')

    @_needs_schema
    def _encryption_key(self) -> upgradecheck.Result:
        if CONF.auth_encryption_key != base.DEFAULT_ENCRYPTION_KEY:
            return Result(Code.SUCCESS)
        with engine.reader() as session:
            stored = session.scalar(sa.select(sa.func.count()).select_from(models.registry))
        if not stored:
            return Result(Code.SUCCESS)
        return Result(Code.WARNING, 'registry passwords are encrypted with the public default of '
                                    '[DEFAULT]/auth_encryption_key')

    _upgrade_checks = (
        ('Numactl Check', _numactl),
        ('Policy File JSON to YAML Migration',
         (common_checks.check_policy_json, {'conf': CONF})),
        ('Database Revision', _revision),
        ('Duplicate Quotas', _quotas),
        ('Duplicate Hosts', _hostnames),
        ('Containers on Unknown Hosts', _lost_hosts),
        ('Encryption Key', _encryption_key),
    )


def main() -> int:
    config.set_config_defaults()
    try:
        return upgradecheck.main(CONF, project=config.PROJECT, upgrade_command=Checks(),
                                 argv=sys.argv[1:])
    except cfg.Error as error:
        print(f'zun-status: {error}', file=sys.stderr)
        return 255


if __name__ == '__main__':
    sys.exit(main())
