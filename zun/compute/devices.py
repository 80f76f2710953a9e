# SPDX-License-Identifier: Apache-2.0
"""The PCI devices of this host in the database: found, claimed, and counted for the scheduler."""

import typing as ty

from sqlalchemy import orm

from zun import objects
from zun.common import context as zun_context
from zun.compute import task
from zun.db import engine
from zun.db import pci_devices
from zun.pci import books
from zun.pci import requests
from zun.pci import sysfs
from zun.pci import whitelist

_FOUND = ('vendor_id', 'product_id', 'dev_type', 'parent_addr', 'dev_id', 'label', 'numa_node',
          'extra_info')


def wanted(job: task.Job) -> list[dict[str, ty.Any]]:
    """The devices that a container asks for."""
    return requests.stored(job.request.pci_requests)


def claim(job: task.Job, session: orm.Session) -> None:
    """Take the devices of a container, in the transaction of its claim.

    :raises ResourcesUnavailable: there are too few
    """
    node = objects.ComputeNode.get_by_name(zun_context.get_admin_context(), job.node.host)
    devices = pci_devices.on_node(session, node.uuid)
    before = [dict(device) for device in devices]
    books.settle(devices, pci_devices.holders(session, job.node.host))
    books.take(devices, job.uuid, wanted(job))
    pci_devices.write_changes(session, before, devices)


def refresh(node_uuid: str, host: str) -> 'objects.PciDevicePoolList | None':
    """Bring the rows of a host's devices up to date; the pools of free ones.

    :returns: None: no device of this host is for containers
    :raises PciConfigInvalidWhitelist: and the other errors of the whitelist
    """
    specs = whitelist.load()
    found = _assignable(specs) if specs else []
    pools = _refresh(node_uuid, host, found)
    if not pools:
        return None
    return objects.PciDevicePoolList(
        objects=[objects.PciDevicePool.from_dict(pool) for pool in pools])


def _assignable(specs: list[whitelist.Spec]) -> list[dict[str, ty.Any]]:
    chosen = []
    for device in sysfs.devices():
        spec = next((each for each in specs if each.match(device)), None)
        if spec is not None:
            chosen.append({**device, 'extra_info': spec.tags})
    return chosen


@engine.retry
def _refresh(node_uuid: str, host: str, found: list[dict[str, ty.Any]]) -> list[dict[str, ty.Any]]:
    with engine.writer() as session:
        devices = pci_devices.on_node(session, node_uuid)
        if not devices and not found:
            return []
        before = [dict(device) for device in devices]
        books.settle(devices, pci_devices.holders(session, host))
        here = {device['address']: {name: device[name] for name in _FOUND} for device in found}
        left = [device for device in devices
                if device['address'] in here or device['container_uuid']]
        for device in left:
            device.update(here.pop(device['address'], {}))
        pci_devices.write_changes(session, before, left)
        kept = {device['id'] for device in left}
        pci_devices.forget(session, [d['id'] for d in devices if d['id'] not in kept])
        for address, values in here.items():
            pci_devices.add(session, node_uuid, address, {**values, 'status': books.AVAILABLE})
        now = pci_devices.on_node(session, node_uuid)
        settled = [dict(device) for device in now]
        books.settle(settled, pci_devices.holders(session, host))
        pci_devices.write_changes(session, now, settled)
        return books.pools(settled)
