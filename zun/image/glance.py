# SPDX-License-Identifier: Apache-2.0
"""Images of Glance: files in the format of ``docker save``, loaded into the engine.

In the engine such an image is named ``zun-glance/<id in Glance>:<begin of its checksum>``, never
as its file says. Glance is asked at each use, as only it knows who may see the image.
"""

import collections.abc
import contextlib
import functools
import os
import tempfile
import time
import typing as ty

from oslo_log import log as logging

from zun.common import context as zun_context
from zun.common import exception
from zun.common import transfers
import zun.conf
from zun.container import driver as container_driver
from zun.image import driver
from zun.image import glance_store
from zun.image import tarball

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

_PREFIX = 'zun-glance'
_PART = '.part'
#: Seconds after which a file that nobody writes to was left by a crash.
_STALE = 3600.0
_CHECKSUM_LENGTH = 12
_MB = 1000000


def local_name(image: glance_store.Json) -> tuple[str, str]:
    """Repository and tag of an image of Glance in the engine."""
    checksum = image.get('os_hash_value') or image.get('checksum')
    if not checksum:
        raise exception.Invalid(f"Image {image['id']} has no checksum.")
    return f"{_PREFIX}/{image['id']}", checksum[:_CHECKSUM_LENGTH]


class GlanceImageDriver(driver.ImageDriver):
    def __init__(self) -> None:
        self._store = glance_store.Store()

    def plan(self, context: zun_context.RequestContext,
             engine: container_driver.ContainerDriver,
             wanted: driver.Wanted) -> str | driver.Fetch:
        """An image that is there is not fetched again: its name holds its checksum.

        :raises Conflict: several have the name
        :raises RequestTooLarge: it is larger than ``[glance]/max_image_size``
        """
        image = self._store.find(wanted.reference, wanted.project)
        repository, tag = local_name(image)
        policy = driver.policy_of(wanted)
        found = engine.find_image(f'{repository}:{tag}')
        if found is not None:
            return found
        if not driver.should_pull(policy, False):
            raise driver.absent(wanted.reference, policy)
        limit = glance_store.size_limit()
        if limit and (image.get('size') or 0) > limit:
            raise exception.RequestTooLarge(what=f'Image {wanted.reference}', limit=limit)
        return driver.Fetch((repository, tag),
                            functools.partial(self._fetch, engine, image, repository, tag))

    def _fetch(self, engine: container_driver.ContainerDriver, image: glance_store.Json,
               repository: str, tag: str, transfer: transfers.Transfer) -> str:
        path = self._stored(image, transfer)
        try:
            return engine.load_image(
                _followed(tarball.nameless(path, glance_store.size_limit()), image, 'loading',
                          transfer), repository, tag)
        finally:
            os.unlink(path)

    def _stored(self, image: glance_store.Json, transfer: transfers.Transfer) -> str:
        """A file with its data, which the caller removes."""
        directory = CONF.glance.images_directory
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            _tidy(directory)
            with tempfile.NamedTemporaryFile(
                    dir=directory, prefix=f"{image['id']}.", suffix=_PART, delete=False) as part:
                try:
                    with self._store.download(image) as chunks:
                        for chunk in _followed(chunks, image, 'downloading', transfer):
                            part.write(chunk)
                except BaseException:
                    os.unlink(part.name)
                    raise
            return part.name
        except OSError as error:
            raise exception.ZunException(
                f'The image cannot be stored: {error.strerror}.') from error

    def local_names(self, engine: container_driver.ContainerDriver,
                    reference: str) -> list[str]:
        return [name for image in engine.list_images() for name in image.names
                if name.startswith(f'{_PREFIX}/{reference}:')]

    def search(self, context: zun_context.RequestContext,
               engine: container_driver.ContainerDriver, name: str,
               exact_match: bool) -> list[dict[str, ty.Any]]:
        return [{'id': image['id'], 'name': image.get('name'), 'tags': image.get('tags') or [],
                 'size': image.get('size'), 'metadata': {}}
                for image in self._store.search(name, exact_match, context.project_id)]


def _followed(chunks: collections.abc.Iterable[bytes], image: glance_store.Json, what: str,
              transfer: transfers.Transfer) -> collections.abc.Iterator[bytes]:
    """Chunks as they come. :raises Conflict: the transfer was cancelled"""
    there, size = 0, f"/{image['size'] // _MB}" if image.get('size') else ''
    for chunk in chunks:
        transfer.check()
        there += len(chunk)
        transfer.progressed(f'{what} {there // _MB}{size} MB')
        yield chunk


def _tidy(directory: str) -> None:
    """Remove what a crash has left."""
    for entry in os.scandir(directory):
        with contextlib.suppress(FileNotFoundError):
            if entry.name.endswith(_PART) and time.time() - entry.stat().st_mtime > _STALE:
                LOG.warning('%s was left behind: removed', entry.path)
                os.unlink(entry.path)
