# SPDX-License-Identifier: Apache-2.0
"""Who has which device: decisions on rows of pci_device, without any I/O.

A physical function and its virtual ones exclude each other. Who holds a device is told by its
container's row: claimed while that is being created, allocated from then on, free when it has left
the host.
"""

import collections
import collections.abc
import typing as ty

from zun.common import exception
from zun.common import states
from zun.pci import sysfs
from zun.pci import whitelist

AVAILABLE, CLAIMED, ALLOCATED = 'available', 'claimed', 'allocated'
#: What becomes of the relatives of a device that is held.
_RELATIVES = {CLAIMED: 'unclaimable', ALLOCATED: 'unavailable'}

Row = dict[str, ty.Any]
#: count, spec (any of these), request_id
Request = collections.abc.Mapping[str, ty.Any]


def settle(devices: list[Row], holders: collections.abc.Mapping[str, str | None]) -> None:
    """Bring the status of all devices of a host up to date.

    :param holders: container uuid -> status, of the containers on the host
    """
    for device in devices:
        holder = device['container_uuid']
        if holder not in holders:
            device.update(container_uuid=None, request_id=None, status=AVAILABLE)
        else:
            creating = holders[holder] == states.CREATING
            device['status'] = CLAIMED if creating else ALLOCATED
    _settle_relatives(devices)


def _settle_relatives(devices: list[Row]) -> None:
    held: dict[str, set[str]] = collections.defaultdict(set)
    for device in devices:
        if device['container_uuid']:
            for address in (device['parent_addr'], device['address']):
                held[address].add(device['status'])
    own = {device['address'] for device in devices if device['container_uuid']}
    for device in devices:
        if device['container_uuid']:
            continue
        physical = device['dev_type'] == sysfs.PHYSICAL
        parent = device['parent_addr']
        near = held[device['address']] if physical else (held[parent] if parent in own else set())
        worst = ALLOCATED if ALLOCATED in near else CLAIMED
        device['status'] = _RELATIVES[worst] if near else AVAILABLE


def take(devices: list[Row], container_uuid: str,
         requests: collections.abc.Iterable[Request]) -> None:
    """Claim what a container asks for; what it has for a request already stays.

    A physical function is taken only when one is asked for.

    :raises ResourcesUnavailable: there are too few
    """
    for request in requests:
        own = [device for device in devices if device['container_uuid'] == container_uuid
               and device['request_id'] == request.get('request_id')]
        for _ in range(int(request['count']) - len(own)):
            device = next((each for each in devices if _suits(each, request)), None)
            if device is None:
                raise exception.ResourcesUnavailable(reason='too few PCI devices are free')
            device.update(container_uuid=container_uuid, status=CLAIMED,
                          request_id=request.get('request_id'))
            _settle_relatives(devices)


def _suits(device: Row, request: Request) -> bool:
    specs = list(request.get('spec') or ()) or [{}]
    if device['dev_type'] == sysfs.PHYSICAL:
        specs = [spec for spec in specs if spec.get('dev_type') == sysfs.PHYSICAL]
    return device['status'] == AVAILABLE and whitelist.matches(_properties(device), specs)


def _properties(device: Row) -> Row:
    return {**device, **(device['extra_info'] or {})}


def pools(devices: collections.abc.Iterable[Row]) -> list[dict[str, ty.Any]]:
    """The free devices that are alike, with their number, as a scheduler sees them."""
    found: dict[tuple[ty.Any, ...], dict[str, ty.Any]] = {}
    for device in devices:
        if device['status'] != AVAILABLE:
            continue
        tags = {**(device['extra_info'] or {}), 'dev_type': device['dev_type']}
        kind = {name: device[name] for name in ('vendor_id', 'product_id', 'numa_node')}
        key = (*kind.values(), *sorted(tags.items()))
        found.setdefault(key, {**kind, 'tags': tags, 'count': 0})['count'] += 1
    return list(found.values())
