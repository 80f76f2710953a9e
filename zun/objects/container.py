# SPDX-License-Identifier: Apache-2.0
"""Containers: those of users, and what capsules have in common with them."""

import collections.abc
import typing as ty

from oslo_utils import uuidutils
from oslo_versionedobjects import fields as ovo_fields

from zun.common import states
from zun.db import actions
from zun.db import containers
from zun.db import journal
from zun.db import lists
from zun.db import models
from zun.db import rows
from zun.objects import action as action_object
from zun.objects import exec_instance
from zun.objects import fields
from zun.objects import numa
from zun.objects import pci
from zun.objects import registry
from zun.objects import versioned

if ty.TYPE_CHECKING:
    from zun.objects import request as request_object
    from zun.objects import volume as volume_object

    Mounted = tuple[volume_object.Volume, collections.abc.Sequence[volume_object.VolumeMapping]]

Context = versioned.Context
Action = action_object.ContainerAction


def _strings() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.ListOfStringsField(nullable=True)


def _texts() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.DictOfStringsField(nullable=True)


def _text() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.StringField(nullable=True)


def _flag() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.BooleanField(nullable=True)


def _integer() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.IntegerField(nullable=True)


def _json() -> ovo_fields.Field[ty.Any]:
    return fields.JsonField(nullable=True)


def _time() -> ovo_fields.Field[ty.Any]:
    return ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True)


