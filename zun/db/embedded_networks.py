# SPDX-License-Identifier: Apache-2.0
"""Blocks and addresses of the embedded networks: the lowest free one, in one transaction."""

import ipaddress
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa
from sqlalchemy import orm

from zun.common import exception
from zun.db import engine
from zun.db import locks
from zun.db import models
from zun.db import rows

_NETWORK = models.embedded_network
_ADDRESS = models.embedded_allocation

Block = ipaddress.IPv4Network | ipaddress.IPv6Network


def _row(session: orm.Session, network_uuid: str) -> rows.Row | None:
    return rows.one(session, sa.select(_NETWORK).where(_NETWORK.c.network_uuid == network_uuid))


def get(network_uuid: str) -> rows.Row | None:
    """cidr, gateway and mtu of a network."""
    with engine.reader() as session:
        return _row(session, network_uuid)


@engine.retry
def get_or_create(network_uuid: str, pool: str, prefix: int, mtu: int | None,
                  foreign: ty.Collection[str] = ()) -> rows.Row:
    """The block of a network: the one it has, else the next free one.

    :param pool: the block that is cut up, e.g. 10.240.0.0/16
    :param prefix: length of the pieces, e.g. 24
    :param foreign: blocks that others use on the host
    :raises Conflict: the pool is used up
    """
    try:
        with engine.writer() as session:
            locks.hold(session, None, locks.BLOCKS)
            row = _row(session, network_uuid)
            if row is not None:
                return row
            return rows.insert(session, _NETWORK, {
                'network_uuid': network_uuid, 'mtu': mtu,
                **_free_block(session, pool, prefix, foreign)})
    except db_exc.DBDuplicateEntry as error:
        raise db_exc.RetryRequest(error) from error


@engine.retry
def replace(network_uuid: str, pool: str, prefix: int, foreign: ty.Collection[str]) -> rows.Row:
    """Give a network another block, as its own is among those that others use on the host.

    :raises NetworkNotFound: it has no block
    :raises AddressBlockInUse: it cannot have another one, as containers have addresses of its own
    :raises Conflict: the pool is used up
    """
    with engine.writer() as session:
        locks.hold(session, None, locks.BLOCKS)
        # Written first, so that nobody gets an address meanwhile.
        if rows.update(session, _NETWORK, {'network_uuid': network_uuid}, {}) is None:
            raise exception.NetworkNotFound(network=network_uuid)
        row = ty.cast(rows.Row, _row(session, network_uuid))
        if session.scalar(sa.select(sa.exists().where(_ADDRESS.c.network_uuid == network_uuid))):
            raise exception.AddressBlockInUse(cidr=row['cidr'])
        values = _free_block(session, pool, prefix, foreign)
        rows.update(session, _NETWORK, {'network_uuid': network_uuid}, values)
        return {**row, **values}


def _free_block(session: orm.Session, pool: str, prefix: int,
                foreign: ty.Collection[str]) -> rows.Row:
    """cidr and gateway of the first piece of the pool that overlaps with no block in use."""
    ours = session.execute(sa.select(_NETWORK.c.cidr)).scalars()
    block = choose_block(ipaddress.ip_network(pool), prefix,
                         [ipaddress.ip_network(cidr) for cidr in (*ours, *foreign)])
    return {'cidr': str(block), 'gateway': str(next(block.hosts()))}


def choose_block(pool: Block, prefix: int, taken: list[Block]) -> Block:
    """The first piece of a pool that overlaps with no block in use.

    :raises Conflict: there is none
    """
    for block in pool.subnets(new_prefix=prefix):
        if not any(block.version == other.version and block.overlaps(ty.cast(ty.Any, other))
                   for other in taken):
            return block
    raise exception.Conflict(f'There is no free block left in the address pool {pool}.')


@engine.retry
def remove(network_uuid: str) -> bool:
    """Give a block back; False when there was none.

    :raises Conflict: addresses of it are in use
    """
    used = sa.exists().where(_ADDRESS.c.network_uuid == _NETWORK.c.network_uuid)
    with engine.writer() as session:
        # Written first, so that nobody gets an address meanwhile.
        if rows.update(session, _NETWORK, {'network_uuid': network_uuid}, {}) is None:
            return False
        gone = session.execute(
            sa.delete(_NETWORK).where(_NETWORK.c.network_uuid == network_uuid, ~used))
        if not ty.cast('sa.CursorResult[ty.Any]', gone).rowcount:
            raise exception.Conflict(f'Addresses of network {network_uuid} are in use.')
        return True


