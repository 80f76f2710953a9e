# SPDX-License-Identifier: Apache-2.0
"""Image registries of projects."""

import collections.abc
import typing as ty

from oslo_versionedobjects import fields

from zun.common import crypt
from zun.db import lists
from zun.db import registries
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class Registry(versioned.Persistent):
    """A registry that wants a login.

    ``password`` is plain only from its assignment until it is stored; as read it is a Fernet token,
    so that a list needs no key.
    """

    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(nullable=True),
        'name': fields.StringField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'domain': fields.StringField(),
        'username': fields.StringField(nullable=True),
        'password': fields.StringField(nullable=True),
    }

    def changed_columns(self) -> versioned.Values:
        changed = super().changed_columns()
        if changed.get('password') is not None:
            changed['password'] = crypt.encrypt(changed['password'])
        return changed

    def plain_password(self) -> str | None:
        """The password itself, for the node that logs in.

        :raises InvalidEncryptionKey: no configured key opens it
        """
        if self.password is None or 'password' in self.obj_what_changed():
            return self.password
        return crypt.decrypt(self.password)

    def renew_password(self) -> bool:
        """Put the stored password under the newest key; False when there was nothing to do.

        :raises InvalidEncryptionKey: no configured key opens it
        """
        if not self.password:
            return False
        token = crypt.renewed(self.password)
        return token != self.password and registries.swap_password(
            self.uuid, self.password, token)

    def create(self, context: Context) -> None:
        """:raises RegistryAlreadyExists: its uuid"""
        self._context = context
        self.stored(registries.create(self.changed_columns()))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, if any did. :raises RegistryNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored({**changed, **registries.update(self.uuid, changed)})

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it; False when it was gone already. :raises Conflict: a container uses it"""
        return registries.destroy(self.uuid)

    @classmethod
    def get_by_id(cls, context: Context, ident: int) -> 'Registry':
        """:raises RegistryNotFound: none that the caller may see"""
        return cls.from_row(context, registries.get(context, 'id', ident))

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> 'Registry':
        """:raises RegistryNotFound: none that the caller may see"""
        return cls.from_row(context, registries.get(context, 'uuid', uuid))

    @classmethod
    def get_by_name(cls, context: Context, name: str) -> 'Registry':
        """:raises RegistryNotFound: none that the caller may see
        :raises Conflict: several
        """
        return cls.from_row(context, registries.get(context, 'name', name))

    @staticmethod
    def uuids(context: Context, idents: collections.abc.Iterable[int | None]) -> dict[int, str]:
        """id -> uuid for many containers, in one query; None is left out."""
        return registries.uuids({ident for ident in idents if ident is not None})

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[Registry]':
        """A page of the registries that the caller may see, in one query.

        :param filters: of name, domain, username, project_id, user_id; a list means any of them
        :raises RegistryNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls.from_row(context, row) for row in registries.list_page(context, page, filters)]
