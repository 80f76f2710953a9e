# SPDX-License-Identifier: Apache-2.0
"""Who may call at all: tokens of Keystone, or users of a password file.

For the paste file: ``paste.filter_factory =
zun.api.middleware.auth_token:AuthTokenMiddleware.factory``, with ``acl_public_routes``, the paths
for which nobody has to identify himself.
"""

import collections.abc
import re
import typing as ty

from keystonemiddleware import auth_token
from webob import exc

from zun.api import errors
from zun.api.middleware import basic_auth
import zun.conf

CONF = zun.conf.CONF

_FORMAT = r'(?:\.json)?'
_IDENTITY = re.compile(
    r'HTTP_(X_(SERVICE_)?(USER|PROJECT|TENANT|DOMAIN|ROLE|IDENTITY|IS_ADMIN).*'
    r'|OPENSTACK_SYSTEM_SCOPE)')

Wsgi = collections.abc.Callable[..., ty.Any]


def public_routes(texts: str) -> list[re.Pattern[str]]:
    """Patterns of the paths, separated by commas, that are open to everybody."""
    return [re.compile(route.strip().rstrip('/') + _FORMAT) for route in texts.split(',')
            if route.strip()]


def is_public(routes: collections.abc.Iterable[re.Pattern[str]], path: str) -> bool:
    """Whether a path, with or without a slash at its end, is open to everybody."""
    return any(route.fullmatch(path.rstrip('/')) for route in routes)


def forget_identity(environ: dict[str, ty.Any]) -> None:
    """Remove what only a middleware may say about the caller."""
    for name in [name for name in environ if _IDENTITY.fullmatch(name)]:
        del environ[name]


class AuthTokenMiddleware(auth_token.AuthProtocol):
    """Validates tokens, but for public paths."""

    def __init__(self, app: Wsgi, conf: dict[str, ty.Any],
                 routes: list[re.Pattern[str]]) -> None:
        self._routes = routes
        self._next = app
        super().__init__(app, conf)

    def __call__(self, environ: dict[str, ty.Any], start_response: Wsgi) -> ty.Any:
        if is_public(self._routes, environ.get('PATH_INFO', '')):
            forget_identity(environ)
            return self._next(environ, start_response)
        return super().__call__(environ, start_response)

    def process_request(self, request: ty.Any) -> ty.Any:
        try:
            return super().process_request(request)
        except exc.HTTPServiceUnavailable as error:
            return errors.response(error)

    @classmethod
    def factory(cls, global_config: dict[str, str],
                **local_conf: str) -> collections.abc.Callable[[Wsgi], Wsgi]:
        """The filter that ``[api]/auth_strategy`` asks for.

        :param local_conf: ``acl_public_routes``; others go to keystonemiddleware
        """
        routes = public_routes(local_conf.pop('acl_public_routes', ''))

        def with_users(app: Wsgi) -> Wsgi:
            return basic_auth.BasicAuthMiddleware(
                app, CONF.api.http_basic_auth_user_file,
                lambda path: is_public(routes, path), forget_identity)

        def with_tokens(app: Wsgi) -> Wsgi:
            return cls(app, {**global_config, **local_conf}, routes)

        return with_users if CONF.api.auth_strategy == 'http_basic' else with_tokens
