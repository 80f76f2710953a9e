# SPDX-License-Identifier: Apache-2.0
"""What a host offers in the ledger, as the options of [compute] say; node and scheduler agree."""

import math

import zun.conf
from zun.placement import ledger

CONF = zun.conf.CONF

_MIB_PER_GIB = 1024


def of_host(cpus: int, memory: int, disk: int) -> dict[str, ledger.Inventory]:
    """Inventory of each resource class.

    :param memory: MiB
    :param disk: GiB that containers may have; 0: disk is not offered
    """
    options = CONF.compute
    offered = {
        ledger.VCPU: ledger.Inventory(
            cpus, min(options.reserved_host_cpus, cpus),
            options.cpu_allocation_ratio or options.initial_cpu_allocation_ratio),
        ledger.MEMORY_MB: ledger.Inventory(
            memory, min(options.reserved_host_memory_mb, memory),
            options.ram_allocation_ratio or options.initial_ram_allocation_ratio)}
    if disk:
        reserved = math.ceil(options.reserved_host_disk_mb / _MIB_PER_GIB)
        offered[ledger.DISK_GB] = ledger.Inventory(
            disk, min(reserved, disk),
            options.disk_allocation_ratio or options.initial_disk_allocation_ratio)
    return offered
