# SPDX-License-Identifier: Apache-2.0
"""Commands that run in containers."""

from oslo_versionedobjects import fields

from zun.db import exec_instances
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class ExecInstance(versioned.Persistent):
    """An exec instance of the engine."""

    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'container_id': fields.IntegerField(),
        'exec_id': fields.StringField(),
        'token': fields.StringField(nullable=True),
        'url': fields.StringField(nullable=True),
    }

    def create(self, context: Context) -> None:
        """:raises ExecInstanceAlreadyExists: container and exec id"""
        self._context = context
        self.stored(exec_instances.create(self.changed_columns()))

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it; False when it was gone already."""
        return exec_instances.destroy(self.container_id, self.exec_id)

    @classmethod
    def list_by_container_id(cls, context: Context, container_id: int) -> 'list[ExecInstance]':
        """The exec instances of a container, by id."""
        return [cls.from_row(context, row)
                for row in exec_instances.list_all({'container_id': container_id})]
