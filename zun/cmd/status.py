# SPDX-License-Identifier: Apache-2.0
"""zun-status: what an operator should know before an upgrade, of the ledger and of a host.

``allocations`` and ``orphans`` end with 3 when something differs, ``host`` when the host is not
empty.
"""

import collections.abc
import shutil
import sys
import typing as ty

from oslo_config import cfg
from oslo_upgradecheck import common_checks
from oslo_upgradecheck import upgradecheck
import sqlalchemy as sa

from zun.cmd import orphans
from zun.common import config
from zun.common import crypt
from zun.common import exception
import zun.conf
from zun.control import allocations
from zun.control import hosts
from zun.db import engine
from zun.db import migration
from zun.db import models
from zun.network import driver as network_driver
from zun.placement import ledger

CONF = zun.conf.CONF

#: Exit codes beside those of the upgrade check.
DIFFERENT = 3
UNUSABLE = 255

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
        if not crypt.is_public():
            return Result(Code.SUCCESS)
        with engine.reader() as session:
            stored = session.scalar(sa.select(sa.func.count()).select_from(models.registry))
        if not stored:
            return Result(Code.SUCCESS)
        return Result(Code.WARNING, 'registry passwords are encrypted with the public default of '
                                    '[DEFAULT]/auth_encryption_key')

    @_needs_schema
    def _ledger(self) -> upgradecheck.Result:
        try:
            ledger.load().providers()
        except exception.LedgerUnavailable as error:
            return Result(Code.WARNING, f'not checked: {error.message}')
        except (exception.LedgerForbidden, exception.ConfigInvalid) as error:
            return Result(Code.FAILURE, error.message)
        return Result(Code.SUCCESS)

    @_needs_schema
    def _network_driver(self) -> upgradecheck.Result:
        try:
            network = network_driver.load()
        except exception.ConfigInvalid as error:
            return Result(Code.FAILURE, error.message)
        row = models.container.c
        query = sa.select(row.uuid, row.host, row.addresses, row.cni_metadata).where(
            row.host.is_not(None))
        with engine.reader() as session:
            found = {host for uuid, host, addresses, metadata in session.execute(query)
                     if not network.owns(uuid, addresses or {}, metadata)}
        return _verdict(sorted(found), Code.FAILURE,
                        f'[network]/driver {CONF.network.driver} did not wire the containers on '
                        'these hosts, whose agents will not start with it: %s')

    _upgrade_checks = (
        ('Numactl Check', _numactl),
        ('Policy File JSON to YAML Migration',
         (common_checks.check_policy_json, {'conf': CONF})),
        ('Database Revision', _revision),
        ('Duplicate Quotas', _quotas),
        ('Duplicate Hosts', _hostnames),
        ('Containers on Unknown Hosts', _lost_hosts),
        ('Encryption Key', _encryption_key),
        ('Resource Ledger', _ledger),
        ('Network Driver', _network_driver),
    )


def _table(headers: collections.abc.Sequence[str],
           found: collections.abc.Iterable[collections.abc.Sequence[ty.Any]]) -> None:
    """Print rows under headers, each column as wide as it needs to be."""
    lines = [headers, *([str(cell) for cell in row] for row in found)]
    widths = [max(len(line[number]) for line in lines) for number in range(len(headers))]
    for line in lines:
        print('  '.join(cell.ljust(width)
                        for cell, width in zip(line, widths, strict=True)).rstrip())


def _amounts(resources: ledger.Resources) -> str:
    return ' '.join(f'{name}={amount}' for name, amount in sorted(resources.items())) or '-'


_REPAIRED = {None: 'no', True: 'yes', False: 'failed'}


def _allocations() -> int:
    if CONF.scheduler.driver != 'filter_scheduler':
        print(f'[scheduler]/driver {CONF.scheduler.driver} allocates nothing: nothing to audit.')
        return 0
    found = allocations.differences(ledger.load(), CONF.command.only_host, CONF.command.repair)
    if not found:
        print('Ledger and containers agree.')
        return 0
    _table(['HOST', 'DIFFERENCE', 'CONSUMER', 'LEDGER', 'CONTAINER', 'REPAIRED'],
           [(item.host, item.kind, item.consumer or item.provider, _amounts(item.held),
             _amounts(item.wanted), _REPAIRED[item.repaired]) for item in found])
    return 0 if all(item.repaired for item in found) else DIFFERENT


def _host() -> int:
    found = hosts.report(ledger.load(), CONF.command.hostname)
    service = found.service
    state = 'none' if service is None else ', '.join((
        'disabled' if service.disabled else 'enabled', 'up' if service.is_up() else 'down',
        *(['forced down'] if service.forced_down else [])))
    reason = service.disabled_reason if service is not None else None
    _table(['HOST', found.host], [
        ('service', f'{state} ({reason})' if reason else state),
        ('new containers', 'no' if found.closed else 'yes'),
        *((f'containers {status or "without a status"}', count)
          for status, count in found.containers.items()),
        ('containers', sum(found.containers.values())),
        ('allocations', f'{found.consumers} ({_amounts(found.held)})'),
        ('drained', 'yes' if found.drained else 'no')])
    return 0 if found.drained else DIFFERENT


def _add_parsers(subparsers: ty.Any) -> None:
    upgrade = subparsers.add_parser('upgrade', help='is the cloud ready for an upgrade?')
    upgrade.add_argument('check')
    upgrade.add_argument('--json', action='store_true', help='print JSON instead of a table')
    upgrade.set_defaults(action_fn=Checks().check)
    audit = subparsers.add_parser(
        'allocations', help='compare the resource ledger with the containers, both ways')
    audit.add_argument('--host', dest='only_host', help='only this host')
    audit.add_argument('--repair', action='store_true',
                       help='make the ledger say what the rows of the containers say')
    audit.set_defaults(action_fn=_allocations)
    orphans.add_parser(subparsers).set_defaults(
        action_fn=lambda: DIFFERENT if orphans.show(_table) else 0)
    left = subparsers.add_parser('host', help='what is left on a host')
    left.add_argument('hostname')
    left.set_defaults(action_fn=_host)


def main() -> int:
    CONF.register_cli_opt(cfg.SubCommandOpt('command', handler=_add_parsers))
    upgradecheck.CONF = CONF  # where it looks for --json
    try:
        config.parse_args(sys.argv[1:], program='zun-status')
        engine.check()
        if CONF.command.name == 'upgrade':
            return upgradecheck.run(CONF)
        return int(CONF.command.action_fn())
    except (cfg.Error, exception.ZunException) as error:
        print(f'zun-status: {error}', file=sys.stderr)
        return UNUSABLE


if __name__ == '__main__':
    sys.exit(main())
