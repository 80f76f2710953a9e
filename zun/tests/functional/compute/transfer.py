# SPDX-License-Identifier: Apache-2.0
"""Copies an archive of so many MiB into a container and out again, in parts as a node does.

    python -m zun.tests.functional.compute.transfer CONTAINER-UUID MIB

It prints by how many KiB its memory has grown at most.
"""

import base64
import contextlib
import hashlib
import os
import resource
import sys
import tarfile
import tempfile
import types
import typing as ty

from zun import objects
from zun.common import config
from zun.compute import parcels as node_parcels
from zun.compute.tasks import archive
import zun.conf
from zun.container.docker import driver
from zun.rpc import parcels
from zun.tests.functional import engine

CONF = zun.conf.CONF


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _tar(size: int) -> tuple[ty.IO[bytes], str]:
    """A tar of one random file, on disk, and the checksum of the file."""
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile() as content:
        for _ in range(size):
            part = os.urandom(1 << 20)
            digest.update(part)
            content.write(part)
        content.flush()
        made = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's
        with tarfile.open(fileobj=made, mode='w|', bufsize=1 << 16) as tar:
            tar.add(content.name, 'blob')
    return made, digest.hexdigest()


def _put(node: ty.Any, container: objects.Container, made: ty.IO[bytes]) -> None:
    made.seek(0)
    token, part = None, made.read(parcels.PART)
    while following := made.read(parcels.PART):
        token = node.parcels.receive(container.uuid, token, parcels.encoded(part), 1 << 30)
        part = following
    archive.put(node, container, '/tmp', parcels.encoded(part), token)


def _get(node: ty.Any, container: objects.Container) -> tuple[int, str]:
    """Size of the tar, and the checksum of the file in it."""
    answer, digest, size = archive.get(node, container, '/tmp/blob'), hashlib.sha256(), 0
    with tempfile.TemporaryFile() as got:
        while True:
            size += got.write(base64.b64decode(answer['data']))
            if not answer['parcel']:
                break
            answer = node.parcels.resume(container.uuid, answer['parcel'])
        got.seek(0)
        with tarfile.open(fileobj=got, mode='r|', bufsize=1 << 16) as tar:
            for member in tar:
                data = ty.cast(ty.IO[bytes], tar.extractfile(member))
                while chunk := data.read(1 << 16):
                    digest.update(chunk)
    return size, digest.hexdigest()


def main() -> None:
    config.parse_args([], program='transfer', default_config_files=[])
    CONF.set_override('api_url', engine.URL, 'docker')
    CONF.set_override('max_archive_bytes', 1 << 30, 'docker')
    CONF.set_override('state_path', tempfile.gettempdir())
    container = objects.Container(uuid=sys.argv[1])
    node = types.SimpleNamespace(engine=driver.DockerDriver(), parcels=node_parcels.Parcels(),
                                 stream=contextlib.nullcontext)
    made, wanted = _tar(int(sys.argv[2]))
    _put(node, container, _tar(1)[0])
    _get(node, container)
    before = _peak()
    _put(node, container, made)
    size, found = _get(node, container)
    if found != wanted:
        sys.exit('The file has changed on its way.')
    sys.stdout.write(f'{_peak() - before} {size}\n')


if __name__ == '__main__':
    main()
