# SPDX-License-Identifier: Apache-2.0
"""Files out of a container and into it, by way of files that are never whole in memory."""

import contextlib
import typing as ty

from zun import objects
from zun.common import failpoints
from zun.compute import node as compute_node
from zun.compute import parcels
import zun.conf

CONF = zun.conf.CONF


def get(node: compute_node.Node, container: 'objects.Container', path: str) -> dict[str, ty.Any]:
    """``{'data': begin of the tar as base64 text, 'parcel': token of the rest, 'stat': {...}}``

    :raises NotFound: no such path
    :raises RequestTooLarge: it is too much for one answer
    """
    with node.stream(), contextlib.ExitStack() as undo:
        data = undo.enter_context(parcels.new_file())
        stat = node.engine.get_archive(container, path, data)
        data.seek(0)
        answer = node.parcels.send(container.uuid, data)
        undo.pop_all()
    return {**answer, 'stat': stat}


def put(node: compute_node.Node, container: 'objects.Container', path: str, text: str,
        token: str | None) -> None:
    """Extract a tar into a directory.

    :param text: the tar, or its last part, as base64
    :param token: of the parts before
    :raises Base64Exception: it is no base64
    :raises RequestTooLarge: it is larger than ``[docker]/max_archive_bytes``
    """
    with node.parcels.take(container.uuid, token) if token else parcels.new_file() as data:
        parcels.add(data, text, CONF.docker.max_archive_bytes)
        data.seek(0)
        failpoints.hit('put_archive.begun')
        with node.stream():
            node.engine.put_archive(container, path, data)
    failpoints.hit('put_archive.done')
