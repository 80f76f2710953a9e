# SPDX-License-Identifier: Apache-2.0
"""Finding what a path names, by uuid or name; administrators find it in every project."""

import collections.abc
import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.api import handler
from zun.common import context as zun_context
from zun.common import exception

Kind = type[ty.Any]


def scope(call: handler.Call) -> zun_context.RequestContext:
    """The context for reading one row: administrators need not ask for all projects."""
    return call.context.elevated() if call.context.is_admin else call.context


def first(call: handler.Call, ident: str,
          get: collections.abc.Callable[[str], ty.Any]) -> ty.Any:
    """What ``get`` finds: by the last segment with its ``.json``, if it had one, or without it.

    :raises NotFound: for the ident without suffix
    """
    if call.suffixed is not None:
        try:
            return get(call.suffixed)
        except exception.ZunException as error:
            if not isinstance(error, exception.NotFound | exception.ImageNotFound):
                raise
    return get(ident)


def by_ident(kind: Kind) -> handler.Find:
    """A look-up of objects of this class by uuid or name."""
    def find(call: handler.Call, ident: str) -> ty.Any:
        context = scope(call)

        def get(text: str) -> ty.Any:
            if uuidutils.is_uuid_like(text):
                return kind.get_by_uuid(context, text)
            return kind.get_by_name(context, text)
        return first(call, ident, get)
    return find


container = by_ident(objects.Container)
capsule = by_ident(objects.Capsule)
registry = by_ident(objects.Registry)


def host(call: handler.Call, ident: str) -> 'objects.ComputeNode':
    """A compute node by uuid or host name. :raises ComputeNodeNotFound"""
    return by_ident(objects.ComputeNode)(call, ident)


def image(call: handler.Call, ident: str) -> 'objects.Image':
    """An image by uuid; names do not find images. :raises ImageNotFound"""
    return first(call, ident, lambda text: objects.Image.get_by_uuid(scope(call), text))
