# SPDX-License-Identifier: Apache-2.0
"""How compute nodes are shown."""

import typing as ty

from zun import objects
from zun.api.views import links

COLLECTION = 'hosts'
FIELDS = ('uuid', 'hostname', 'mem_total', 'mem_used', 'total_containers', 'cpus', 'cpu_used',
          'architecture', 'os_type', 'os', 'kernel_version', 'disk_total', 'disk_used',
          'disk_quota_supported', 'enable_cpu_pinning', 'labels', 'runtimes')


def show(node: 'objects.ComputeNode', host_url: str) -> dict[str, ty.Any]:
    """One host; memory in MiB, disk in GiB."""
    return {**{name: getattr(node, name) for name in FIELDS},
            'labels': node.labels or {}, 'runtimes': node.runtimes or [],
            'links': links.of(host_url, COLLECTION, node.uuid)}
