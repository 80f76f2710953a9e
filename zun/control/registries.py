# SPDX-License-Identifier: Apache-2.0
"""Registries of users."""

import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import crypt
from zun.common import exception
from zun.common import image_name
import zun.conf

CONF = zun.conf.CONF

#: Rows that are read at a time.
_PAGE = 500

Context = zun_context.RequestContext


def find(context: Context, ident: str) -> 'objects.Registry':
    """The registry of a uuid or name that the caller may see.

    :raises RegistryNotFound: there is none
    :raises Conflict: several of one name
    """
    if uuidutils.is_uuid_like(ident):
        return objects.Registry.get_by_uuid(context, ident)
    return objects.Registry.get_by_name(context, ident)


def create(context: Context, values: dict[str, ty.Any]) -> 'objects.Registry':
    """
    :param values: domain; name, username, password
    :raises InvalidValue: the domain is no host of a registry
    :raises OperationNotSupported: a password, which anybody could decrypt
    """
    _check(values)
    registry = objects.Registry(
        context, uuid=uuidutils.generate_uuid(), project_id=context.project_id,
        user_id=context.user_id, **values)
    registry.create(context)
    return registry


def update(context: Context, registry: 'objects.Registry',
           values: dict[str, ty.Any]) -> 'objects.Registry':
    """Change some of domain, name, username, password.

    :raises InvalidValue: the domain is no host of a registry
    :raises OperationNotSupported: a password, which anybody could decrypt
    """
    _check(values)
    for name, value in values.items():
        setattr(registry, name, value)
    registry.save()
    return registry


def delete(context: Context, registry: 'objects.Registry') -> None:
    """:raises Conflict: a container uses it"""
    registry.destroy()


def renew_passwords(context: Context) -> tuple[int, list[str]]:
    """Put all passwords that the context sees under the newest key, while services run.

    :returns: how many were put there, and the uuids of registries whose password no key opens
    """
    count, lost = 0, []
    marker: objects.Registry | None = None
    while page := objects.Registry.list(context, limit=_PAGE, marker=marker):
        for registry in page:
            try:
                count += registry.renew_password()
            except exception.InvalidEncryptionKey:
                lost.append(registry.uuid)
        marker = page[-1]
    return count, lost


def _check(values: dict[str, ty.Any]) -> None:
    domain = values.get('domain')
    if domain is not None and not image_name.is_domain(domain):
        raise exception.InvalidValue(
            f"domain: '{domain}' is no host of a registry: it is a name with a dot or a port, or "
            'localhost.')
    if values.get('password') and crypt.is_public() and not CONF.allow_default_encryption_key:
        raise exception.OperationNotSupported(
            'This cloud keeps no passwords of registries: it has no encryption key of its own.')
