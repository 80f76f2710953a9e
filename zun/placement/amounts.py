# SPDX-License-Identifier: Apache-2.0
"""What a container takes from the ledger; scheduler, resize and audit have to agree on it."""

import math

from zun import objects
from zun.common import units
import zun.conf
from zun.placement import ledger

CONF = zun.conf.CONF


def of(cpu: float | None, memory: str | int | None, disk: int | None) -> ledger.Resources:
    """Amounts of one container or capsule, at least one of each class.

    :param cpu: vCPU; unset or 0: ``default_cpu``
    :param memory: MiB, as text; unset: ``default_memory``
    :param disk: GiB; unset or 0: none is asked for
    """
    mib = CONF.default_memory if memory in (None, '') else units.memory_mib(memory)
    resources = {ledger.VCPU: max(1, math.ceil(cpu or CONF.default_cpu)),
                 ledger.MEMORY_MB: max(1, mib)}
    if disk:
        resources[ledger.DISK_GB] = disk
    return resources


def of_container(container: 'objects.ContainerBase') -> ledger.Resources:
    """Amounts of a row. A capsule's row has the sum of its members, and never takes disk."""
    return of(container.cpu, container.memory, container.disk)
