# SPDX-License-Identifier: Apache-2.0
"""What an error answer of the engine means: by its status, then by the exact shape of its text.

Texts carry ids and names that users choose, so that no part of one is ever searched for a number.
"""

import collections.abc
import contextlib
import re

from zun.common import exception

_ID = re.compile(r'(?:(?<=[\s("])|^)/?[0-9a-f]{64}\b:?\s*')
_NO_CONTAINER = re.compile(r'no such container: /?(\S+)', re.IGNORECASE)
_NAME_IN_USE = re.compile(r'container name "/?[^"]+" is already in use')
_BLOCK_IN_USE = re.compile(r'Pool overlaps with other one|networks have overlapping IPv')
_IN_REMOVAL = re.compile(
    r'removal of container \S+ is already in progress|is marked for removal', re.IGNORECASE)
_NO_SPACE = re.compile(r'no space left on device', re.IGNORECASE)
_LIMIT_BELOW_USE = re.compile(r'unable to set memory limit to|memory\.\S+: device or resource busy')

#: Texts that say more than the status they come with, which is mostly 500.
_SHAPES: tuple[tuple[re.Pattern[str], type[exception.ZunException]], ...] = tuple(
    (re.compile(pattern), kind) for pattern, kind in (
        (r'is not (paused|running)\.?$', exception.Conflict),
        (r'is already paused$', exception.Conflict),
        (r'container rootfs is marked read-only$', exception.Conflict),
        (r'logging driver does not support reading$', exception.Conflict),
        (r'does not support signal \d+$', exception.Invalid),
        (r'^extraction point is not a directory$', exception.Invalid),
        (r'^Error processing tar file.*(invalid tar header|unexpected EOF)$', exception.Invalid),
        (r'is outside of ', exception.Invalid),
        (r'disk quota exceeded$', exception.Conflict),  # the container's own disk
        (r"^ps: |^Couldn't find PID field in ps output$", exception.Invalid),
        (r'^--storage-opt is (supported only|not supported)', exception.Invalid),
        (r'the minimum allowed cpu-shares is', exception.Invalid),
    ))

_BY_STATUS: dict[int, type[exception.ZunException]] = {
    400: exception.Invalid, 401: exception.Conflict, 403: exception.Conflict,
    404: exception.NotFound, 406: exception.Invalid, 409: exception.Conflict,
    413: exception.Invalid, 501: exception.Conflict,
}


class Refusal(Exception):
    """The engine answered with an error status.

    :ivar message: its text as it came
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f'{status} {message}')
        self.status = status
        self.message = message

    @property
    def name_in_use(self) -> bool:
        """Another container bears the name."""
        return self.status == 409 and bool(_NAME_IN_USE.search(self.message))

    @property
    def block_in_use(self) -> bool:
        """Another network has addresses of the wanted block."""
        return self.status in (403, 409) and bool(_BLOCK_IN_USE.search(self.message))

    @property
    def no_space(self) -> bool:
        """A disk is full."""
        return self.status >= 500 and bool(_NO_SPACE.search(self.message))

    @property
    def in_removal(self) -> bool:
        """Somebody else is removing the container."""
        return self.status == 409 and bool(_IN_REMOVAL.search(self.message))

    def is_gone(self, name: str) -> bool:
        """Whether the engine says that it has no container of this very name.

        A start may also be refused with 404 for want of a network, an image or another container.
        """
        found = _NO_CONTAINER.search(self.message) if self.status == 404 else None
        return found is not None and found.group(1) == name


def readable(message: str) -> str:
    """The engine's text in one line, without ids.

    >>> readable('Container ' + 'a' * 64 + ' is not paused')
    'Container is not paused'
    """
    return ' '.join(_ID.sub('', message).split())


def translate(refusal: Refusal, name: str = '', uuid: str = '') -> exception.ZunException:
    """The exception that the callers of a driver know.

    :param name: what the call addressed the container by
    :param uuid: the container's uuid, for the message
    """
    if name and refusal.is_gone(name):
        return exception.EngineGone(container=uuid)
    text = readable(refusal.message)
    if _LIMIT_BELOW_USE.search(refusal.message):
        return exception.Conflict('The memory limit is below what the container uses now.')
    for shape, kind in _SHAPES:
        if shape.search(text):
            return kind(text)
    if refusal.no_space:
        return exception.DiskFull(error_msg=text)
    if refusal.status in _BY_STATUS:
        return _BY_STATUS[refusal.status](text)
    return exception.EngineUnavailable(f'The container engine failed: {text}')


@contextlib.contextmanager
def translated(name: str = '', uuid: str = '') -> collections.abc.Iterator[None]:
    """Turn a Refusal that leaves the block into what the callers of a driver know."""
    try:
        yield
    except Refusal as refusal:
        raise translate(refusal, name, uuid) from refusal
