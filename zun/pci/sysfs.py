# SPDX-License-Identifier: Apache-2.0
"""The PCI devices of this host, from sysfs alone."""

import os
import pathlib
import typing as ty

ROOT = pathlib.Path('/sys/bus/pci/devices')
PLAIN, PHYSICAL, VIRTUAL = 'PCI', 'PF', 'VF'


def devices(root: pathlib.Path = ROOT) -> list[dict[str, ty.Any]]:
    """Columns of pci_device, and name and parent_name of network interfaces, by address.

    A device that vanishes meanwhile is left out.
    """
    found = []
    for path in sorted(root.glob('*')):
        try:
            found.append(_device(path))
        except (OSError, ValueError):
            continue
    return found


def _device(path: pathlib.Path) -> dict[str, ty.Any]:
    vendor, product = (f"{int((path / name).read_text(), 16):04x}"
                       for name in ('vendor', 'device'))
    parent = os.path.basename(os.readlink(path / 'physfn')) if (path / 'physfn').exists() else None
    numa = _number(path / 'numa_node', -1)
    return {
        'address': path.name, 'vendor_id': vendor, 'product_id': product,
        'dev_type': _kind(path, parent), 'parent_addr': parent,
        'dev_id': 'pci_' + path.name.replace(':', '_').replace('.', '_'),
        'label': f'label_{vendor}_{product}', 'numa_node': None if numa < 0 else numa,
        'name': _interface(path), 'parent_name': _interface(path / 'physfn') if parent else None}


def _kind(path: pathlib.Path, parent: str | None) -> str:
    if parent:
        return VIRTUAL
    return PHYSICAL if _number(path / 'sriov_totalvfs', 0) > 0 else PLAIN


def _number(path: pathlib.Path, otherwise: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return otherwise


def _interface(path: pathlib.Path) -> str | None:
    return next((entry.name for entry in sorted((path / 'net').glob('*'))), None)
