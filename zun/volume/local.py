# SPDX-License-Identifier: Apache-2.0
"""Files that a user injects into a container: the provider ``local``.

The file lies at ``[volume]/volume_dir/<volume uuid>/<volume uuid>``. Its directory is closed to the
users of the host; the container sees the file itself, through its mount. Symbolic links are never
followed below volume_dir.
"""

import base64
import binascii
import collections.abc
import contextlib
import os
import stat
import typing as ty

from zun.common import context as zun_context
from zun.common import exception
import zun.conf
from zun.container import driver as container_driver
from zun.volume import driver

if ty.TYPE_CHECKING:
    from zun import objects

CONF = zun.conf.CONF

_BASE_MODE = 0o711
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o644
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PARTIAL = '.part'


class LocalDriver(driver.VolumeDriver):
    def attach(self, context: zun_context.RequestContext,
               mapping: 'objects.VolumeMapping') -> container_driver.Mount:
        """Write the file; one that is there is kept, with what the container made of it.

        :raises Base64Exception, RequestTooLarge: contents that the API should have refused
        :raises MountException: the host's file system refuses
        """
        uuid = mapping.volume.uuid
        try:
            with _directory(uuid) as directory:
                if not _is_file(uuid, directory):
                    _write(uuid, directory, _decoded(mapping))
        except OSError as error:
            raise exception.MountException(error=error) from error
        return container_driver.Mount(
            source=os.path.join(CONF.volume.volume_dir, uuid, uuid),
            destination=mapping.container_path)

    def detach(self, context: zun_context.RequestContext,
               mapping: 'objects.VolumeMapping') -> None:
        """Remove file and directory.

        :raises UnmountException: the host's file system refuses
        """
        try:
            _remove(mapping.volume.uuid)
        except FileNotFoundError:
            return
        except OSError as error:
            raise exception.UnmountException(error=error) from error


def _decoded(mapping: 'objects.VolumeMapping') -> bytes:
    limit = CONF.volume.max_injected_file_size
    try:
        data = base64.b64decode(mapping.contents or '', validate=True)
    except (binascii.Error, ValueError):
        raise exception.Base64Exception(name=mapping.container_path) from None
    if len(data) > limit:
        raise exception.RequestTooLarge(what=f'File {mapping.container_path}', limit=limit)
    return data


@contextlib.contextmanager
def _opened(path: str, flags: int, parent: int | None = None) -> collections.abc.Iterator[int]:
    fd = os.open(path, flags, dir_fd=parent)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _directory(uuid: str) -> collections.abc.Iterator[int]:
    """The directory of one volume, made if need be.

    :raises OSError: among others when something else is in its place
    """
    os.makedirs(CONF.volume.volume_dir, _BASE_MODE, exist_ok=True)
    with _opened(CONF.volume.volume_dir, _DIRECTORY_FLAGS) as base:
        with contextlib.suppress(FileExistsError):
            os.mkdir(uuid, _DIRECTORY_MODE, dir_fd=base)
        with _opened(uuid, _DIRECTORY_FLAGS | os.O_NOFOLLOW, base) as directory:
            yield directory


def _is_file(name: str, directory: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _write(name: str, directory: int, data: bytes) -> None:
    """A crash leaves the whole file or none."""
    partial = name + _PARTIAL
    with contextlib.suppress(FileNotFoundError):
        os.unlink(partial, dir_fd=directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(partial, flags, _FILE_MODE, dir_fd=directory)
    with os.fdopen(fd, 'wb') as stream:
        os.fchmod(fd, _FILE_MODE)
        stream.write(data)
        stream.flush()
        os.fsync(fd)
    os.replace(partial, name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


def _remove(uuid: str) -> None:
    with _opened(CONF.volume.volume_dir, _DIRECTORY_FLAGS) as base:
        try:
            with _opened(uuid, _DIRECTORY_FLAGS | os.O_NOFOLLOW, base) as directory:
                for name in (uuid, uuid + _PARTIAL):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(name, dir_fd=directory)
        except NotADirectoryError:  # a link or a file in its place: not ours to look into
            os.unlink(uuid, dir_fd=base)
        else:
            os.rmdir(uuid, dir_fd=base)
