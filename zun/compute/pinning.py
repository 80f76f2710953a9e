# SPDX-License-Identifier: Apache-2.0
"""CPUs of their own for dedicated containers, and what is left for all others.

Who has which CPU is told by the rows of containers alone. At least one CPU of a host is never
pinned.
"""

import collections.abc
import contextlib
import math

from oslo_log import log as logging
from sqlalchemy import orm

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
from zun.compute import numa
from zun.compute import task
import zun.conf
from zun.db import pins

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)


def floating(every: collections.abc.Collection[int], configured: str) -> set[int]:
    """The CPUs that are never pinned: those of ``floating_cpu_set``, else the first one.

    >>> floating({0, 1, 2}, ''), floating({0, 1, 2}, '1-2')
    ({0}, {1, 2})
    """
    return numa.cpu_list(configured) if configured else set(sorted(every)[:1])


def topology(taken: collections.abc.Collection[int],
             whole: 'objects.NUMATopology') -> 'objects.NUMATopology':
    """The NUMA nodes with the CPUs that can be pinned, and those that are.

    :param taken: by containers of this host
    """
    never = floating(_cpus(whole), CONF.floating_cpu_set)
    return objects.NUMATopology(nodes=[objects.NUMANode(
        id=node.id, cpuset=node.cpuset - never, pinned_cpus=(node.cpuset - never) & set(taken),
        mem_total=node.mem_total, mem_available=node.mem_available) for node in whole.nodes])


def _cpus(whole: 'objects.NUMATopology') -> set[int]:
    return {cpu for node in whole.nodes for cpu in node.cpuset}


def choose(nodes: 'objects.NUMATopology', count: int, memory: int) -> 'objects.Cpuset':
    """CPUs of one NUMA node: of that with the fewest free ones among those that suffice.

    :param memory: MiB that the node must have available
    :raises ResourcesUnavailable: none has that much
    """
    fitting = [node for node in nodes.nodes if len(node.free_cpus) >= count
               and (node.mem_available is None or node.mem_available >= memory)]
    if not fitting:
        raise exception.ResourcesUnavailable(
            reason=f'no NUMA node of the host has {count} free CPUs and {memory} MiB of memory')
    node = min(fitting, key=lambda each: (len(each.free_cpus), each.id))
    return objects.Cpuset(cpuset_cpus=set(sorted(node.free_cpus)[:count]),
                          cpuset_mems={node.id})


def pin(job: task.Job, session: orm.Session) -> None:
    """Give a dedicated container its CPUs, in the transaction of its claim.

    :raises ResourcesUnavailable: the host has none to give
    """
    container = job.container
    if not CONF.compute.enable_cpu_pinning:
        raise exception.ResourcesUnavailable(reason='the host does not pin CPUs')
    if job.request.claimed and container.cpuset and container.cpuset.cpuset_cpus:
        return
    taken = pins.held(session, job.node.host, besides=job.uuid)
    memory = int(float(container.memory or 0))
    container.cpuset = choose(topology(taken, numa.topology()), math.ceil(container.cpu or 1),
                              memory)
    pins.store(session, job.uuid, container.cpuset.cpuset_cpus, container.cpuset.cpuset_mems)


def shared(node: compute_node.Node, container: 'objects.ContainerBase') -> frozenset[int]:
    """The CPUs for a container without its own; empty: all of them."""
    if not CONF.compute.enable_cpu_pinning or container.cpu_policy == pins.DEDICATED:
        return frozenset()
    return frozenset(_cpus(numa.topology()) - pins.on_host(node.host))


def confine(node: compute_node.Node) -> None:
    """Keep the containers that share CPUs off the pinned ones, where those have changed."""
    if not CONF.compute.enable_cpu_pinning:
        return
    taken = frozenset(pins.on_host(node.host))
    if taken == node.pinned:
        return
    left = _cpus(numa.topology()) - taken
    for container in objects.Container.list_any_by_host(
            zun_context.get_admin_context(), node.host):
        if container.cpu_policy != pins.DEDICATED and container.container_id:
            with contextlib.suppress(exception.EngineGone, exception.Conflict):
                node.engine.confine(container.uuid, left)
    LOG.info('CPUs %s are pinned; all other containers share %s', sorted(taken), sorted(left))
    node.pinned = taken
