# SPDX-License-Identifier: Apache-2.0
"""Agents of many hosts in one process: zun-compute's own code on an engine in memory.

    nodes.py CONFIG-FILE FIRST LAST CPUS

Their containers have no networks: what a bridge or a port costs is not what is simulated.
"""

import dataclasses
import sys
import threading

import cloud

from zun import objects
from zun.common import config
from zun.common import context as zun_context
from zun.compute import node as compute_node
from zun.compute import service
from zun.container import driver as container_driver
from zun.network import driver as network_driver


class NoNetwork(network_driver.NetworkDriver):
    """Nothing to resolve, nothing to plug."""

    def resolve(self, context, nets):
        return []

    def claim(self, context, container_uuid, requested):
        pass

    def disclaim(self, context, container_uuid, requested):
        pass

    def resolve_security_groups(self, context, names, project_id):
        return []

    def plan(self, context, container, requested):
        return []

    def release(self, context, container_uuid, network_id=None):
        pass

    def held(self, context, container_uuid):
        return set()

    def attach(self, context, container, requested):
        raise NotImplementedError

    def detach(self, context, container, network_id):
        raise NotImplementedError

    def create_network(self, context, values):
        raise NotImplementedError

    def delete_network(self, context, neutron_net_id):
        raise NotImplementedError


def build(scheduler: compute_node.Scheduler, host: str) -> compute_node.Node:
    """A node whose engine runs already what the database says."""
    node = compute_node.build(scheduler, host)
    node.network = NoNetwork()
    node.engine.host = dataclasses.replace(
        node.engine.host, name=host, cpus=int(sys.argv[4]), memory=cloud.HOST_MEMORY,
        disk=cloud.HOST_DISK)
    for container in objects.Container.list_by_host(zun_context.get_admin_context(), host):
        if container.container_id:
            node.engine.create(container_driver.Workload(container, container.image))
            node.engine.start(container)
    return node


def main() -> None:
    config.parse_args(['--config-file', sys.argv[1]], program='zun-compute')
    config.setup_logging('zun-compute')
    agents = [service.ComputeService(host=host.name, build=build)
              for host in cloud.hosts(int(sys.argv[2]), int(sys.argv[3]))]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.ready.wait()
    print('ready', flush=True)
    threading.Event().wait()  # until it is killed


if __name__ == '__main__':
    main()
