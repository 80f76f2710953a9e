# SPDX-License-Identifier: Apache-2.0
"""What happens around every request: who asks, errors, headers of versions."""

import typing as ty

from oslo_middleware import request_id
from pecan import hooks
import webob

from zun.api import errors
from zun.api import microversions
from zun.common import context as zun_context
from zun.common import policy

_CONTEXT = 'zun.context'


def make_context(environ: dict[str, ty.Any]) -> zun_context.RequestContext:
    """The context of a request, from what the middleware has put into its environment."""
    context = zun_context.RequestContext.from_environ(
        environ, request_id=environ.get(request_id.ENV_REQUEST_ID),
        global_request_id=environ.get(request_id.GLOBAL_REQ_ID), is_admin=False)
    context.is_admin = policy.context_is_admin(context)
    return context


def context_of(environ: dict[str, ty.Any]) -> zun_context.RequestContext:
    """The context that :class:`ContextHook` has made."""
    return environ[_CONTEXT]


class ContextHook(hooks.PecanHook):
    """Makes the context, once for each request."""

    def before(self, state: ty.Any) -> None:
        state.request.environ[_CONTEXT] = make_context(state.request.environ)


class ErrorHook(hooks.PecanHook):
    """Turns whatever was raised into an answer."""

    def on_error(self, state: ty.Any, error: Exception) -> webob.Response:
        return errors.response(error)


class VersionHook(hooks.PecanHook):
    """Says which version was used, once it is known."""

    def after(self, state: ty.Any) -> None:
        if state.request.version is not None:
            state.response.headers.update(microversions.headers(state.request.version))
