# SPDX-License-Identifier: Apache-2.0
"""How an operation takes back what it did."""

import collections.abc
import typing as ty

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

_Step = tuple[str, collections.abc.Callable[..., ty.Any], tuple[ty.Any, ...]]


class Undo:
    """Steps that are pushed before what they undo is done, and run newest first.

    Each step finds what it removes by the container's uuid, and is content when there is nothing.
    """

    def __init__(self, uuid: str) -> None:
        self._uuid = uuid
        self._steps: list[_Step] = []

    def push(self, what: str, function: collections.abc.Callable[..., ty.Any],
             *args: ty.Any) -> None:
        """
        :param what: what is undone, for the log
        """
        self._steps.append((what, function, args))

    def run(self) -> list[str]:
        """Run the steps; a failing one does not keep the others from it.

        :returns: what could not be undone
        """
        left = []
        while self._steps:
            what, function, args = self._steps.pop()
            try:
                function(*args)
            except Exception as error:  # noqa: BLE001 - the error that led here is the one to tell
                LOG.warning('Container %s: the %s could not be undone: %s', self._uuid, what,
                            error)
                left.append(what)
        return left
