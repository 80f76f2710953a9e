# SPDX-License-Identifier: Apache-2.0
"""The NUMA nodes of this host, from sysfs."""

import pathlib
import re

from zun import objects

SYSFS = pathlib.Path('/sys/devices/system/node')
_NODE = re.compile(r'node(\d+)')
_MEMORY = re.compile(r'\b(MemTotal|MemFree):\s+(\d+) kB')


def cpu_list(text: str) -> set[int]:
    """The CPUs of a list of numbers and ranges.

    >>> sorted(cpu_list('0-2,5'))
    [0, 1, 2, 5]
    """
    found: set[int] = set()
    for part in filter(None, text.strip().split(',')):
        first, _, last = part.partition('-')
        found.update(range(int(first), int(last or first) + 1))
    return found


def topology(root: pathlib.Path = SYSFS) -> 'objects.NUMATopology':
    """Nodes with their CPUs and memory in MiB; one that cannot be read is left out."""
    nodes = []
    for directory in sorted(root.glob('node[0-9]*')):
        named = _NODE.fullmatch(directory.name)
        try:
            cpus = cpu_list((directory / 'cpulist').read_text())
            memory = dict(_MEMORY.findall((directory / 'meminfo').read_text()))
        except (OSError, ValueError):
            continue
        if named:
            nodes.append(objects.NUMANode(
                id=int(named.group(1)), cpuset=cpus, pinned_cpus=set(),
                mem_total=int(memory.get('MemTotal', 0)) // 1024,
                mem_available=int(memory.get('MemFree', 0)) // 1024))
    return objects.NUMATopology(nodes=nodes)
