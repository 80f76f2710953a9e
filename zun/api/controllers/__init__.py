# SPDX-License-Identifier: Apache-2.0
"""The root of the application: hands every request to the operation that its path names.

Importing this package declares all operations.
"""

import collections.abc
import typing as ty

import pecan
from webob import exc

from zun.api import handler
from zun.api import hooks
from zun.api import microversions
from zun.api import request as api_request
from zun.api import router
from zun.api.controllers import actions  # noqa: F401
from zun.api.controllers import availability_zones  # noqa: F401
from zun.api.controllers import capsules  # noqa: F401
from zun.api.controllers import container_actions  # noqa: F401
from zun.api.controllers import containers  # noqa: F401
from zun.api.controllers import hosts  # noqa: F401
from zun.api.controllers import images  # noqa: F401
from zun.api.controllers import networks  # noqa: F401
from zun.api.controllers import quota_classes  # noqa: F401
from zun.api.controllers import quotas  # noqa: F401
from zun.api.controllers import registries  # noqa: F401
from zun.api.controllers import services  # noqa: F401
from zun.api.controllers import versions  # noqa: F401

_MATCH = 'zun.match'


class Root:
    """Pecan's only controller; routes of its own are a table of operations."""

    @pecan.expose()
    def _route(self, _segments: ty.Any, request: api_request.Request) -> tuple[
            collections.abc.Callable[..., ty.Any], list[str]]:
        """Refuse, in this order: version, media type of the answer, path, method, length."""
        path = request.path_info
        if router.is_versioned(path):
            request.version = microversions.negotiate(request.headers.get(microversions.HEADER))
        if request.headers.get('Accept') and not request.accept.acceptable_offers(
                [api_request.JSON]):
            raise exc.HTTPNotAcceptable(f'Answers are {api_request.JSON}.')
        match = router.match(request.method, path)
        if request.version and not match.operation.known_at(request.version):
            raise exc.HTTPNotAcceptable(
                f'Version {request.version} was requested but the requested API is not '
                'supported for this version.')
        request.limit_body(match.operation.body_limit, later=match.operation.large)
        request.environ[_MATCH] = match
        return self.dispatch, []

    @pecan.expose(content_type=api_request.JSON)
    def dispatch(self, **_arguments: ty.Any) -> ty.Any:
        """Run the operation; it reads its parameters itself."""
        request = pecan.request
        match = request.environ[_MATCH]
        return handler.run(match.operation, request, match.idents,
                           hooks.context_of(request.environ), match.suffixed)
