# SPDX-License-Identifier: Apache-2.0
"""Bridge networks of the engine."""

import json
import time
import typing as ty

from zun.common import exception
from zun.common import pools
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import spec
from zun.network import driver as network_driver

_BRIDGE = 'com.docker.network.bridge'
_TRIES = 6


def create(engine: client.Client, network: network_driver.EngineNetwork) -> str:
    """Make a network, or find the one of that name; its id.

    :raises AddressBlockInUse: another network has addresses of the block
    :raises Conflict: there is one of that name with other addresses
    """
    found = _find(engine, network.name) or _make(engine, network)
    if network.cidr not in {block.get('Subnet') for block in found['IPAM']['Config'] or ()}:
        raise exception.Conflict(
            f'The container engine has a network {network.name} with other addresses.')
    return found['Id']


def _make(engine: client.Client, network: network_driver.EngineNetwork) -> dict[str, ty.Any]:
    """Its record. Who loses a race is told of an overlap of addresses before the winner shows."""
    for attempt in range(_TRIES):
        try:
            engine.request('POST', '/networks/create', json=_body(network))
            refused = None
        except errors.Refusal as refusal:
            if refusal.status not in (403, 409):
                raise
            refused = refusal
        found = _find(engine, network.name)
        if found is not None:
            return found
        time.sleep(pools.backoff(attempt, 0.05, 0.5))
    if refused and refused.block_in_use:
        raise exception.AddressBlockInUse(cidr=network.cidr) from refused
    raise refused or exception.Conflict(f'Network {network.name} was removed by somebody else.')


def _find(engine: client.Client, name: str) -> dict[str, ty.Any] | None:
    """By the listing, which leaves out the containers of each: there may be many."""
    listing = engine.request('GET', '/networks', params={
        'filters': json.dumps({'name': [name]})}).json()
    return next((found for found in listing if found['Name'] == name), None)


def blocks(engine: client.Client) -> list[str]:
    """Address blocks of every network, as CIDRs."""
    return [block['Subnet'] for network in engine.request('GET', '/networks').json()
            for block in network['IPAM']['Config'] or () if block.get('Subnet')]


def _body(network: network_driver.EngineNetwork) -> dict[str, ty.Any]:
    return {
        'Name': network.name, 'CheckDuplicate': True, 'Driver': 'bridge',
        'EnableIPv6': ':' in network.cidr,
        'IPAM': {'Driver': 'default',
                 'Config': [{'Subnet': network.cidr, 'Gateway': network.gateway}]},
        'Options': {f'{_BRIDGE}.name': network.bridge,
                    f'{_BRIDGE}.enable_ip_masquerade': 'true',
                    f'{_BRIDGE}.enable_icc': 'false' if network.isolated else 'true',
                    'com.docker.network.driver.mtu': str(network.mtu)},
        'Labels': network.labels,
    }


def remove(engine: client.Client, name: str) -> None:
    """One that is not there is success.

    :raises Refusal: a container is attached
    """
    engine.remove(f'/networks/{client.quote(name)}')


def connect(engine: client.Client, name: str, attachment: network_driver.Attachment) -> None:
    """A container that is connected already is success.

    :raises NotFound: there is no such network; of a container that does not run the engine would
        take any name
    """
    network = str(attachment.engine_network)
    if _find(engine, network) is None:
        raise exception.NotFound(f'network {network} not found')
    try:
        engine.request('POST', f'/networks/{client.quote(network)}/connect', json={
            'Container': name,
            'EndpointConfig': spec.endpoint(attachment, engine.engine().api)})
    except errors.Refusal as refusal:
        if refusal.status != 403 or 'already exists in network' not in refusal.message:
            raise


def disconnect(engine: client.Client, name: str, network: str) -> None:
    """One that is not connected, and a network or container that is gone, is success."""
    try:
        engine.request('POST', f'/networks/{client.quote(network)}/disconnect',
                       json={'Container': name, 'Force': True})
    except errors.Refusal as refusal:
        if refusal.status != 404 and 'is not connected to' not in refusal.message:
            raise
