# SPDX-License-Identifier: Apache-2.0
"""The image service, as the service user of a node sees it: all projects' images."""

import collections.abc
import contextlib
import functools
import hashlib
import time
import typing as ty

from oslo_utils import uuidutils
import requests

from zun.common import clients
from zun.common import exception
from zun.common import rest
import zun.conf

CONF = zun.conf.CONF
_GROUP = 'glance_client'
_CHUNK = 1 << 16
_GIB = 1 << 30
#: Statuses of an image whose data is still to come.
_UNFINISHED = ('queued', 'saving')
#: Most images that are looked through in a search.
_PAGE = 1000
_FORMAT = 'docker'
_OPEN = frozenset({'public', 'community'})

Json = dict[str, ty.Any]


def size_limit() -> int:
    """Bytes of the largest image; 0: any."""
    return CONF.glance.max_image_size * _GIB


def bounded(chunks: collections.abc.Iterable[bytes], seconds: float,
            *sinks: ty.Any) -> collections.abc.Iterator[bytes]:
    """Chunks as they come, within the limits of size and time.

    :param sinks: hashes that are fed with them
    :raises RequestTooLarge, ZunException: over a limit
    """
    limit, size, end = size_limit(), 0, time.monotonic() + seconds
    for chunk in chunks:
        size += len(chunk)
        if limit and size > limit:
            raise exception.RequestTooLarge(what='The image', limit=limit)
        if time.monotonic() > end:
            raise exception.ZunException(
                f'The transfer of the image has not ended within {seconds:g} seconds.')
        for sink in sinks:
            sink.update(chunk)
        yield chunk


class Store:
    """Image API v2. Every call raises ServiceUnavailable when it does not answer."""

    def __init__(self) -> None:
        self._rest = rest.Rest('image service', functools.partial(
            clients.rest, _GROUP, 'image'), '/v2')

    def show(self, ident: str) -> Json | None:
        """One image; None: it is gone."""
        answer = self._rest.send('GET', f'/images/{ident}', absent=(404,))
        return answer.json() if answer is not None else None

    def find(self, reference: str, project: str | None) -> Json:
        """The usable image of an id, a name, or a name and a tag of Glance.

        :param project: that must be allowed to see it; None: any may
        :raises ImageNotFound, Conflict: there is none, or several
        """
        found = self.search(reference, True, project)
        if not found:
            raise exception.ImageNotFound(image=reference)
        if len(found) > 1:
            raise exception.Conflict(f'Multiple images exist with same name {reference}. '
                                     'Please use the image id instead.')
        return found[0]

    def _matching(self, reference: str) -> list[Json]:
        if uuidutils.is_uuid_like(reference):
            image = self.show(reference)
            return [image] if image is not None and _usable(image) else []
        found = self.listed(name=reference)
        name, colon, tag = reference.rpartition(':')
        if not found and colon and name and '/' not in tag:
            found = self.listed(name=name, tag=tag)
        return found

    def listed(self, **filters: str) -> list[Json]:
        """A page of the usable images."""
        answer = self._rest.send('GET', '/images', params={
            'container_format': _FORMAT, 'status': 'active', 'limit': str(_PAGE), **filters})
        return answer.json()['images']

    def search(self, name: str, exact: bool, project: str | None) -> list[Json]:
        """What a project may see of the images with a part of the name in theirs.

        :param exact: those that :meth:`find` chooses from
        """
        found = self._matching(name) if exact else [
            image for image in self.listed() if name in (image.get('name') or '')]
        return [image for image in found if self._visible(image, project)]

    def _visible(self, image: Json, project: str | None) -> bool:
        if project is None or image.get('owner') == project or image['visibility'] in _OPEN:
            return True
        return image['visibility'] == 'shared' and self._rest.send(
            'GET', f"/images/{image['id']}/members/{project}", absent=(403, 404)) is not None

    @contextlib.contextmanager
    def download(self, image: Json) -> collections.abc.Iterator[
            collections.abc.Iterator[bytes]]:
        """The chunks of its data; when they end, they were what Glance's checksum says.

        :raises ImageNotFound: it is gone, or has no data
        :raises Invalid: they are not
        """
        answer = self._rest.send('GET', f"/images/{image['id']}/file", absent=(204, 404),
                                 stream=True, log=False)
        if answer is None:
            raise exception.ImageNotFound(image=image['id'])
        with contextlib.closing(answer):
            yield _verified(image, _body(answer))

    def upload(self, ident: str, chunks: collections.abc.Iterable[bytes]) -> None:
        """Send the data of an image that waits for it, as it comes.

        :raises ZunException: it did not arrive as it was sent
        """
        digest = hashlib.sha512()
        sent = bounded(chunks, CONF.docker.pull_timeout, digest)
        self._rest.send('PUT', f'/images/{ident}/file', data=sent, log=False,
                        headers={'Content-Type': 'application/octet-stream'})
        image = self.show(ident)
        if image is None or image['status'] != 'active':
            raise exception.ZunException('The image service did not keep the image.')
        if image.get('os_hash_algo') == 'sha512' and (
                image['os_hash_value'] != digest.hexdigest()):
            raise exception.ZunException('The image service has received something else.')

    def delete(self, ident: str) -> None:
        """One that is gone is success."""
        self._rest.send('DELETE', f'/images/{ident}', absent=(404,))

    def unfinished(self, **properties: str) -> list[Json]:
        """Images with these properties that have no data yet."""
        answer = self._rest.send('GET', '/images', params={
            'status': f"in:{','.join(_UNFINISHED)}", 'limit': str(_PAGE), **properties})
        return answer.json()['images']

    def is_unfinished(self, ident: str) -> bool:
        """Whether there is an image of that id without its data."""
        image = self.show(ident)
        return image is not None and image['status'] in _UNFINISHED


def _usable(image: Json) -> bool:
    return image.get('container_format') == _FORMAT and image['status'] == 'active'


def _body(answer: requests.Response) -> collections.abc.Iterator[bytes]:
    try:
        yield from answer.iter_content(_CHUNK)
    except requests.RequestException as error:
        raise exception.ServiceUnavailable(f'The image service broke off: {error}') from error


def _verified(image: Json,
              chunks: collections.abc.Iterable[bytes]) -> collections.abc.Iterator[bytes]:
    """The better of the two checksums counts; an image without one cannot be used."""
    algorithm, wanted = image.get('os_hash_algo'), image.get('os_hash_value')
    if not (algorithm and wanted):
        algorithm, wanted = 'md5', image.get('checksum')
    try:
        digest = hashlib.new(algorithm, usedforsecurity=False)
    except ValueError as error:
        raise exception.Invalid(f"Image {image['id']}: {error}") from error
    yield from bounded(chunks, CONF.docker.pull_timeout, digest)
    if digest.hexdigest() != wanted:
        raise exception.Invalid(f"Image {image['id']} is not what its {algorithm} checksum says.")
