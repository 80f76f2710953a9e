# SPDX-License-Identifier: Apache-2.0
import typing as ty

from zun.objects import pci
from zun.scheduler import host_state
from zun.scheduler import request


class PciPassthroughFilter:
    """The host's pools of devices satisfy every PCI request."""

    def host_passes(self, host: host_state.HostState, wanted: request.Request) -> bool:
        left = _pools(host.pci_stats) if wanted.pci else []
        return all(_taken(left, item) for item in wanted.pci)


def _pools(stored: ty.Any) -> list[dict[str, ty.Any]]:
    """Pools with their tags beside their other members."""
    found = pci.PciDevicePoolList.from_column(stored)
    if found is None:
        return []
    return [{**pool.tags, 'vendor_id': pool.vendor_id, 'product_id': pool.product_id,
             'numa_node': pool.numa_node, 'count': pool.count} for pool in found.objects]


def _taken(left: list[dict[str, ty.Any]], item: request.PciRequest) -> bool:
    """Take the devices of one request out of the pools, if there are enough."""
    missing = item.count
    for pool in left:
        if any(_matches(pool, spec) for spec in item.specs or ({},)):
            taken = min(missing, pool['count'])
            pool['count'] -= taken
            missing -= taken
    return not missing


def _matches(pool: dict[str, ty.Any], spec: dict[str, str]) -> bool:
    if _is_physical(pool.get('dev_type')) and not _is_physical(spec.get('dev_type')):
        return False  # a physical function is taken only when asked for
    return all(str(pool.get(key)) == str(value) for key, value in spec.items())


def _is_physical(dev_type: str | None) -> bool:
    return (dev_type or '').endswith('PF')
