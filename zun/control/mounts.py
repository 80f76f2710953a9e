# SPDX-License-Identifier: Apache-2.0
"""What users want to mount: volumes of the block storage service, and files put in."""

import base64
import binascii
import dataclasses
import posixpath
import typing as ty

from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

CINDER = 'cinder'
LOCAL = 'local'
_MOST_FILES = 16
_LONGEST_PATH = 255


@dataclasses.dataclass(frozen=True)
class Mount:
    """
    :ivar destination: path in the container
    :ivar source: id or name of a volume, or a file's content as base64 text
    :ivar size: GiB of a volume to be made, when there is no source
    """

    provider: str
    destination: str
    source: str | None = None
    size: int | None = None


def parse(items: list[dict[str, ty.Any]] | None) -> list[Mount]:
    """The mounts of a request.

    :raises InvalidValue: an unknown type, a path that cannot be mounted on or is given twice, a
        size that is none, content that is not base64 or too long
    """
    mounts = [_mount(item) for item in items or ()]
    seen: set[str] = set()
    for mount in mounts:
        if mount.destination in seen:
            raise exception.InvalidValue(
                f"Mount destination '{mount.destination}' is given twice.")
        seen.add(mount.destination)
    if sum(mount.provider == LOCAL for mount in mounts) > _MOST_FILES:
        raise exception.InvalidValue(f'At most {_MOST_FILES} files can be put into a container.')
    return mounts


def _mount(item: dict[str, ty.Any]) -> Mount:
    kind = item.get('type') or 'volume'
    place = destination(item['destination'])
    if kind == 'bind':
        return Mount(LOCAL, place, source=_content(item.get('source'), place))
    if kind != 'volume':
        raise exception.InvalidValue(f"Mount type '{kind}' is neither 'volume' nor 'bind'.")
    if item.get('source'):
        return Mount(CINDER, place, source=item['source'])
    return Mount(CINDER, place, size=size(item.get('size')))


def destination(path: str) -> str:
    """A path in a container in its shortest form.

    :raises InvalidValue: it is relative, the root, too long, or cannot be a path
    """
    clean = posixpath.normpath(path) if path else ''
    clean = '/' + clean.lstrip('/') if clean.startswith('/') else clean
    if not clean.startswith('/') or clean == '/' or '\0' in clean or len(path) > _LONGEST_PATH:
        raise exception.InvalidValue(
            'A mount destination is an absolute path of at most '
            f'{_LONGEST_PATH} characters, and not the root.')
    return clean


def size(given: ty.Any) -> int:
    """GiB of a new volume.

    :raises InvalidValue: not a whole number above 0
    """
    text = str(given)
    if isinstance(given, bool) or not (text.isascii() and text.isdigit() and int(text) > 0):
        raise exception.InvalidValue('The size of a volume is a whole number of GiB above 0.')
    return int(text)


def _content(text: str | None, place: str) -> str:
    if not text:
        raise exception.InvalidValue(f"The mount on '{place}' needs a source.")
    text = ''.join(text.split())  # encoders break it into lines
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise exception.InvalidValue(
            f"The source of the mount on '{place}' is not base64 text.") from None
    most = CONF.volume.max_injected_file_size
    if len(raw) > most:
        raise exception.InvalidValue(
            f"The file for '{place}' has {len(raw)} bytes; at most {most} are allowed.")
    return text
