# SPDX-License-Identifier: Apache-2.0
"""Files into and out of a container, as tar archives that only the engine unpacks."""

import base64
import json
import os
import typing as ty

from zun.common import exception
import zun.conf
from zun.container.docker import client

CONF = zun.conf.CONF


def get(engine: client.Client, name: str, path: str, into: ty.IO[bytes]) -> dict[str, ty.Any]:
    """Write a path as a tar; its stat: name, size, mode, mtime, linkTarget.

    :raises RequestTooLarge: more than ``[docker]/max_archive_bytes``; no more than that is read
    """
    limit = CONF.docker.max_archive_bytes
    response = engine.request('GET', f'/containers/{client.quote(name)}/archive',
                              params={'path': path}, stream=True)
    stat = json.loads(base64.b64decode(response.headers['X-Docker-Container-Path-Stat']))
    size = 0
    for chunk in engine.chunks(response, CONF.docker.default_timeout):
        size += len(chunk)
        if size > limit:
            response.close()
            raise exception.RequestTooLarge(what=path, limit=limit)
        into.write(chunk)
    return stat


def put(engine: client.Client, name: str, path: str, data: ty.IO[bytes] | bytes) -> None:
    """Extract a tar into a directory.

    :raises RequestTooLarge: more than ``[docker]/max_archive_bytes``
    """
    limit = CONF.docker.max_archive_bytes
    if _size(data) > limit:
        raise exception.RequestTooLarge(what='The archive', limit=limit)
    engine.request('PUT', f'/containers/{client.quote(name)}/archive', params={'path': path},
                   data=data, headers={'Content-Type': 'application/x-tar'})


def _size(data: ty.IO[bytes] | bytes) -> int:
    """Bytes from where a file is to its end."""
    if isinstance(data, bytes):
        return len(data)
    here = data.tell()
    end = data.seek(0, os.SEEK_END)
    data.seek(here)
    return end - here
