# SPDX-License-Identifier: Apache-2.0
"""Files into and out of a container, as tar archives that only the engine unpacks."""

import base64
import json
import typing as ty

from zun.common import exception
import zun.conf
from zun.container.docker import client

CONF = zun.conf.CONF


def get(engine: client.Client, name: str, path: str) -> tuple[bytes, dict[str, ty.Any]]:
    """A path as a tar, and its stat: name, size, mode, mtime, linkTarget.

    :raises RequestTooLarge: more than ``[docker]/max_archive_bytes``; no more than that is read
    """
    limit = CONF.docker.max_archive_bytes
    response = engine.request('GET', f'/containers/{client.quote(name)}/archive',
                              params={'path': path}, stream=True)
    stat = json.loads(base64.b64decode(response.headers['X-Docker-Container-Path-Stat']))
    parts, size = [], 0
    for chunk in engine.chunks(response, CONF.docker.default_timeout):
        size += len(chunk)
        if size > limit:
            response.close()
            raise exception.RequestTooLarge(what=path, limit=limit)
        parts.append(chunk)
    return b''.join(parts), stat


def put(engine: client.Client, name: str, path: str, data: bytes) -> None:
    """Extract a tar into a directory.

    :raises RequestTooLarge: more than ``[docker]/max_archive_bytes``
    """
    limit = CONF.docker.max_archive_bytes
    if len(data) > limit:
        raise exception.RequestTooLarge(what='The archive', limit=limit)
    engine.request('PUT', f'/containers/{client.quote(name)}/archive', params={'path': path},
                   data=data, headers={'Content-Type': 'application/x-tar'})
