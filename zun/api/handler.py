# SPDX-License-Identifier: Apache-2.0
"""How an operation is declared, and what surrounds every one of them.

An operation is a function with two decorators: :func:`operation` says where it is found, what it
takes and who may use it, :func:`versioned` since and until when. What surrounds it checks, in this
order: media type, query, body, existence, policy, gates of versions.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import json
import threading
import typing as ty

import webob

from zun.api import documents
from zun.api import long_texts
from zun.api import microversions
from zun.api import request as api_request
from zun.api.schemas import schema as api_schema
from zun.common import context as zun_context
from zun.common import exception
from zun.common import policy
import zun.conf

CONF = zun.conf.CONF

#: In a path: everything up to the next fixed segment, slashes included.
REST = '{image}'
BODY_LIMIT = 32 << 20
_TRUE = ('1', 't', 'true', 'on', 'y', 'yes')
_FALSE = ('0', 'f', 'false', 'off', 'n', 'no')

Json = dict[str, ty.Any]
Find = collections.abc.Callable[['Call', str], ty.Any]


@dataclasses.dataclass
class Call:
    """One use of an operation.

    :ivar context: who asks
    :ivar host_url: scheme and host of the request, for links
    :ivar query: parameters of the query string as they are
    :ivar given: parameters of the body, or of query and body, as they are
    :ivar values: Python's values of them, by the operation's schemas
    :ivar suffixed: the last ident of the path with its ``.json``, when it had one
    :ivar location: set by the function: where what it made is found
    """

    context: zun_context.RequestContext
    version: microversions.Version
    host_url: str
    query: api_request.Parameters
    given: api_request.Parameters = dataclasses.field(default_factory=dict)
    values: Json = dataclasses.field(default_factory=dict)
    suffixed: str | None = None
    location: str | None = None


@dataclasses.dataclass(frozen=True)
class Operation:
    """One method of one path.

    :ivar id: unique; ``<resource>.<verb>``
    :ivar path: with ``{name}`` for idents
    :ivar status: of success
    :ivar policy: rule that is enforced, on what ``find`` finds, else on the caller
    :ivar find: looks up what the path names; the function gets it after the call
    :ivar all_projects: rule for the parameter of that name, which widens the look-up
    :ivar query: schema of the query string alone
    :ivar body: schema of the body alone
    :ivar arguments: schema of query and body together
    :ivar parameters: names of query parameters that have no schema
    :ivar aside: member of the body that its schema does not know
    :ivar json_only: refuse other media types
    :ivar hidden_methods: methods for which there is nothing at this path
    :ivar large: it moves a large file: texts of the body may have the character U+0000 and come as
        ``long_texts.LongText``, and only ``[api]/max_archives`` are served at a time
    :ivar answer: what success answers, for the documentation
    """

    id: str
    method: str
    path: str
    function: collections.abc.Callable[..., ty.Any]
    summary: str
    status: int = 200
    policy: str | None = None
    find: Find | None = None
    all_projects: str | None = None
    query: api_schema.Schema | None = None
    body: api_schema.Schema | None = None
    arguments: api_schema.Schema | None = None
    parameters: tuple[str, ...] = ()
    aside: str | None = None
    json_only: bool = False
    hidden_methods: frozenset[str] = frozenset()
    large: bool = False
    answer: str = 'null'
    body_limit: int = BODY_LIMIT
    since: microversions.Version = microversions.MIN
    until: microversions.Version | None = None

    @functools.cached_property
    def template(self) -> tuple[str, ...]:
        """The segments of the path."""
        return tuple(self.path.split('/')) if self.path else ()

    def known_at(self, version: microversions.Version) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)


_operations: dict[str, list[Operation]] = {}


def operations_of(collection: str) -> list[Operation]:
    """The operations under a first segment."""
    return _operations.get(collection, [])


def all_operations() -> list[Operation]:
    """Every operation, by path and method."""
    found = [operation for group in _operations.values() for operation in group]
    return sorted(found, key=lambda operation: (operation.path, operation.method))


def register(operation: Operation) -> None:
    """Make an operation known to the router."""
    _operations.setdefault(operation.path.split('/', 1)[0], []).append(operation)


_F = ty.TypeVar('_F', bound=collections.abc.Callable[..., ty.Any])


def operation(identifier: str, method: str, path: str,
              **attributes: ty.Any) -> collections.abc.Callable[[_F], _F]:
    """Declare a function as an operation; attributes as of :class:`Operation`."""
    def decorate(function: _F) -> _F:
        since, until = getattr(function, 'versions', (microversions.MIN, None))
        register(Operation(identifier, method, path, function, since=since, until=until,
                           **attributes))
        return function
    return decorate


def versioned(since: str, until: str | None = None) -> collections.abc.Callable[[_F], _F]:
    """Say which versions know an operation; written below :func:`operation`."""
    def decorate(function: _F) -> _F:
        function.versions = (  # type: ignore[attr-defined]
            microversions.parse(since), None if until is None else microversions.parse(until))
        return function
    return decorate


def parse_boolean(value: ty.Any, names: str) -> bool:
    """A parameter that is true or false; absent and empty are false.

    :param names: of the parameters, for the message
    :raises InvalidValue: it is another text
    """
    if value is None or value == '':
        return False
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise exception.InvalidValue(
        f'Valid {names} values are: {", ".join(_TRUE)}, {", ".join(_FALSE)}')


def run(operation: Operation, request: api_request.Request, idents: dict[str, str],
        context: zun_context.RequestContext, suffixed: str | None = None) -> webob.Response:
    """Answer a request.

    :raises ZunException: it is refused
    """
    with contextlib.ExitStack() as undo:
        if operation.large:
            undo.enter_context(_place())
            request.lift_long_texts(undo)
        return _run(operation, request, idents, context, suffixed)


_large = threading.Lock()
_large_ones = 0


@contextlib.contextmanager
def _place() -> collections.abc.Iterator[None]:
    """A place among the operations that move a large file. :raises PoolFull: none is free"""
    global _large_ones
    with _large:
        if _large_ones >= CONF.api.max_archives:
            raise exception.PoolFull(pool='archives')
        _large_ones += 1
    try:
        yield
    finally:
        with _large:
            _large_ones -= 1


def _run(operation: Operation, request: api_request.Request, idents: dict[str, str],
         context: zun_context.RequestContext, suffixed: str | None) -> webob.Response:
    if operation.json_only and request.content_type != api_request.JSON:
        raise exception.UnsupportedMediaType(expected=api_request.JSON)
    call = Call(context, request.version or microversions.MIN, request.host_url, request.query,
                suffixed=suffixed)
    checked = _check(operation, call, request)
    if operation.all_projects:
        _widen(call, operation.all_projects)
    found = [operation.find(call, *idents.values())] if operation.find else list(idents.values())
    if operation.policy:
        policy.enforce(context, operation.policy, _target(operation, found, idents))
    for schema, instance in checked:
        call.values.update(schema.convert(instance))
    return _answer(operation, call, operation.function(call, *found))


def _check(operation: Operation, call: Call,
           request: api_request.Request) -> list[tuple[api_schema.Compiled, Json]]:
    """Refuse parameters that do not match; each schema with what it has to convert."""
    documents.refuse_nul(call.query)
    checked: list[tuple[api_schema.Compiled, Json]] = []
    if operation.query:
        schema = operation.query.at(call.version)
        schema.check(call.query, queried=call.query)
        checked.append((schema, call.query))
    if operation.body:
        schema = operation.body.at(call.version)
        call.given = dict(request.document())
        instance = {name: value for name, value in call.given.items() if name != operation.aside}
        documents.refuse_nul(instance)
        schema.check(instance)
        checked.append((schema, instance))
    if operation.arguments:
        schema = operation.arguments.at(call.version)
        call.given = request.arguments()
        if not operation.large:
            documents.refuse_nul(call.given)
        schema.check(call.given, queried=call.query.keys() - request.document().keys())
        checked.append((schema, call.given))
    return checked


def _widen(call: Call, rule: str) -> None:
    given = {**call.query, **call.given}
    if parse_boolean(given.get('all_projects'), 'all_projects'):
        policy.enforce(call.context, rule)
        call.context.all_projects = True


def _target(operation: Operation, found: list[ty.Any], idents: dict[str, str]) -> Json | None:
    """What a rule is about: the row, the project that the path names, or the caller."""
    if operation.find:
        return {'project_id': found[0].project_id, 'user_id': found[0].user_id}
    return {'project_id': idents['project_id']} if 'project_id' in idents else None


def _answer(operation: Operation, call: Call, result: ty.Any) -> webob.Response:
    if long_texts.is_long(result):
        return long_texts.Response(result, operation.status)
    response = webob.Response(status=operation.status)
    if operation.status == 204:
        response.content_type = None
    else:
        response.content_type = api_request.JSON
        response.body = json.dumps(result).encode()
    if call.location:
        # WebOb would complete a relative one; this one is complete.
        response.headers['Location'] = call.location
    return response
