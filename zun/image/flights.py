# SPDX-License-Identifier: Apache-2.0
"""Work that is done once for all who want its result at the time.

Whoever waits holds no thread: what it does next is called when the result is there.
"""

import collections.abc
import threading

from zun.common import transfers

#: Gets the engine's id of an image, or why there is none. It must not raise.
Then = collections.abc.Callable[[str | None, Exception | None], None]
Key = collections.abc.Hashable


class Flight:
    """What is under way for those who wait.

    :ivar key: what it is for
    :ivar waiting: uuid of who waits, and what it does next
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.transfer = transfers.Transfer()
        self.waiting: list[tuple[str, Then]] = []


class Flights:
    """What is under way, by what it is for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Key, Flight] = {}

    def join(self, key: Key, uuid: str, then: Then) -> Flight | None:
        """Wait for the result.

        :param uuid: of who waits
        :returns: for the first, who has to see to the work and to call :meth:`end`: the flight
        """
        with self._lock:
            flight, first = self._flights.get(key), None
            if flight is None:
                flight = first = self._flights[key] = Flight(key)
            flight.waiting.append((uuid, then))
            return first

    def leave(self, uuid: str, error: Exception) -> None:
        """Wait no more. Work that nobody waits for is cancelled.

        :param error: handed to what would have come next
        """
        gone: list[Then] = []
        with self._lock:
            for flight in list(self._flights.values()):
                left = [then for who, then in flight.waiting if who == uuid]
                if not left:
                    continue
                gone += left
                flight.waiting = [pair for pair in flight.waiting if pair[0] != uuid]
                if not flight.waiting:
                    del self._flights[flight.key]
                    flight.transfer.cancel()
        for then in gone:
            then(None, error)

    def end(self, flight: Flight, result: str | None, error: Exception | None = None) -> None:
        """Hand the result to all who wait; the next one to join begins anew."""
        with self._lock:
            if self._flights.get(flight.key) is flight:
                del self._flights[flight.key]
            waiting, flight.waiting = flight.waiting, []
        for _, then in waiting:
            then(result, error)

    def waiting(self, flight: Flight) -> list[str]:
        """The uuids of those who wait for it."""
        with self._lock:
            return [uuid for uuid, _ in flight.waiting]