@engine.retry
def allocate_address(network_uuid: str, container_uuid: str, wanted: str | None = None,
                     block: rows.Row | None = None) -> str:
    """An address for a container: the one it has, else the wanted one, else the lowest free one.

    :param block: of the network, which never changes; None: it is read
    :raises NetworkNotFound: the network has no block
    :raises InvalidValue: the wanted address is not one of the network's
    :raises Conflict: the wanted address is taken, or the network is full
    """
    try:
        with engine.writer() as session:
            # Allocations of one network queue behind this write.
            if rows.update(session, _NETWORK, {'network_uuid': network_uuid}, {}) is None:
                raise exception.NetworkNotFound(network=network_uuid)
            network = block or ty.cast(rows.Row, _row(session, network_uuid))
            taken = {row.address: row.container_uuid for row in session.execute(
                sa.select(_ADDRESS.c.address, _ADDRESS.c.container_uuid).where(
                    _ADDRESS.c.network_uuid == network_uuid))}
            address = choose_address(network['cidr'], network['gateway'], taken, container_uuid,
                                     wanted)
            if address not in taken:
                rows.insert(session, _ADDRESS, {
                    'network_uuid': network_uuid, 'address': address,
                    'container_uuid': container_uuid})
            return address
    except db_exc.DBDuplicateEntry as error:
        raise db_exc.RetryRequest(error) from error


def _host_of(block: Block, text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = block.network_address
    if address not in block or address in (block.network_address, block.broadcast_address):
        raise exception.InvalidValue(f'{text} is no address of the network {block}.')
    return str(address)


def choose_address(cidr: str, gateway: str, taken: dict[str, str], container_uuid: str,
                   wanted: str | None) -> str:
    """Which address a container gets.

    :param taken: address -> container
    :raises InvalidValue: the wanted address is not one of the network's
    :raises Conflict: the wanted address is taken, or the network is full
    """
    block = ipaddress.ip_network(cidr)
    if wanted:
        text = _host_of(block, wanted)
        if text == gateway or taken.get(text, container_uuid) != container_uuid:
            raise exception.Conflict(f'The address {wanted} is in use.')
        return text
    own = next((text for text, owner in taken.items() if owner == container_uuid), None)
    if own is not None:
        return own
    for candidate in block.hosts():
        if str(candidate) != gateway and str(candidate) not in taken:
            return str(candidate)
    raise exception.Conflict(f'The network {cidr} has no free address.')


def release(network_uuid: str | None, container_uuid: str) -> bool:
    """Give a container's address on a network back, or on all; False when it had none."""
    key = {'container_uuid': container_uuid}
    return rows.remove(
        _ADDRESS, key if network_uuid is None else {**key, 'network_uuid': network_uuid})


def holders(network_uuid: str) -> dict[str, str]:
    """The addresses of a network that are in use: address -> container uuid."""
    with engine.reader() as session:
        found = rows.every(session, sa.select(_ADDRESS).where(
            _ADDRESS.c.network_uuid == network_uuid))
    return {row['address']: row['container_uuid'] for row in found}


def addresses_of(container_uuid: str) -> dict[str, str]:
    """network uuid -> address, in the order in which they were allocated."""
    with engine.reader() as session:
        found = rows.every(session, sa.select(_ADDRESS).where(
            _ADDRESS.c.container_uuid == container_uuid).order_by(_ADDRESS.c.id))
    return {row['network_uuid']: row['address'] for row in found}


def ownerless(host: str) -> dict[str, str]:
    """The addresses on a host's networks whose container has no row: address -> container uuid."""
    network, container = models.network, models.container
    statement = sa.select(_ADDRESS.c.address, _ADDRESS.c.container_uuid).join(
        network, network.c.uuid == _ADDRESS.c.network_uuid).where(
        network.c.host == host,
        ~sa.exists().where(container.c.uuid == _ADDRESS.c.container_uuid))
    with engine.reader() as session:
        return dict(session.execute(statement).tuples().all())
