# SPDX-License-Identifier: Apache-2.0
"""Tar files of images, as ``docker save`` writes them, made fit for an engine that many share.

A tar says which names its image bears, and loading it takes these names away from other images of
the engine: what is handed on has none. Who made it may mean harm: what becomes large in memory is
refused.
"""

import bz2
import collections.abc
import contextlib
import copy
import gzip
import json
import math
import pathlib
import tarfile
import typing as ty
import zlib

from zun.common import exception

_MANIFEST = 'manifest.json'
_INDEX = 'index.json'
#: Names by repository, of engines before 1.10.
_REPOSITORIES = 'repositories'
_NAMES_IN_INDEX = ('io.containerd.image.name', 'org.opencontainers.image.ref.name')
_CHUNK = 1 << 16
#: Bytes of a file of the tar that is read as a whole.
_LONGEST_TEXT = 4 << 20
#: Files of an image: engines make three a layer, and take 127 layers.
_MOST_MEMBERS = 2000
#: Bytes of the headers of all its files: 2 KiB each.
_LONGEST_HEADERS = 4 << 20
#: How the file begins -> what reads it. What xz needs of memory is up to who made the file.
_COMPRESSIONS: dict[bytes, collections.abc.Callable[[str], ty.Any]] = {
    b'\x1f\x8b': gzip.open, b'BZh': bz2.open}
_XZ = b'\xfd7zXZ'


class _Source:
    """A file for tarfile, which keeps headers in memory, however long they are.

    :ivar left: how many bytes may still be read; what is skipped does not count
    """

    def __init__(self, file: ty.IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell
        self.left: float = _LONGEST_HEADERS

    def read(self, size: int) -> bytes:
        """:raises Invalid: more than is left"""
        self.left -= size
        if self.left < 0:
            raise _bad('its headers are too long')
        return self._file.read(size)


def nameless(path: str, limit: int) -> collections.abc.Iterator[bytes]:
    """The chunks of a tar with the same image, without its names.

    :param limit: most bytes, unpacked; 0: any
    :raises Invalid: it is no tar of one image, or there is something in it that has no place there
    :raises RequestTooLarge: it is larger than the limit
    """
    try:
        with _opened(path) as file:
            source = _Source(file)
            with tarfile.open(fileobj=ty.cast(ty.IO[bytes], source), mode='r:') as archive:
                members = _members(archive, limit)
                source.left = math.inf
                yield from _rewritten(archive, members)
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError, RecursionError,
            zlib.error) as error:
        raise _bad(f'it is damaged ({error})') from error


def _opened(path: str) -> ty.Any:
    with open(path, 'rb') as file:
        begin = file.read(len(_XZ))
    if begin == _XZ:
        raise _bad('it is compressed with xz')
    for magic, opener in _COMPRESSIONS.items():
        if begin.startswith(magic):
            return opener(path)
    return open(path, 'rb')


def _members(archive: tarfile.TarFile, limit: int) -> list[tarfile.TarInfo]:
    """All of them, none of whose data has been read beyond the limit."""
    found: list[tarfile.TarInfo] = []
    size = 0
    for member in archive:
        found.append(member)
        size += member.size
        if limit and size > limit:
            raise exception.RequestTooLarge(what='The image', limit=limit)
        if len(found) > _MOST_MEMBERS:
            raise _bad('it holds too many files')
        if member.size < 0:
            raise _bad('it is damaged')
        place = pathlib.PurePosixPath(member.name)
        if place.is_absolute() or '..' in place.parts:
            raise _bad('it holds a file outside of itself')
    return found


def _rewritten(archive: tarfile.TarFile,
               members: list[tarfile.TarInfo]) -> collections.abc.Iterator[bytes]:
    replaced = {_MANIFEST: _manifest(archive)}
    if _INDEX in archive.getnames():
        replaced[_INDEX] = _index(archive)
    for member in members:
        if member.name != _REPOSITORIES:
            yield from _member(archive, member, replaced.get(member.name))
    yield bytes(2 * tarfile.BLOCKSIZE)


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo,
            content: bytes | None) -> collections.abc.Iterator[bytes]:
    header = copy.copy(member)
    if content is not None:
        header.size = len(content)
    yield header.tobuf(tarfile.PAX_FORMAT)
    if content is not None:
        yield content
    elif member.isreg():
        with contextlib.closing(ty.cast(ty.IO[bytes], archive.extractfile(member))) as data:
            while chunk := data.read(_CHUNK):
                yield chunk
    if header.isreg():
        yield bytes(-header.size % tarfile.BLOCKSIZE)


def _text(archive: tarfile.TarFile, name: str) -> ty.Any:
    member = archive.getmember(name)
    if not member.isreg() or member.size > _LONGEST_TEXT:
        raise _bad(f'{name} is no text')
    with contextlib.closing(ty.cast(ty.IO[bytes], archive.extractfile(member))) as data:
        return json.loads(data.read())


def _manifest(archive: tarfile.TarFile) -> bytes:
    if _MANIFEST not in archive.getnames():
        raise _bad(f'it has no {_MANIFEST}')
    images = _text(archive, _MANIFEST)
    if not isinstance(images, list) or len(images) != 1 or not isinstance(images[0], dict):
        raise _bad('it does not hold exactly one image')
    return json.dumps([{**images[0], 'RepoTags': None}]).encode()


def _index(archive: tarfile.TarFile) -> bytes:
    index = _text(archive, _INDEX)
    for manifest in index.get('manifests') or ():
        for name in _NAMES_IN_INDEX:
            (manifest.get('annotations') or {}).pop(name, None)
    return json.dumps(index).encode()


def _bad(why: str) -> exception.Invalid:
    return exception.Invalid(f'The image is no tar of an image: {why}.')
