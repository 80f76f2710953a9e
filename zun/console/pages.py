# SPDX-License-Identifier: Apache-2.0
"""The terminal page and what it is made of: files of this package."""

import importlib.resources
import typing as ty

from websockets import datastructures
from websockets import http11

_TYPES = {'html': 'text/html; charset=utf-8', 'js': 'text/javascript; charset=utf-8',
          'css': 'text/css; charset=utf-8', 'mjs': 'text/javascript; charset=utf-8'}
_PAGE = 'index.html'
_ASSETS = ('terminal.js', 'terminal.css', 'xterm.mjs', 'xterm.css', 'addon-fit.mjs')
_HEADERS = {
    # The emulator makes style elements of its own.
    'Content-Security-Policy': "default-src 'none'; script-src 'self'; "
                               "style-src 'self' 'unsafe-inline'; img-src data:; "
                               "connect-src 'self' ws: wss:; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
}
#: Where the page asks why a ticket was refused.
TICKET = '/ticket'
_STATIC = '/static/'


class File(ty.NamedTuple):
    body: bytes
    kind: str


def load() -> dict[str, File]:
    """The files by name."""
    folder = importlib.resources.files('zun.console') / 'static'
    return {name: File((folder / name).read_bytes(), _TYPES[name.rpartition('.')[2]])
            for name in (_PAGE, *_ASSETS)}


def find(target: str) -> str | None:
    """The name of the file for a request; None when there is none.

    Any prefix is accepted: what is in front may have put one there.
    """
    path = target.partition('?')[0]
    if path.endswith('/'):
        return _PAGE
    head, _, name = path.rpartition('/')
    return name if f'{head}/'.endswith(_STATIC) and name in _ASSETS else None


def answer(file: File) -> http11.Response:
    """A response with a file."""
    headers = datastructures.Headers({
        'Content-Type': file.kind, 'Content-Length': str(len(file.body)), 'Connection': 'close',
        'Cache-Control': 'no-cache', **_HEADERS})
    return http11.Response(200, 'OK', headers, file.body)
