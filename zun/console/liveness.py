# SPDX-License-Identifier: Apache-2.0
"""When a client has to be asked whether it lives, and when it does not. Decisions only.

A client that is merely slow lives: whatever it sends, and whatever it takes, is a sign. Times are
monotonic.
"""


class Liveness:
    """
    :param interval: seconds between two pings
    :param timeout: seconds in which a sign must follow a ping
    """

    def __init__(self, interval: float, timeout: float, now: float) -> None:
        self._interval = interval
        self._timeout = timeout
        self._heard = now
        self._pinged = now
        self._unanswered = False
        self._sending: float | None = None

    def heard(self, now: float) -> None:
        """Something came."""
        self._heard = now
        self._unanswered = False

    def sending(self, now: float) -> None:
        """Something is handed to the client."""
        self._sending = now

    def sent(self, now: float) -> None:
        """The client took it."""
        self._sending = None
        self.heard(now)

    def ping_due(self, now: float, listening: bool) -> bool:
        """Whether to ping: not behind data that waits, and not twice while an answer can come.

        Where none can come, writing at least shows whether the other host has cut the connection.
        """
        return (self._sending is None and now - self._pinged >= self._interval
                and not (listening and self._unanswered))

    def pinged(self, now: float, answers: bool) -> None:
        """
        :param answers: a sign must follow
        """
        self._pinged = now
        self._unanswered = answers

    def lost(self, now: float, listening: bool) -> bool:
        """Whether the client is gone.

        :param listening: False: signs of it wait, as what it sent before waits for the node
        """
        if self._sending is not None:
            return now - self._sending > self._interval + self._timeout
        return listening and self._unanswered and now - self._pinged > self._timeout
