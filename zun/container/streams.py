# SPDX-License-Identifier: Apache-2.0
"""What an engine offers for consoles: bytes of a container, of a command in it, or of its log.

Streams belong to one asyncio loop. Errors are those of :mod:`zun.container.driver`.
"""

import abc
import collections.abc
import dataclasses


@dataclasses.dataclass(frozen=True)
class LogWindow:
    """Which part of the log is followed.

    :ivar tail: lines from the end to begin with; None: all
    :ivar since: seconds since the epoch
    """

    stdout: bool = True
    stderr: bool = True
    timestamps: bool = False
    tail: int | None = None
    since: str | None = None


class Stream(abc.ABC):
    """Bytes both ways."""

    @abc.abstractmethod
    async def read(self) -> bytes:
        """The next output of all its streams, at most 32 KiB; empty at the end.

        Nothing is lost when the caller gives up waiting.

        :raises EngineUnavailable: the connection broke
        """

    @abc.abstractmethod
    async def write(self, data: bytes) -> None:
        """Input; it waits while the engine takes no more.

        :raises EngineUnavailable: the connection broke
        """

    @abc.abstractmethod
    async def resize(self, height: int, width: int) -> None:
        """Size of the terminal in rows and columns.

        :raises Invalid: what it belongs to has ended
        """

    @abc.abstractmethod
    async def exit_code(self) -> int | None:
        """Of a command that has ended; None for all else."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Let go. A command that still runs gets an end of input, then SIGHUP, then SIGKILL."""


class Streams(abc.ABC):
    """Opens streams."""

    @abc.abstractmethod
    async def attach(self, uuid: str, tty: bool) -> Stream:
        """Input and output of a container, from now on.

        :raises Conflict: it does not run
        """

    @abc.abstractmethod
    async def create_exec(self, uuid: str, command: collections.abc.Sequence[str],
                          interactive: bool) -> str:
        """Prepare a command; the engine's id of it.

        :param interactive: with input and a terminal
        :raises Conflict: the container does not run
        """

    @abc.abstractmethod
    async def start_exec(self, engine_id: str, interactive: bool) -> Stream:
        """Run what was prepared.

        :param interactive: as it was prepared
        """

    @abc.abstractmethod
    async def logs(self, uuid: str, tty: bool, window: LogWindow) -> Stream:
        """The log of a container, as it grows until the container ends."""

    @abc.abstractmethod
    async def end_exec(self, engine_id: str) -> None:
        """See that a command, which nobody is connected to, ends; one that is gone is success."""
