# SPDX-License-Identifier: Apache-2.0
"""Long transfers, watched and ended from other threads."""

import collections.abc
import contextlib
import threading

from zun.common import exception


def _unwatched(text: str) -> None:
    """Nobody looks."""


class Transfer:
    """
    :ivar progressed: gets in a few words how far it is, as often as that changes
    """

    def __init__(self) -> None:
        self.progressed: collections.abc.Callable[[str], None] = _unwatched
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._stop: collections.abc.Callable[[], None] | None = None

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """:raises Conflict: it was cancelled"""
        if self.cancelled:
            raise exception.Conflict('Nobody waits for the image any more.')

    def cancel(self) -> None:
        """End it: what it waits for now is broken off, and its next step refused."""
        with self._lock:
            self._cancelled.set()
            if self._stop is not None:
                self._stop()

    def pause(self, seconds: float) -> None:
        """Wait. :raises Conflict: it was cancelled meanwhile"""
        self._cancelled.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def stopped_by(self, stop: collections.abc.Callable[[], None]) -> (
            collections.abc.Iterator[None]):
        """What is inside may wait for long.

        :param stop: ends the wait, from another thread; it must not raise
        :raises Conflict: it was cancelled
        """
        with self._lock:
            self.check()
            self._stop = stop
        try:
            yield
        except exception.ZunException:
            self.check()  # it failed because it was cancelled
            raise
        finally:
            with self._lock:
                self._stop = None
        self.check()
