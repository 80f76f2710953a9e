# SPDX-License-Identifier: Apache-2.0
"""Files out of a container and into it, and snapshots of it."""

import base64
import binascii
import typing as ty

from zun import objects
from zun.common import exception
from zun.compute import node as compute_node


def get(node: compute_node.Node, container: 'objects.Container', path: str) -> dict[str, ty.Any]:
    """``{'data': tar as base64 text, 'stat': {...}}``

    :raises NotFound: no such path
    :raises RequestTooLarge: it is too much for one answer
    """
    with node.stream():
        data, stat = node.engine.get_archive(container, path)
    return {'data': base64.b64encode(data).decode(), 'stat': stat}


def put(node: compute_node.Node, container: 'objects.Container', path: str, data: str) -> None:
    """Extract a tar into a directory.

    :param data: tar as base64 text
    :raises Base64Exception: it is none
    """
    try:
        tar = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise exception.Base64Exception(name='data') from None
    with node.stream():
        node.engine.put_archive(container, path, tar)


def commit(node: compute_node.Node, container: 'objects.Container', repository: str,
           tag: str | None, image_uuid: str) -> None:
    """
    :raises OperationNotSupported: always, for now
    """
    raise exception.OperationNotSupported('Snapshots of containers are not supported yet.')
