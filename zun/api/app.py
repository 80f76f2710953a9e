# SPDX-License-Identifier: Apache-2.0
"""The WSGI application, without the middleware in front of it."""

import typing as ty

import pecan

from zun.api import controllers
from zun.api import hooks
from zun.api import request
from zun.common import policy


def make_app() -> ty.Any:
    """The API itself. Rules of the policy are read anew."""
    policy.reset()
    return pecan.make_app(
        controllers.Root(), request_cls=request.Request, debug=False, force_canonical=False,
        guess_content_type_from_ext=False, default_renderer='json',
        hooks=[hooks.ContextHook(), hooks.ErrorHook(), hooks.VersionHook()])


def app_factory(_global_conf: dict[str, str], **_local_conf: str) -> ty.Any:
    """For the paste file: ``paste.app_factory = zun.api.app:app_factory``."""
    return make_app()
