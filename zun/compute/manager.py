# SPDX-License-Identifier: Apache-2.0
"""The verbs that other processes may ask of this node: the methods of ``zun.rpc.compute.Client``.

Casts are queued behind the earlier operations of their container; calls are answered here.
"""

import typing as ty

from oslo_log import log as logging
import oslo_messaging as messaging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
from zun.compute import operations
from zun.compute import streams
from zun.compute.tasks import archive
from zun.compute.tasks import exec as exec_tasks
from zun.compute.tasks import images
from zun.compute.tasks import networks
import zun.conf
from zun.container import streams as container_streams
from zun.rpc import compute as rpc_compute

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext


class Manager:
    """
    :param node: the host
    """

    target = messaging.Target(version=rpc_compute.VERSION)

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node

    def _submit(self, context: Context, container_uuid: str, name: str, **args: ty.Any) -> None:
        try:
            operations.submit(self._node, context, container_uuid, name, **args)
        except exception.PoolFull as error:
            LOG.warning('Container %s: %s stays in the database: %s', container_uuid, name,
                        error.message)

    def _own(self, context: Context, container_uuid: str) -> 'objects.Container':
        """
        :raises ContainerNotFound: it is not on this host
        """
        container = objects.Container.get_by_uuid(context.elevated(), container_uuid)
        if container.host != self._node.host:
            raise exception.ContainerNotFound(container=container_uuid)
        return container

    # Life cycle -------------------------------------------------------------------------------

    def container_create(self, context: Context, container_uuid: str, generation: int) -> None:
        self._submit(context, container_uuid, 'create', generation=generation)

    def container_delete(self, context: Context, container_uuid: str, force: bool,
                         stop: bool) -> None:
        self._submit(context, container_uuid, 'delete', force=force, stop=stop)

    def container_rebuild(self, context: Context, container_uuid: str, run: bool) -> None:
        self._submit(context, container_uuid, 'rebuild', run=run)

    def container_start(self, context: Context, container_uuid: str) -> None:
        self._submit(context, container_uuid, 'start')

    def container_stop(self, context: Context, container_uuid: str,
                       timeout: int | None) -> None:
        self._submit(context, container_uuid, 'stop', timeout=timeout)

    def container_reboot(self, context: Context, container_uuid: str,
                         timeout: int | None) -> None:
        self._submit(context, container_uuid, 'reboot', timeout=timeout)

    def container_pause(self, context: Context, container_uuid: str) -> None:
        self._submit(context, container_uuid, 'pause')

    def container_unpause(self, context: Context, container_uuid: str) -> None:
        self._submit(context, container_uuid, 'unpause')

    def container_kill(self, context: Context, container_uuid: str, signal: str | None) -> None:
        self._submit(context, container_uuid, 'kill', signal=signal)

    def resize_container(self, context: Context, container_uuid: str,
                         patch: dict[str, ty.Any]) -> None:
        self._submit(context, container_uuid, 'resize_container', patch=patch)

    def container_update(self, context: Context, container_uuid: str,
                         patch: dict[str, ty.Any]) -> None:
        operations.change(self._node, context, container_uuid, patch)

    # Networks ---------------------------------------------------------------------------------

    def add_security_group(self, context: Context, container_uuid: str,
                           security_group: str) -> None:
        self._submit(context, container_uuid, 'add_security_group',
                     security_group=security_group)

    def remove_security_group(self, context: Context, container_uuid: str,
                              security_group: str) -> None:
        self._submit(context, container_uuid, 'remove_security_group',
                     security_group=security_group)

    def network_attach(self, context: Context, container_uuid: str,
                       requested_network: dict[str, ty.Any]) -> None:
        self._submit(context, container_uuid, 'network_attach',
                     requested_network=requested_network)

    def network_detach(self, context: Context, container_uuid: str, network: str) -> None:
        self._submit(context, container_uuid, 'network_detach', network=network)

    def network_create(self, context: Context, neutron_net_id: str) -> dict[str, ty.Any]:
        return networks.create(self._node, context, neutron_net_id)

    def network_delete(self, context: Context, neutron_net_id: str) -> None:
        networks.remove(self._node, context, neutron_net_id)

    # Looking into a container -------------------------------------------------------------------

    def container_logs(self, context: Context, container_uuid: str, stdout: bool, stderr: bool,
                       timestamps: bool, tail: int | None,
                       since: str | None) -> str | dict[str, ty.Any]:
        return exec_tasks.logs(self._node, self._own(context, container_uuid), stdout, stderr,
                               timestamps, tail, since)

    def container_follow_logs(self, context: Context, container_uuid: str, stdout: bool,
                              stderr: bool, timestamps: bool, tail: int | None,
                              since: str | None) -> str:
        window = container_streams.LogWindow(stdout, stderr, timestamps, tail, since)
        return streams.prepare_logs(self._node, context, self._own(context, container_uuid),
                                    window)

    def container_exec(self, context: Context, container_uuid: str, command: str, run: bool,
                       interactive: bool) -> dict[str, ty.Any]:
        return exec_tasks.execute(self._node, context, self._own(context, container_uuid),
                                  command, run, interactive)

    def container_exec_resize(self, context: Context, container_uuid: str, exec_id: str,
                              height: int, width: int) -> None:
        streams.resize_exec(self._node, self._own(context, container_uuid), exec_id, height,
                               width)

    def container_attach(self, context: Context, container_uuid: str) -> str:
        return streams.prepare_attach(self._node, context, self._own(context, container_uuid))

    def container_resize(self, context: Context, container_uuid: str, height: int,
                         width: int) -> None:
        streams.resize_tty(self._node, self._own(context, container_uuid), height, width)

    def container_top(self, context: Context, container_uuid: str,
                      ps_args: str | None) -> dict[str, ty.Any]:
        return exec_tasks.top(self._node, self._own(context, container_uuid), ps_args)

    def container_stats(self, context: Context, container_uuid: str) -> dict[str, ty.Any]:
        return exec_tasks.stats(self._node, self._own(context, container_uuid))

    def container_get_archive(self, context: Context, container_uuid: str,
                              path: str) -> dict[str, ty.Any]:
        return archive.get(self._node, self._own(context, container_uuid), path)

    def container_put_archive(self, context: Context, container_uuid: str, path: str,
                              data: str, parcel: str | None = None) -> None:
        archive.put(self._node, self._own(context, container_uuid), path, data, parcel)

    def parcel_get(self, context: Context, container_uuid: str,
                   parcel: str) -> dict[str, ty.Any]:
        return self._node.parcels.resume(container_uuid, parcel)

    def parcel_put(self, context: Context, container_uuid: str, parcel: str | None,
                   data: str) -> str:
        self._own(context, container_uuid)
        return self._node.parcels.receive(container_uuid, parcel, data,
                                          CONF.docker.max_archive_bytes)

    def container_commit(self, context: Context, container_uuid: str, repository: str,
                         tag: str | None, image_uuid: str) -> None:
        self._own(context, container_uuid)
        self._submit(context, container_uuid, 'commit', repository=repository, tag=tag,
                     image_uuid=image_uuid)

    # Images -----------------------------------------------------------------------------------

    def image_pull(self, context: Context, image_uuid: str) -> None:
        images.pull(self._node, context, image_uuid)

    def image_delete(self, context: Context, image_uuid: str) -> None:
        images.delete(self._node, context, image_uuid)

    def image_search(self, context: Context, image: str, image_driver: str,
                     exact_match: bool) -> list[dict[str, ty.Any]]:
        return images.search(self._node, context, image, image_driver, exact_match)
