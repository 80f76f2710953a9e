# SPDX-License-Identifier: Apache-2.0
"""When the images that Zun fetched to this host were last wanted, kept in a small file."""

import json
import os
import tempfile
import threading
import time

from oslo_log import log as logging

import zun.conf

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds for which an image that was just wanted is not removed.
LEASE = 600.0
#: Seconds by which the file may be behind: another use of an image then is not written down.
_LAG = 60.0


class Usage:
    """Images by the engine's id. The clock is the host's own, and compared with itself only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, float] | None = None
        self._written: dict[str, float] = {}
        self._doomed: set[str] = set()
        self._wanted: dict[str, float] = {}

    def want(self, image: str) -> None:
        """A container is going to be made of it, if it has not been yet."""
        now = time.monotonic()
        with self._lock:
            self._wanted = {name: moment for name, moment in self._wanted.items()
                            if now - moment < LEASE}
            self._wanted[image] = now

    def is_wanted(self, image: str | None) -> bool:
        """Whether a container wanted it just now."""
        with self._lock:
            moment = self._wanted.get(image or '')
        return moment is not None and time.monotonic() - moment < LEASE

    def lease(self, image: str) -> bool:
        """An image that is there is wanted; False when it is just being removed."""
        with self._lock:
            if image in self._doomed:
                return False
            self._note(image, known_only=True)
            return True

    def arrived(self, image: str) -> None:
        """Zun has fetched an image: from now on it is Zun's to remove."""
        with self._lock:
            self._doomed.discard(image)
            self._note(image, known_only=False)

    def fetched(self) -> dict[str, float]:
        """The images that Zun fetched -> seconds since the epoch of their last use."""
        with self._lock:
            return dict(self._known())

    def touch(self, image: str) -> None:
        """A container uses it."""
        with self._lock:
            self._note(image, known_only=True)

    def doom(self, image: str) -> bool:
        """It is going to be removed; False when it was wanted just now."""
        with self._lock:
            if time.time() - self._known().get(image, 0.0) < LEASE:
                return False
            self._doomed.add(image)
            return True

    def spare(self, image: str, removed: bool) -> None:
        """The end of what :meth:`doom` began."""
        with self._lock:
            self._doomed.discard(image)
            if removed:
                self._known().pop(image, None)
                self._write()

    def _note(self, image: str, known_only: bool) -> None:
        known, now = self._known(), time.time()
        if known_only and image not in known:
            return
        known[image] = now
        if now - self._written.get(image, 0.0) >= _LAG:
            self._write()

    def _known(self) -> dict[str, float]:
        if self._used is None:
            self._used = _read()
        return self._used

    def _write(self) -> None:
        """A file that cannot be written costs no container: images are then kept too long."""
        path, known = _path(), self._known()
        try:
            with tempfile.NamedTemporaryFile('w', dir=os.path.dirname(path),
                                             delete=False) as new:
                json.dump(known, new)
            os.replace(new.name, path)
        except OSError as error:
            LOG.warning('%s cannot be written: %s', path, error)
        self._written = dict(known)


def _path() -> str:
    return os.path.join(CONF.state_path, 'fetched-images.json')


def _read() -> dict[str, float]:
    try:
        with open(_path(), encoding='utf-8') as stored:
            return {str(image): float(moment) for image, moment in json.load(stored).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        LOG.warning('%s cannot be read, and is begun anew: %s', _path(), error)
        return {}
