# SPDX-License-Identifier: Apache-2.0
"""Work for later: retries, second looks, repairs. One thread for all of it."""

import collections.abc
import threading
import time
import typing as ty

from zun.common import pools

_Work = tuple[float, collections.abc.Callable[..., ty.Any], tuple[ty.Any, ...]]


class Timer:
    """Calls functions once, after some seconds; at most one of a key waits.

    The functions run in the timer's own thread: they only hand work on to a pool.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: dict[str, _Work] = {}
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name='timer', daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Drop what waits and end."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()
            self._lock.notify_all()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def after(self, seconds: float, key: str, function: collections.abc.Callable[..., ty.Any],
              *args: ty.Any) -> None:
        """Call a function in some seconds, unless work of the same key waits already."""
        with self._lock:
            if not self._stopped and key not in self._waiting:
                self._waiting[key] = (time.monotonic() + seconds, function, args)
                self._lock.notify_all()

    def waits(self, key: str) -> bool:
        """Whether work of this key waits."""
        with self._lock:
            return key in self._waiting

    def _next(self) -> _Work | None:
        with self._lock:
            while not self._stopped:
                key = min(self._waiting, key=lambda item: self._waiting[item][0], default=None)
                if key is None:
                    self._lock.wait()
                    continue
                pause = self._waiting[key][0] - time.monotonic()
                if pause <= 0:
                    return self._waiting.pop(key)
                self._lock.wait(pause)
        return None

    def _run(self) -> None:
        while (work := self._next()) is not None:
            _, function, args = work
            pools.guard(function, *args)
