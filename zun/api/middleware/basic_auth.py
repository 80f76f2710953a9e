# SPDX-License-Identifier: Apache-2.0
"""Users of a password file, for installations without Keystone.

The file has Apache's htpasswd format with bcrypt hashes. All users share one project; ``admin`` is
the administrator.
"""

import collections.abc
import hmac
import os
import secrets
import typing as ty

from oslo_middleware import basic_auth
from webob import exc

from zun.api import errors

PROJECT = 'default'
ADMINISTRATOR = 'admin'
_DOMAIN = 'default'
_ROLES = 'member,reader'
_CHALLENGE = 'Basic realm="zun"'
_REMEMBERED = 1024

Wsgi = collections.abc.Callable[..., ty.Any]
Environ = dict[str, ty.Any]


def identity(user: str) -> Environ:
    """What the API reads about a user."""
    return {
        'HTTP_X_USER_ID': user, 'HTTP_X_USER_NAME': user,
        'HTTP_X_PROJECT_ID': PROJECT, 'HTTP_X_PROJECT_NAME': PROJECT,
        'HTTP_X_USER_DOMAIN_ID': _DOMAIN, 'HTTP_X_PROJECT_DOMAIN_ID': _DOMAIN,
        'HTTP_X_ROLES': f'admin,{_ROLES}' if user == ADMINISTRATOR else _ROLES,
    }


class BasicAuthMiddleware:
    """
    :param is_public: whether nobody has to identify himself for a path
    :param forget_identity: removes what the client says about itself
    """

    def __init__(self, app: Wsgi, user_file: str,
                 is_public: collections.abc.Callable[[str], bool],
                 forget_identity: collections.abc.Callable[[Environ], None]) -> None:
        basic_auth.validate_auth_file(user_file)
        self._app = app
        self._file = user_file
        self._is_public = is_public
        self._forget_identity = forget_identity
        self._secret = secrets.token_bytes()
        self._accepted: dict[bytes, int] = {}

    def __call__(self, environ: Environ, start_response: Wsgi) -> ty.Any:
        self._forget_identity(environ)
        if not self._is_public(environ.get('PATH_INFO', '')):
            try:
                environ.update(identity(self._user(environ)))
            except exc.HTTPException as error:
                refused = errors.response(exc.HTTPUnauthorized(error.detail))
                refused.headers['WWW-Authenticate'] = _CHALLENGE
                return refused(environ, start_response)
        return self._app(environ, start_response)

    def _user(self, environ: Environ) -> str:
        """The user whose password was sent.

        A hash costs so much to check that a password is checked once for each state of the file.

        :raises webob.exc.HTTPException: there is no such user, or it is not his password
        """
        token = basic_auth.parse_header(environ)
        user, password = basic_auth.parse_token(token)
        digest = hmac.digest(self._secret, token.encode(), 'sha256')
        changed = os.stat(self._file).st_mtime_ns
        if self._accepted.get(digest) != changed:
            try:
                basic_auth.authenticate(self._file, user, password)
            except ValueError:
                raise exc.HTTPUnauthorized('The password is too long.') from None
            if len(self._accepted) >= _REMEMBERED:
                self._accepted.clear()
            self._accepted[digest] = changed
        return user
