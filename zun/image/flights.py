# SPDX-License-Identifier: Apache-2.0
"""Work that is done once for all who want its result at the time.

Whoever waits holds no thread: what it does next is called when the result is there.
"""

import collections.abc
import threading

#: Gets the engine's id of an image, or why there is none. It must not raise.
Then = collections.abc.Callable[[str | None, Exception | None], None]


class Flights:
    """What is under way, by what it is for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[collections.abc.Hashable, list[Then]] = {}

    def join(self, key: collections.abc.Hashable, then: Then) -> bool:
        """Wait for the result.

        :returns: True for the first, who has to see to the work and to call :meth:`end`
        """
        with self._lock:
            first = key not in self._waiting
            self._waiting.setdefault(key, []).append(then)
            return first

    def end(self, key: collections.abc.Hashable, result: str | None,
            error: Exception | None = None) -> None:
        """Hand the result to all who wait; the next one to join begins anew."""
        with self._lock:
            waiting = self._waiting.pop(key, [])
        for then in waiting:
            then(result, error)

    def waiting(self, key: collections.abc.Hashable) -> int:
        """How many wait for it."""
        with self._lock:
            return len(self._waiting.get(key, ()))
