# SPDX-License-Identifier: Apache-2.0
"""The operator's audit of a host: where engine, networks and the containers' rows disagree.

The ledger is compared by :mod:`zun.control.allocations`.
"""

import collections.abc
import dataclasses
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.compute import heal
from zun.container import driver as container_driver
from zun.db import embedded_networks

LOG = logging.getLogger(__name__)

#: The engine has a container that no row knows.
ORPHAN = 'orphan'
#: The engine has a container that belongs to another host by now.
ELSEWHERE = 'elsewhere'
#: The row says that it was made, the engine has none.
MISSING = 'missing'
#: A network has an address for a container that no row knows.
ADDRESS = 'address'

#: Seconds between the two looks that a repair needs: the first may fall into an operation.
SECOND_LOOK = 5.0

Listing = collections.abc.Mapping[str, container_driver.Observed]
Rows = collections.abc.Mapping[str, 'objects.ContainerBase']


@dataclasses.dataclass(frozen=True)
class Difference:
    """
    :ivar kind: one of the above
    :ivar repaired: None: that was not tried
    """

    kind: str
    uuid: str
    repaired: bool | None = None


def compare(host: str, listing: Listing, rows: Rows) -> list[Difference]:
    """What engine and rows disagree on; nothing of what is under way.

    :param rows: those of the host, and those of what is listed
    """
    found = []
    for uuid, seen in listing.items():
        if seen.host not in (host, None):
            continue  # two agents may share an engine
        row = rows.get(uuid)
        if row is None:
            found.append(Difference(ORPHAN, uuid))
        elif row.host != host and seen.host == host and _settled(row):
            found.append(Difference(ELSEWHERE, uuid))
    found += [Difference(MISSING, uuid) for uuid, row in rows.items()
              if row.host == host and uuid not in listing and _settled(row)
              and row.container_id and row.status != states.ERROR]
    return found


def _settled(row: 'objects.ContainerBase') -> bool:
    return (row.task_state is None and row.status not in states.TRANSITIONAL
            and row.status != states.DELETED)


def in_engine(host: str, engine: container_driver.ContainerDriver, repair: bool = False,
              pause: float = SECOND_LOOK) -> list[Difference]:
    """Compare the engine of this host with the rows.

    :param repair: what is found again after a pause of so many seconds, make right: a container
        without a row, or of another host, is removed; one that is missing gets status Error
    :raises EngineUnavailable: the engine does not answer
    """
    def look() -> list[Difference]:
        listing = engine.list()
        return compare(host, listing, _rows(host, listing))
    return _audited(look, lambda found: _repair_in_engine(host, engine, found), repair, pause)


def in_networks(host: str, repair: bool = False,
                pause: float = SECOND_LOOK) -> list[Difference]:
    """Compare the addresses of a host's embedded networks with the rows.

    :param repair: give back what is found again after a pause of so many seconds
    """
    def look() -> list[Difference]:
        return [Difference(ADDRESS, uuid)
                for uuid in sorted(set(embedded_networks.ownerless(host).values()))]
    return _audited(look, lambda found: embedded_networks.release(None, found.uuid), repair,
                    pause)


def _audited(look: collections.abc.Callable[[], list[Difference]],
             mend: collections.abc.Callable[[Difference], bool], repair: bool,
             pause: float) -> list[Difference]:
    found = look()
    if not repair or not found:
        return found
    time.sleep(pause)
    again = set(look())
    return [dataclasses.replace(item, repaired=mend(item)) for item in found if item in again]


def _rows(host: str, listing: Listing) -> Rows:
    context = zun_context.get_admin_context()
    rows: dict[str, objects.ContainerBase] = {
        row.uuid: row for row in objects.Container.list_by_host(context, host)}
    for uuid in listing.keys() - rows.keys():
        try:
            rows[uuid] = objects.Container.get_any_type(context, uuid)
        except exception.ContainerNotFound:
            continue
    return rows


def _repair_in_engine(host: str, engine: container_driver.ContainerDriver,
                      found: Difference) -> bool:
    try:
        if found.kind == MISSING:
            _give_up(host, found.uuid)
        else:
            engine.delete(found.uuid)
    except exception.ZunException as error:
        LOG.warning('Container %s (%s) is not repaired: %s', found.uuid, found.kind,
                    error.message)
        return False
    LOG.info('Container %s (%s) is repaired', found.uuid, found.kind)
    return True


def _give_up(host: str, uuid: str) -> None:
    """
    :raises Conflict: something is under way by now
    """
    container = objects.Container.get_by_uuid(zun_context.get_admin_context(), uuid)
    before = container.status
    container.status, container.status_reason = states.ERROR, heal.MISSING
    container.save(expected={'host': host, 'status': before, 'task_state': None})
