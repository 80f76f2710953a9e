# SPDX-License-Identifier: Apache-2.0
"""zun-status orphans: what engine, networks, ledger and database disagree on, host by host."""

import collections.abc
import typing as ty

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import orphans
import zun.conf
from zun.container import driver as container_driver
from zun.control import allocations
from zun.placement import ledger

CONF = zun.conf.CONF

#: Where, what, container, repaired.
_Line = tuple[str, str, str, bool | None]
_REPAIRED = {None: 'no', True: 'yes', False: 'failed'}
Table = collections.abc.Callable[[list[str], list[ty.Any]], None]


def add_parser(subparsers: ty.Any) -> ty.Any:
    """The command's arguments."""
    parser = subparsers.add_parser(
        'orphans', help='compare engine, networks, ledger and containers, both ways')
    parser.add_argument('--host', dest='only_host', help='only this host')
    parser.add_argument('--repair', action='store_true',
                        help='remove what no container owns, and name the containers that miss '
                             'theirs')
    return parser


def show(table: Table) -> bool:
    """Print what differs; whether anything is left of it.

    :raises ComputeNodeNotFound: there is no such host
    """
    lines = []
    for host in _hosts(CONF.command.only_host):
        found = [*_engine(host, CONF.command.repair), *_networks(host, CONF.command.repair),
                 *_ledger(host, CONF.command.repair)]
        lines += [(host, *line[:3], _REPAIRED[line[3]]) for line in found]
    if not lines:
        print('Nothing differs.')
        return False
    table(['HOST', 'WHERE', 'DIFFERENCE', 'CONTAINER', 'REPAIRED'], lines)
    return any(line[4] != 'yes' for line in lines)


def _hosts(only: str | None) -> list[str]:
    nodes = objects.ComputeNode.list(zun_context.get_admin_context(), sort_key='hostname')
    known = [node.hostname for node in nodes]
    if only is None:
        return known
    if only not in known:
        raise exception.ComputeNodeNotFound(compute_node=only)
    return [only]


def _engine(host: str, repair: bool) -> list[_Line]:
    """An engine can be asked on its own host only."""
    if host != CONF.host:
        print(f'The engine of host {host} is not looked at: run this on that host.')
        return []
    try:
        found = orphans.in_engine(host, container_driver.load(), repair)
    except exception.EngineUnavailable as error:
        print(f'The engine of host {host} is not looked at: {error.message}')
        return []
    return [('engine', item.kind, item.uuid, item.repaired) for item in found]


def _networks(host: str, repair: bool) -> list[_Line]:
    return [('network', item.kind, item.uuid, item.repaired)
            for item in orphans.in_networks(host, repair)]


def _ledger(host: str, repair: bool) -> list[_Line]:
    if CONF.scheduler.driver != 'filter_scheduler':
        return []  # then nothing is ever allocated
    return [('ledger', item.kind, item.consumer or item.provider, item.repaired)
            for item in allocations.differences(ledger.load(), host, repair)]