class ContainerBase(versioned.Persistent):
    """A row of ``container``.

    Reads see the caller's project, or all for administrators who ask for all; writes are by uuid.

    :cvar CONTAINER_TYPE: the rows of this class
    """

    CONTAINER_TYPE: ty.ClassVar[int]
    LAZY = frozenset({'pci_devices', 'exec_instances', 'registry', 'containers',
                      'init_containers'})
    DECODERS = {
        'status': versioned.known(states.STATUSES, 'status'),
        'task_state': versioned.known(states.TASK_STATES, 'task_state'),
        'cpuset': numa.Cpuset.from_column,
    }

    fields = {
        'id': ovo_fields.IntegerField(),
        'container_id': _text(),
        'uuid': ovo_fields.UUIDField(nullable=True),
        'name': _text(),
        'project_id': _text(),
        'user_id': _text(),
        'image': _text(),
        'cpu': ovo_fields.FloatField(nullable=True),
        'cpu_policy': _text(),
        'cpuset': ovo_fields.ObjectField('Cpuset', nullable=True),
        'memory': _text(),
        'command': _strings(),
        'status': fields.ContainerStatusField(nullable=True),
        'status_reason': _text(),
        'task_state': fields.TaskStateField(nullable=True),
        'environment': _texts(),
        'workdir': _text(),
        'auto_remove': _flag(),
        'ports': ovo_fields.ListOfIntegersField(nullable=True),
        'hostname': _text(),
        'labels': _texts(),
        'addresses': _json(),
        'image_pull_policy': _text(),
        'host': _text(),
        'restart_policy': _texts(),
        'status_detail': _text(),
        'interactive': _flag(),
        'tty': _flag(),
        'image_driver': _text(),
        'websocket_url': _text(),
        'websocket_token': _text(),
        'security_groups': _strings(),
        'runtime': _text(),
        'pci_devices': ovo_fields.ListOfObjectsField('PciDevice', nullable=True),
        'disk': _integer(),
        'auto_heal': _flag(),
        'started_at': _time(),
        'exposed_ports': _json(),
        'exec_instances': ovo_fields.ListOfObjectsField('ExecInstance', nullable=True),
        'privileged': _flag(),
        'healthcheck': _json(),
        'registry_id': _integer(),
        'registry': ovo_fields.ObjectField('Registry', nullable=True),
        'annotations': _json(),
        'cni_metadata': _json(),
        'entrypoint': _strings(),
        'effective_command': _strings(),
        'effective_entrypoint': _strings(),
        'exit_code': _integer(),
        'finished_at': _time(),
        'health': _text(),
    }

    def changed_columns(self) -> versioned.Values:
        changed = super().changed_columns()
        if changed.get('cpuset') is not None:
            changed['cpuset'] = self.cpuset.to_column()
        return changed

    def obj_load_attr(self, attrname: str) -> None:
        """Load a lazy field. :raises OrphanedObjectError: the object has no context"""
        if attrname not in self.LAZY:
            raise AttributeError(f'{self.obj_name()}.{attrname} is not set.')
        self.__dict__['_obj_' + attrname] = self._load(self.needs_context(attrname), attrname)

    def _load(self, context: Context, attrname: str) -> ty.Any:
        if attrname == 'pci_devices':
            return pci.PciDevice.list_by_container_uuid(context, self.uuid)
        if attrname == 'exec_instances':
            return exec_instance.ExecInstance.list_by_container_id(context, self.id)
        if self.registry_id is None:
            return None
        return registry.Registry.get_by_id(context.elevated(), self.registry_id)

    def _members(self) -> 'collections.abc.Sequence[ContainerBase]':
        """What is created together with this one."""
        return ()

    def create(self, context: Context,
               request: 'request_object.ContainerRequest | None' = None,
               action: Action | str | None = None,
               reserve: containers.Reserve | None = None,
               mounted: 'collections.abc.Sequence[Mounted]' = (),
               reap_after: float | None = None) -> None:
        """Insert the container with its request, action and volumes, all or nothing.

        :param request: not stored yet; it is once this returns
        :param action: not stored yet, or the name of one that begins now
        :param reserve: called first with the session of the transaction, which may be repeated;
            see :func:`zun.db.quotas.reserve`
        :param mounted: volumes and their mappings into this container or its members, none of
            them stored yet; read them again once this returns
        :param reap_after: seconds after which a reaper may take up a request that nobody works at
        :raises ContainerAlreadyExists: the name where names have to be unique, or the uuid
        """
        begun: rows.Row | None = None
        if action is not None:
            begun = actions.start_values(context, action) if isinstance(action, str) \
                else action.changed_columns()
        members = self._members()
        created = containers.create(
            self._new_row(), [member._new_row() for member in members],
            None if request is None else request.changed_columns(), begun, reserve,
            [(volume.changed_columns(), [mapping.changed_columns() for mapping in mappings])
             for volume, mappings in mounted], reap_after)
        for obj, row in [(self, created.container),
                         *zip(members, created.members, strict=True)]:
            obj._context = context
            obj.stored(row)
        if request is not None and created.request is not None:
            request.stored(created.request)
        if isinstance(action, Action) and created.action is not None:
            action.stored(created.action)

    def _new_row(self) -> versioned.Values:
        # The uuid is made here: a transaction that is repeated inserts no second container.
        return {'uuid': uuidutils.generate_uuid(), **self.changed_columns(),
                'container_type': self.CONTAINER_TYPE}

    def save(self, context: Context | None = None, expected: rows.Expected | None = None,
             reserve: containers.Reserve | None = None) -> None:
        """Write the fields that changed, if any did.

        :param expected: column -> value that it must have, or values of which it must have one
        :param reserve: as in :meth:`create`
        :raises Conflict: the row is not as expected
        :raises ContainerNotFound: it is gone
        :raises ContainerAlreadyExists: the new name where names have to be unique
        """
        changed = self.changed_columns()
        if changed:
            self.stored(containers.update(self.uuid, changed, expected, reserve))

    def begin_operation(self, request_id: str | None, event: str | None,
                        expected: rows.Expected) -> None:
        """Write the fields that changed, and an event of the request's action, in one.

        :param event: None: none is written
        :param expected: as in :meth:`save`
        :raises Conflict: the row is not as expected
        :raises ContainerNotFound: it is gone
        """
        self.stored(journal.begin(self.uuid, expected, self.changed_columns(), request_id, event))

    def end_operation(self, request_id: str | None, outcome: journal.Outcome,
                      expected: rows.Expected, again: bool = False) -> None:
        """Write the fields that changed, and close event, action and operation, in one.

        :param expected: as in :meth:`save`
        :param again: the operation is taken up again: only its events are closed
        :raises Conflict: the row is not as expected; then nothing is written
        :raises ContainerNotFound: it is gone
        """
        self.stored(journal.end(self.uuid, request_id, outcome, self.changed_columns(), expected,
                                again))

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it and all that hangs on it; False when it was gone already."""
        return containers.destroy(self.uuid)

    def refresh(self, context: Context | None = None) -> None:
        """Read the row again; unsaved changes are lost.

        :raises ContainerNotFound: it is gone, or the caller may not see it
        """
        context = context or self.needs_context('refresh')
        row = containers.get(context, self.uuid, self.CONTAINER_TYPE)
        for name in self.LAZY:
            self.__dict__.pop('_obj_' + name, None)
        self.stored(row)

    @staticmethod
    def tell_pull(uuids: 'collections.abc.Collection[str]', detail: str | None) -> None:
        """Let those of any type that still wait for their image say how far it is.

        :param detail: at most 50 characters; None: nothing is to be said any more
        """
        containers.tell_pull(uuids, detail)

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> ty.Self:
        """:raises ContainerNotFound: none of this type that the caller may see"""
        return cls.from_row(context, containers.get(context, uuid, cls.CONTAINER_TYPE))

    @classmethod
    def get_by_name(cls, context: Context, name: str) -> ty.Self:
        """:raises ContainerNotFound: none of this type that the caller may see
        :raises Conflict: several
        """
        return cls.from_row(context, containers.get_by_name(context, name, cls.CONTAINER_TYPE))

    @staticmethod
    def get_any_type(context: Context, uuid: str) -> 'ContainerBase':
        """The container or capsule or member of a uuid, as an object of its class.

        :raises ContainerNotFound: none that the caller may see
        """
        row = containers.get(context, uuid)
        return CLASSES[row['container_type'] or models.CONTAINER].from_row(context, row)

    @staticmethod
    def list_any_by_host(context: Context, host: str) -> 'list[ContainerBase]':
        """All of any type that are on a host, members of capsules among them."""
        return [CLASSES[row['container_type'] or models.CONTAINER].from_row(context, row)
                for row in containers.list_on_host(host)]

    @classmethod
    def list_by_host(cls, context: Context, host: str) -> 'list[ty.Self]':
        """Those of this type on a host."""
        return cls.list(context, filters={'host': host})

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[ty.Self]':
        """A page of those of this type that the caller may see, in one query.

        :param limit: at most so many; None: all
        :param marker: uuid after which the page starts, or an object; one more query
        :param sort_key: a column; id decides among equal values
        :param filters: column -> value; a list means any of them, None means NULL
        :raises ContainerNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls.from_row(context, row) for row in containers.list_page(
            context, cls.CONTAINER_TYPE, page, filters)]


#: container_type -> class
CLASSES: dict[int, type[ContainerBase]] = {}


def register(cls: type[ContainerBase]) -> type[ContainerBase]:
    """Make a class known under its name and type."""
    CLASSES[cls.CONTAINER_TYPE] = cls
    return versioned.register(cls)


@register
class Container(ContainerBase):
    """A container of its own."""

    VERSION = '1.45'
    CONTAINER_TYPE = models.CONTAINER
