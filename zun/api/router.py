# SPDX-License-Identifier: Apache-2.0
"""From a path to an operation.

The leading ``v1`` may be missing, a trailing slash and ``.json`` may be there, and an empty segment
behind the collection does not count: clients build such paths.
"""

import dataclasses
import typing as ty

from webob import exc

from zun.api import handler

VERSION_SEGMENT = 'v1'
_SUFFIX = '.json'
_NUL = '\0'
#: The end of another path, which is no ident.
_NO_IDENTS = {'{project_id}': 'defaults'}


@dataclasses.dataclass(frozen=True)
class Match:
    """
    :ivar idents: what stands in the path for each name in braces
    :ivar suffixed: the last ident as it was with its ``.json``, when it had one
    """

    operation: handler.Operation
    idents: dict[str, str]
    suffixed: str | None = None


def segments(path: str) -> tuple[str, ...]:
    """The parts of a path, without trailing slash.

    >>> segments('/v1/containers//c1/')
    ('v1', 'containers', 'c1')
    """
    parts = path.removeprefix('/').removesuffix('/').split('/')
    if parts == ['']:
        return ()
    fixed = 2 if parts[0] == VERSION_SEGMENT else 1
    return tuple(parts[:fixed] + [part for part in parts[fixed:] if part])


def _bind(template: tuple[str, ...], parts: tuple[str, ...]) -> dict[str, str] | None:
    """The idents of a path that a template describes, else None."""
    if handler.REST in template:
        at = template.index(handler.REST)
        after = len(template) - at - 1
        middle = parts[at:len(parts) - after]
        if not middle:
            return None
        parts = (*parts[:at], '/'.join(middle), *parts[len(parts) - after:])
    if len(template) != len(parts):
        return None
    idents = {}
    for wanted, part in zip(template, parts, strict=True):
        if wanted.startswith('{') and _NO_IDENTS.get(wanted) != part:
            idents[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return idents


def is_versioned(path: str) -> bool:
    """Whether a version is negotiated for this path: for all but the root."""
    return path not in ('', '/')


def match(method: str, path: str) -> Match:
    """The operation of a request.

    :raises webob.exc.HTTPNotFound: there is nothing at that path
    :raises webob.exc.HTTPMethodNotAllowed: there is, for other methods
    """
    parts = segments(path)
    plain, suffixed = parts, None
    if parts and parts[-1].endswith(_SUFFIX):
        suffixed = parts[-1]
        plain = (*parts[:-1], suffixed.removesuffix(_SUFFIX))
    if not all(plain) or _NUL in path or plain[:2] == (VERSION_SEGMENT,) * 2:
        raise exc.HTTPNotFound()
    if plain[:1] == (VERSION_SEGMENT,) and len(plain) > 1:
        plain = plain[1:]
    others: set[str] = set()
    for operation in handler.operations_of(plain[0] if plain else ''):
        idents = _bind(operation.template, plain)
        if idents is None:
            continue
        if operation.method == method:
            ends_in_ident = operation.template[-1:] and operation.template[-1].startswith('{')
            return Match(operation, idents, suffixed if ends_in_ident else None)
        if method in operation.hidden_methods:
            raise exc.HTTPNotFound()
        others.add(operation.method)
    if others:
        raise exc.HTTPMethodNotAllowed(headers=[('Allow', ', '.join(sorted(others)))])
    raise _unknown(plain)


def _unknown(parts: tuple[str, ...]) -> exc.HTTPException:
    """A known collection has no such method, or there is no such thing."""
    collection: ty.Sequence[handler.Operation] = handler.operations_of(parts[0])
    if len(parts) == 2 and collection:
        return exc.HTTPMethodNotAllowed()
    return exc.HTTPNotFound()
