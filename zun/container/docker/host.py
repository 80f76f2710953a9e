# SPDX-License-Identifier: Apache-2.0
"""What the engine's ``info`` says of its host."""

import dataclasses
import os
import typing as ty

from zun.common import units
from zun.container import driver

#: Runtimes registered by Zun to hand over a network namespace; users see the one behind.
RUNTIME_PREFIX = 'zun-'


@dataclasses.dataclass(frozen=True)
class Limits:
    """What bounds the limits of a container."""

    cpus: int
    disk_quota: bool
    cgroup2: bool


def limits(info: dict[str, ty.Any], disk_quota: bool) -> Limits:
    return Limits(cpus=info.get('NCPU', 0), disk_quota=disk_quota,
                  cgroup2=info.get('CgroupVersion') == '2')


def describe(info: dict[str, ty.Any], disk_quota: bool) -> driver.HostInfo:
    """``info`` in our terms, with the size of the disk that holds the engine's data."""
    return driver.HostInfo(
        name=info.get('Name', ''), cpus=info['NCPU'],
        memory=info.get('MemTotal', 0) // units.MIB, disk=_disk_gib(info.get('DockerRootDir', '')),
        total_containers=info['Containers'], running_containers=info['ContainersRunning'],
        paused_containers=info['ContainersPaused'], stopped_containers=info['ContainersStopped'],
        architecture=info['Architecture'], os_type=info['OSType'], os=info['OperatingSystem'],
        kernel_version=info['KernelVersion'], labels=_labels(info.get('Labels')),
        runtimes=tuple(name for name in info.get('Runtimes') or ('runc',)
                       if not name.startswith(RUNTIME_PREFIX)),
        disk_quota_supported=disk_quota)


def _labels(pairs: list[str] | None) -> dict[str, str]:
    """Split once: a value may hold ``=``, a label may have none."""
    parted = (pair.partition('=') for pair in pairs or ())
    return {key: value for key, _, value in parted}


def disk_use(info: dict[str, ty.Any]) -> float | None:
    """Percentage of use of the disk that holds the engine's data; None: it is not this machine's.

    What only root may use counts as used.
    """
    try:
        state = os.statvfs(info.get('DockerRootDir', ''))
    except OSError:
        return None
    return 100.0 * (state.f_blocks - state.f_bavail) / state.f_blocks if state.f_blocks else None


def _disk_gib(root: str) -> int:
    """0 when the engine's disk is not this machine's."""
    try:
        state = os.statvfs(root)
    except OSError:
        return 0
    return state.f_frsize * state.f_blocks // units.GIB
