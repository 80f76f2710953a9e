# SPDX-License-Identifier: Apache-2.0
"""Tar files of images, as ``docker save`` writes them, made fit for an engine that many share.

A tar says which names its image bears, and loading it takes these names away from other images of
the engine: what is handed on has none.
"""

import collections.abc
import contextlib
import copy
import json
import pathlib
import tarfile
import typing as ty

from zun.common import exception

_MANIFEST = 'manifest.json'
_INDEX = 'index.json'
#: Names by repository, of engines before 1.10.
_REPOSITORIES = 'repositories'
_NAMES_IN_INDEX = ('io.containerd.image.name', 'org.opencontainers.image.ref.name')
_CHUNK = 1 << 16
#: Bytes of a file of the tar that is read as a whole.
_LONGEST_TEXT = 4 << 20


def nameless(path: str, limit: int) -> collections.abc.Iterator[bytes]:
    """The chunks of a tar with the same image, without its names.

    :param limit: most bytes, unpacked; 0: any
    :raises Invalid: it is no tar of one image, or there is something in it that has no place there
    :raises RequestTooLarge: it is larger than the limit
    """
    try:
        with tarfile.open(path) as archive:
            yield from _checked(archive, limit)
    except (tarfile.TarError, EOFError, ValueError, KeyError) as error:
        raise _bad(f'it is damaged ({error})') from error


def _checked(archive: tarfile.TarFile, limit: int) -> collections.abc.Iterator[bytes]:
    members = archive.getmembers()
    size = sum(member.size for member in members)
    if limit and size > limit:
        raise exception.RequestTooLarge(what='The image', limit=limit)
    for member in members:
        place = pathlib.PurePosixPath(member.name)
        if place.is_absolute() or '..' in place.parts:
            raise _bad('it holds a file outside of itself')
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
