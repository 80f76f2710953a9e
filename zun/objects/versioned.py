# SPDX-License-Identifier: Apache-2.0
"""What all objects have in common.

There is no indirection: every process opens the database itself, and methods run where they are
called.
"""

import collections.abc
import typing as ty

from oslo_versionedobjects import base
from oslo_versionedobjects import exception as ovo_exc
from oslo_versionedobjects import fields as ovo_fields

from zun.common import context as zun_context
from zun.db import rows

Context = zun_context.RequestContext
Values = dict[str, ty.Any]
register = base.VersionedObjectRegistry.register


class ZunObject(base.VersionedObject):
    """An object of our own name space."""

    OBJ_PROJECT_NAMESPACE = 'zun'
    OBJ_SERIAL_NAMESPACE = 'zun_object'

    if ty.TYPE_CHECKING:
        def __setattr__(self, name: str, value: ty.Any) -> None: ...

        def __getattr__(self, name: str) -> ty.Any:
            """Fields become properties when a class is registered."""

    def as_dict(self) -> Values:
        """The fields that are set."""
        return {name: getattr(self, name) for name in self.fields if self.obj_attr_is_set(name)}


class Persistent(ZunObject):
    """An object that is a row of the database.

    :cvar DECODERS: field -> what makes its value out of the column of the same name
    :cvar LAZY: fields that are no columns of the row
    """

    DECODERS: ty.ClassVar[dict[str, collections.abc.Callable[[ty.Any], ty.Any]]] = {}
    LAZY: ty.ClassVar[frozenset[str]] = frozenset()

    fields = {
        'created_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'updated_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }

    @classmethod
    def from_row(cls, context: Context | None, row: rows.Row) -> ty.Self:
        """The object of a row."""
        obj = cls(context)
        obj.take_row(row)
        return obj

    def take_row(self, row: rows.Row) -> None:
        """Set fields from columns of the same name.

        Values go past the fields' coercion, which costs 20 times as much: columns are typed.
        """
        own = self.__dict__
        decoders = self.DECODERS
        for name, value in row.items():
            if name in self.fields:
                own['_obj_' + name] = decoders[name](value) if name in decoders else value

    def changed_columns(self) -> Values:
        """Columns to write: the fields that changed."""
        return {name: value for name, value in self.obj_get_changes().items()
                if name not in self.LAZY}

    def stored(self, changed: rows.Row) -> None:
        """Take over what was written; nothing is left to save."""
        self.take_row(changed)
        self.obj_reset_changes()

    def needs_context(self, what: str) -> Context:
        """The context to load a lazy field with.

        :raises OrphanedObjectError: there is none
        """
        if self._context is None:
            raise ovo_exc.OrphanedObjectError(method=what, objtype=self.obj_name())
        return self._context


def known(values: collections.abc.Collection[str], what: str) -> collections.abc.Callable[
        [str | None], str | None]:
    """A decoder that refuses what an enumeration does not know."""
    allowed = frozenset(values)

    def decode(value: str | None) -> str | None:
        if value is not None and value not in allowed:
            raise ValueError(f'{what} cannot be {value}.')
        return value
    return decode
