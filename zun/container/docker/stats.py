# SPDX-License-Identifier: Apache-2.0
"""Use of resources, from the two samples that the engine takes."""

import typing as ty

from zun.common import exception
from zun.common import units


def sample(name: str, stats: dict[str, ty.Any]) -> dict[str, ty.Any]:
    """The answer of the API, with the names its clients know.

    CPU is the share of one CPU used between the samples: 200 for two busy CPUs. Memory leaves out
    file cache that can be dropped.

    :param name: of the container, as users know it
    :param stats: answer of the engine's stats
    :raises Conflict: the container does not run, so that nothing was measured
    """
    memory = stats.get('memory_stats') or {}
    if 'usage' not in memory:
        raise exception.Conflict(f'Container {name} is not running.')
    used, limit = memory_used(stats), memory.get('limit', 0)
    return {
        'CONTAINER': name,
        'CPU %': _cpu_percent(stats),
        'MEM USAGE(MiB)': used / units.MIB,
        'MEM LIMIT(MiB)': limit / units.MIB,
        'MEM %': used / limit * 100 if limit else 0.0,
        'BLOCK I/O(B)': _block_io(stats.get('blkio_stats') or {}),
        'NET I/O(B)': _net_io(stats.get('networks') or {}),
    }


def memory_used(stats: dict[str, ty.Any]) -> int:
    """Bytes of memory in use; 0 when it does not run.

    The cache is called total_inactive_file on cgroup v1 and inactive_file on v2.
    """
    memory = stats.get('memory_stats') or {}
    details = memory.get('stats') or {}
    cache = details.get('total_inactive_file', details.get('inactive_file', 0))
    return max(memory.get('usage', 0) - cache, 0)


def _cpu_percent(stats: dict[str, ty.Any]) -> float:
    now, before = stats.get('cpu_stats') or {}, stats.get('precpu_stats') or {}
    if not before.get('system_cpu_usage'):
        return 0.0
    total = now['cpu_usage']['total_usage'] - before['cpu_usage']['total_usage']
    system = now.get('system_cpu_usage', 0) - before['system_cpu_usage']
    if total <= 0 or system <= 0:
        return 0.0
    cpus = now.get('online_cpus') or len(now['cpu_usage'].get('percpu_usage') or ()) or 1
    return total / system * cpus * 100


def _block_io(blkio: dict[str, ty.Any]) -> str:
    sums = {'read': 0, 'write': 0}
    for entry in blkio.get('io_service_bytes_recursive') or ():
        direction = entry['op'].lower()
        if direction in sums:
            sums[direction] += entry['value']
    return f"{sums['read']}/{sums['write']}"


def _net_io(networks: dict[str, ty.Any]) -> str:
    received = sum(interface['rx_bytes'] for interface in networks.values())
    sent = sum(interface['tx_bytes'] for interface in networks.values())
    return f'{received}/{sent}'
