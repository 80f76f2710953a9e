# SPDX-License-Identifier: Apache-2.0
"""Files that are on their way over the bus in parts."""

import contextlib
import secrets
import tempfile
import threading
import time
import typing as ty

from zun.common import exception
import zun.conf
from zun.rpc import parcels

CONF = zun.conf.CONF

#: Seconds after which nobody asks for the rest any more.
_PATIENCE = 120.0
#: Bytes that are kept in memory; larger ones lie on disk, under no name.
_IN_MEMORY = 1 << 20


def new_file() -> ty.IO[bytes]:
    """A place for data, which is gone when it is closed."""
    return ty.cast(ty.IO[bytes], tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=CONF.state_path))


class Parcels:
    """What waits for its next part, of which there are ``[compute]/stream_workers`` at most.

    Each belongs to one container, whose uuid has to be given again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str], tuple[ty.IO[bytes], float]] = {}

    def send(self, uuid: str, data: ty.IO[bytes]) -> dict[str, ty.Any]:
        """The next part of a file, from where it is; with a token when there is more.

        :returns: ``{'data': base64 text, 'parcel': token or None}``
        :raises PoolFull: too many wait
        """
        part, ahead = data.read(parcels.PART), data.tell()
        more = bool(data.read(1))
        data.seek(ahead)
        token = self._keep(uuid, data) if more else None
        if token is None:
            data.close()
        return {'data': parcels.encoded(part), 'parcel': token}

    def resume(self, uuid: str, token: str) -> dict[str, ty.Any]:
        """The next part of what :meth:`send` began. :raises NotFound: it took too long"""
        return self.send(uuid, self.take(uuid, token))

    def receive(self, uuid: str, token: str | None, text: str, limit: int) -> str:
        """Put a part behind the earlier ones; the token for the next.

        :param token: None: it is the first
        :raises Base64Exception: it is no base64
        :raises RequestTooLarge: there are more bytes than the limit
        :raises NotFound: the last part was too long ago
        """
        data = self.take(uuid, token) if token else new_file()
        with contextlib.ExitStack() as undo:
            undo.callback(data.close)
            add(data, text, limit)
            kept = self._keep(uuid, data)
            undo.pop_all()
        return kept

    def take(self, uuid: str, token: str) -> ty.IO[bytes]:
        """A file that waits; its next part is the caller's. :raises NotFound: it took too long"""
        with self._lock:
            self._expire()
            found = self._held.pop((uuid, token), None)
        if found is None:
            raise exception.NotFound('The transfer has taken too long between two parts.')
        return found[0]

    def _keep(self, uuid: str, data: ty.IO[bytes]) -> str:
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._expire()
            if len(self._held) >= CONF.compute.stream_workers:
                raise exception.PoolFull(pool='transfers')
            self._held[uuid, token] = data, time.monotonic() + _PATIENCE
        return token

    def _expire(self) -> None:
        now = time.monotonic()
        for key in [key for key, (_, end) in self._held.items() if end < now]:
            self._held.pop(key)[0].close()


def add(data: ty.IO[bytes], text: str, limit: int) -> None:
    """Write base64 text at the end of a file.

    :raises Base64Exception, RequestTooLarge
    """
    part = parcels.decoded(text)
    if data.tell() + len(part) > limit:
        raise exception.RequestTooLarge(what='The archive', limit=limit)
    data.write(part)
