# SPDX-License-Identifier: Apache-2.0
"""Capsules and their members."""

import collections.abc
import typing as ty

from oslo_versionedobjects import fields as ovo_fields

from zun.db import containers
from zun.db import lists
from zun.db import models
from zun.objects import container
from zun.objects import versioned

Context = versioned.Context


@container.register
class Capsule(container.ContainerBase):
    """Containers that share network and life.

    ``create`` also inserts the members that are set in ``containers`` and ``init_containers``.
    """

    VERSION = '1.5'
    CONTAINER_TYPE = models.CAPSULE
    fields = {
        'containers': ovo_fields.ListOfObjectsField('CapsuleContainer', nullable=True),
        'init_containers': ovo_fields.ListOfObjectsField('CapsuleInitContainer', nullable=True),
    }

    def _members(self) -> 'collections.abc.Sequence[CapsuleContainer | CapsuleInitContainer]':
        return [member for name in ('init_containers', 'containers') if self.obj_attr_is_set(name)
                for member in getattr(self, name) or ()]

    @classmethod
    def get_with_part(cls, context: Context, uuid: str) -> 'Capsule':
        """A capsule of any project, by its own uuid or that of a member.

        :raises ContainerNotFound: there is none
        """
        return cls.from_row(context, containers.get_capsule_with(uuid))

    def _load(self, context: Context, attrname: str) -> ty.Any:
        if attrname in ('containers', 'init_containers'):
            self.load_members(context, [self])
            return self.__dict__['_obj_' + attrname]
        return super()._load(context, attrname)

    @staticmethod
    def load_members(context: Context, capsules: 'collections.abc.Sequence[Capsule]') -> None:
        """Set the members of many capsules, in one query."""
        if not capsules:
            return
        found: dict[tuple[int, int], list[container.ContainerBase]] = {}
        for row in containers.list_members([capsule.id for capsule in capsules]):
            kind = row['container_type']
            found.setdefault((row['capsule_id'], kind), []).append(
                container.CLASSES[kind].from_row(context, row))
        for capsule in capsules:
            capsule.__dict__['_obj_containers'] = found.get(
                (capsule.id, models.CAPSULE_CONTAINER), [])
            capsule.__dict__['_obj_init_containers'] = found.get(
                (capsule.id, models.CAPSULE_INIT_CONTAINER), [])


class _Member(container.ContainerBase):
    fields = {'capsule_id': ovo_fields.IntegerField()}

    @classmethod
    def list_by_capsule_id(cls, context: Context, capsule_id: int) -> 'list[ty.Self]':
        """The members of this kind of a capsule, by id."""
        return [cls.from_row(context, row) for row in containers.list_page(
            context, cls.CONTAINER_TYPE, lists.Page(), {'capsule_id': capsule_id})]


@container.register
class CapsuleContainer(_Member):
    """A member that runs as long as its capsule."""

    VERSION = '1.5'
    CONTAINER_TYPE = models.CAPSULE_CONTAINER


@container.register
class CapsuleInitContainer(_Member):
    """A member that has to end before the others start."""

    VERSION = '1.5'
    CONTAINER_TYPE = models.CAPSULE_INIT_CONTAINER
