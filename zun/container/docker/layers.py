# SPDX-License-Identifier: Apache-2.0
"""How far the engine is with a pull, from the messages that it writes meanwhile."""

import typing as ty

_TITLE = 'Pulling from'
_DONE = frozenset({'Pull complete', 'Already exists'})
_LOADED = 'Download complete'
_LOADING = 'Downloading'
_MB = 1000000


class Layers:
    """The layers of one image.

    >>> layers = Layers()
    >>> for message in ({'id': 'latest', 'status': 'Pulling from library/nginx'},
    ...                 {'id': 'a', 'status': 'Already exists'},
    ...                 {'id': 'b', 'status': 'Downloading',
    ...                  'progressDetail': {'current': 2000000, 'total': 5000000}}):
    ...     layers.feed(message)
    >>> str(layers)
    'pulling 1/2, 2/5 MB'
    """

    def __init__(self) -> None:
        self._done: dict[str, bool] = {}
        #: Bytes that are there, and all, of those layers whose size is known.
        self._bytes: dict[str, tuple[int, int]] = {}

    def feed(self, message: dict[str, ty.Any]) -> None:
        """Take one message of the engine; those that are not of a layer say nothing."""
        layer, status = message.get('id'), message.get('status') or ''
        if not layer or status.startswith(_TITLE):
            return
        self._done[layer] = self._done.get(layer, False) or status in _DONE
        detail = message.get('progressDetail') or {}
        if status == _LOADING and detail.get('total'):
            self._bytes[layer] = detail.get('current') or 0, detail['total']
        elif status == _LOADED and layer in self._bytes:
            self._bytes[layer] = (self._bytes[layer][1],) * 2

    def __str__(self) -> str:
        """In at most 50 characters."""
        text = f'pulling {sum(self._done.values())}/{len(self._done)}'
        if self._bytes:
            there, wanted = (sum(column) // _MB for column in zip(
                *self._bytes.values(), strict=True))
            text += f', {there}/{wanted} MB'
        return text
