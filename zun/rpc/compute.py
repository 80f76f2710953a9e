# SPDX-License-Identifier: Apache-2.0
"""Client of zun-compute: one method per verb of a node.

Messages carry the uuid; the node reads the row. Casts return at once, calls wait at most
``[DEFAULT]/rpc_response_timeout`` seconds. Every method raises what the node raised, as the local
class, NodeTimeout when it does not answer, BusUnavailable when the message cannot be sent.
"""

import collections.abc
import functools
import typing as ty

import oslo_messaging as messaging

from zun.common import context as zun_context
import zun.conf
from zun.rpc import errors
from zun.rpc import parcels
from zun.rpc import transport as rpc_transport

CONF = zun.conf.CONF
VERSION = '2.0'

Context = zun_context.RequestContext


class Client:
    def __init__(self, transport: messaging.Transport | None = None) -> None:
        self._client = rpc_transport.Client(CONF.compute.topic, VERSION, transport)

    def _cast(self, context: Context, host: str, method: str, **args: ty.Any) -> None:
        with errors.translated():
            self._client.cast(context, method, args, server=host)

    def _call(self, context: Context, host: str | None, method: str,
              _extra_time: float = 0, **args: ty.Any) -> ty.Any:
        timeout = CONF.rpc_response_timeout + _extra_time if _extra_time else None
        with errors.translated():
            return self._client.call(context, method, args, server=host, timeout=timeout)

    # Life cycle -------------------------------------------------------------------------------

    def container_create(self, context: Context, host: str, container_uuid: str,
                         generation: int) -> None:
        self._cast(context, host, 'container_create', container_uuid=container_uuid,
                   generation=generation)

    def container_delete(self, context: Context, host: str, container_uuid: str,
                         force: bool, stop: bool) -> None:
        """
        :param stop: stop it first, with 10 seconds to end by itself
        """
        self._cast(context, host, 'container_delete', container_uuid=container_uuid,
                   force=force, stop=stop)

    def container_rebuild(self, context: Context, host: str, container_uuid: str,
                          run: bool) -> None:
        self._cast(context, host, 'container_rebuild', container_uuid=container_uuid, run=run)

    def container_start(self, context: Context, host: str, container_uuid: str) -> None:
        self._cast(context, host, 'container_start', container_uuid=container_uuid)

    def container_stop(self, context: Context, host: str, container_uuid: str,
                       timeout: int | None) -> None:
        """
        :param timeout: seconds to end by itself; None: the image's own, else 10
        """
        self._cast(context, host, 'container_stop', container_uuid=container_uuid,
                   timeout=timeout)

    def container_reboot(self, context: Context, host: str, container_uuid: str,
                         timeout: int | None) -> None:
        self._cast(context, host, 'container_reboot', container_uuid=container_uuid,
                   timeout=timeout)

    def container_pause(self, context: Context, host: str, container_uuid: str) -> None:
        self._cast(context, host, 'container_pause', container_uuid=container_uuid)

    def container_unpause(self, context: Context, host: str, container_uuid: str) -> None:
        self._cast(context, host, 'container_unpause', container_uuid=container_uuid)

    def container_kill(self, context: Context, host: str, container_uuid: str,
                       signal: str | None) -> None:
        self._cast(context, host, 'container_kill', container_uuid=container_uuid, signal=signal)

    def resize_container(self, context: Context, host: str, container_uuid: str,
                         patch: dict[str, ty.Any]) -> None:
        self._cast(context, host, 'resize_container', container_uuid=container_uuid, patch=patch)

    def container_update(self, context: Context, host: str, container_uuid: str,
                         patch: dict[str, ty.Any]) -> None:
        """Call: change cpu (vCPU), memory (MiB as text), name, auto_heal; the node saves the row.

        :raises ResourcesUnavailable: the host has no room for the difference
        """
        self._call(context, host, 'container_update', container_uuid=container_uuid, patch=patch)

    # Networks ---------------------------------------------------------------------------------

    def add_security_group(self, context: Context, host: str, container_uuid: str,
                           security_group: str) -> None:
        self._cast(context, host, 'add_security_group', container_uuid=container_uuid,
                   security_group=security_group)

    def remove_security_group(self, context: Context, host: str, container_uuid: str,
                              security_group: str) -> None:
        self._cast(context, host, 'remove_security_group', container_uuid=container_uuid,
                   security_group=security_group)

    def network_attach(self, context: Context, host: str, container_uuid: str,
                       requested_network: dict[str, ty.Any]) -> None:
        self._cast(context, host, 'network_attach', container_uuid=container_uuid,
                   requested_network=requested_network)

    def network_detach(self, context: Context, host: str, container_uuid: str,
                       network: str) -> None:
        self._cast(context, host, 'network_detach', container_uuid=container_uuid,
                   network=network)

    def network_create(self, context: Context, host: str | None,
                       neutron_net_id: str) -> dict[str, ty.Any]:
        return self._call(context, host, 'network_create', neutron_net_id=neutron_net_id)

    def network_delete(self, context: Context, host: str | None, neutron_net_id: str) -> None:
        self._call(context, host, 'network_delete', neutron_net_id=neutron_net_id)

    # Looking into a container -------------------------------------------------------------------

    def container_logs(self, context: Context, host: str, container_uuid: str, stdout: bool,
                       stderr: bool, timestamps: bool, tail: int | None,
                       since: str | None) -> str | collections.abc.Iterator[str]:
        """What it printed; in pieces, which come while they are asked for, when that is much.

        :param tail: lines from the end; None: all
        :param since: seconds since the epoch as text, or None
        """
        answer = self._call(context, host, 'container_logs', container_uuid=container_uuid,
                            stdout=stdout, stderr=stderr, timestamps=timestamps, tail=tail,
                            since=since)
        if not isinstance(answer, dict):
            return answer
        return parcels.text(self._collected(context, host, container_uuid, answer))

    def container_follow_logs(self, context: Context, host: str, container_uuid: str,
                              stdout: bool, stderr: bool, timestamps: bool, tail: int | None,
                              since: str | None) -> str:
        """
        :param tail, since: as of :meth:`container_logs`
        :returns: the token of a console session
        """
        return self._call(context, host, 'container_follow_logs', container_uuid=container_uuid,
                          stdout=stdout, stderr=stderr, timestamps=timestamps, tail=tail,
                          since=since)

    def container_exec(self, context: Context, host: str, container_uuid: str, command: str,
                       run: bool, interactive: bool) -> dict[str, ty.Any]:
        """
        :returns: ``{'output', 'exit_code', 'exec_id', 'token'}``
        """
        answer = self._call(context, host, 'container_exec', container_uuid=container_uuid,
                            command=command, run=run, interactive=interactive,
                            _extra_time=CONF.docker.execute_timeout)
        if isinstance(answer['output'], dict):
            answer['output'] = ''.join(parcels.text(
                self._collected(context, host, container_uuid, answer['output'])))
        return answer

    def container_exec_resize(self, context: Context, host: str, container_uuid: str,
                              exec_id: str, height: int, width: int) -> None:
        self._call(context, host, 'container_exec_resize', container_uuid=container_uuid,
                   exec_id=exec_id, height=height, width=width)

    def container_attach(self, context: Context, host: str, container_uuid: str) -> str:
        """
        :returns: the token of a console session
        """
        return self._call(context, host, 'container_attach', container_uuid=container_uuid)

    def container_resize(self, context: Context, host: str, container_uuid: str, height: int,
                         width: int) -> None:
        self._call(context, host, 'container_resize', container_uuid=container_uuid,
                   height=height, width=width)

    def container_top(self, context: Context, host: str, container_uuid: str,
                      ps_args: str | None) -> dict[str, ty.Any]:
        """
        :returns: ``{'Titles': [...], 'Processes': [[...]]}``
        """
        return self._call(context, host, 'container_top', container_uuid=container_uuid,
                          ps_args=ps_args)

    def container_stats(self, context: Context, host: str,
                        container_uuid: str) -> dict[str, ty.Any]:
        return self._call(context, host, 'container_stats', container_uuid=container_uuid)

    def container_get_archive(self, context: Context, host: str, container_uuid: str,
                              path: str) -> dict[str, ty.Any]:
        """
        :returns: ``{'data': tar as base64 text in parts, 'stat': {...}}``; the parts come while
            they are asked for, and each can be decoded by itself
        """
        answer = self._call(context, host, 'container_get_archive',
                            container_uuid=container_uuid, path=path)
        return {'data': self._collected(context, host, container_uuid, answer),
                'stat': answer['stat']}

    def container_put_archive(self, context: Context, host: str, container_uuid: str, path: str,
                              data: collections.abc.Iterable[str],
                              parcel: str | None = None) -> None:
        """
        :param data: tar as base64 text, in pieces
        :param parcel: token of what was sent of it before
        """
        found = parcels.parts(data)
        part = next(found)
        for following in found:
            parcel = self.parcel_put(context, host, container_uuid, parcel, part)
            part = following
        more: dict[str, ty.Any] = {'parcel': parcel} if parcel else {}
        self._call(context, host, 'container_put_archive', container_uuid=container_uuid,
                   path=path, data=part, **more)

    def parcel_get(self, context: Context, host: str, container_uuid: str,
                   parcel: str) -> dict[str, ty.Any]:
        """The next part of an answer: ``{'data': base64 text, 'parcel': token of the rest}``"""
        return self._call(context, host, 'parcel_get', container_uuid=container_uuid,
                          parcel=parcel)

    def parcel_put(self, context: Context, host: str, container_uuid: str, parcel: str | None,
                   data: str) -> str:
        """Send a part ahead; the token to send the next one with."""
        return self._call(context, host, 'parcel_put', container_uuid=container_uuid,
                          parcel=parcel, data=data)

    def _collected(self, context: Context, host: str, container_uuid: str,
                   answer: dict[str, ty.Any]) -> collections.abc.Iterator[str]:
        return parcels.collect(answer, functools.partial(
            self.parcel_get, context, host, container_uuid))

    def container_commit(self, context: Context, host: str, container_uuid: str,
                         repository: str, tag: str | None, image_uuid: str) -> None:
        """Call: the node queues it.

        :param image_uuid: Glance record that takes the snapshot
        """
        self._call(context, host, 'container_commit', container_uuid=container_uuid,
                   repository=repository, tag=tag, image_uuid=image_uuid)

    # Images -----------------------------------------------------------------------------------

    def image_pull(self, context: Context, host: str, image_uuid: str) -> None:
        self._cast(context, host, 'image_pull', image_uuid=image_uuid)

    def image_delete(self, context: Context, host: str, image_uuid: str) -> None:
        self._cast(context, host, 'image_delete', image_uuid=image_uuid)

    def image_search(self, context: Context, host: str | None, image: str,
                     image_driver: str, exact_match: bool) -> list[dict[str, ty.Any]]:
        return self._call(context, host, 'image_search', image=image,
                          image_driver=image_driver, exact_match=exact_match)
