# SPDX-License-Identifier: Apache-2.0
"""Volumes, and where containers see them."""

import typing as ty

from oslo_versionedobjects import fields

from zun.db import lists
from zun.db import rows
from zun.db import volumes
from zun.objects import container
from zun.objects import versioned

Context = versioned.Context
#: Fields that a mapping shows of its volume.
_OF_VOLUME = ('cinder_volume_id', 'volume_provider', 'connection_info', 'auto_remove', 'host',
              'contents')


@versioned.register
class Volume(versioned.Persistent):
    """A volume of Cinder, a directory or a file of a host.

    :ivar connection_info: JSON text, secret
    :ivar contents: base64 text of a file, secret
    """

    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'cinder_volume_id': fields.UUIDField(nullable=True),
        'volume_provider': fields.StringField(),
        'connection_info': fields.SensitiveStringField(nullable=True),
        'auto_remove': fields.BooleanField(nullable=True),
        'host': fields.StringField(nullable=True),
        'contents': fields.SensitiveStringField(nullable=True),
    }

    def create(self, context: Context) -> None:
        """:raises VolumeAlreadyExists: its uuid"""
        self._context = context
        self.stored(volumes.create_volume(self.changed_columns()))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, if any did. :raises VolumeNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored(volumes.update_volume(self.id, changed))

    def refresh(self, context: Context | None = None) -> None:
        """Read the row again; unsaved changes are lost. :raises VolumeNotFound: it is gone"""
        self.stored(volumes.get_volume(context or self.needs_context('refresh'), self.id))

    @classmethod
    def get_by_id(cls, context: Context, ident: int) -> 'Volume':
        """:raises VolumeNotFound: none that the caller may see"""
        return cls.from_row(context, volumes.get_volume(context, ident))


@versioned.register
class VolumeMapping(versioned.Persistent):
    """A volume at a path of a container. The fields of the volume are its own."""

    VERSION = '1.5'
    LAZY = frozenset({'container', 'volume'})
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'cinder_volume_id': fields.UUIDField(nullable=True),
        'volume_provider': fields.StringField(),
        'container_path': fields.StringField(nullable=True),
        'container_uuid': fields.UUIDField(nullable=True),
        'container': fields.ObjectField('ContainerBase', subclasses=True, nullable=True),
        'connection_info': fields.SensitiveStringField(nullable=True),
        'auto_remove': fields.BooleanField(nullable=True),
        'host': fields.StringField(nullable=True),
        'contents': fields.SensitiveStringField(nullable=True),
        'volume_id': fields.IntegerField(),
        'volume': fields.ObjectField('Volume', nullable=True),
    }

    @classmethod
    def _from_pair(cls, context: Context, pair: volumes.Pair) -> ty.Self:
        obj = cls(context)
        obj._stored_pair(*pair)
        return obj

    def _stored_pair(self, mapping: rows.Row, volume: rows.Row) -> None:
        self.__dict__['_obj_volume'] = Volume.from_row(self._context, volume)
        self.stored({**mapping,
                     **{name: volume[name] for name in _OF_VOLUME if name in volume}})

    def _split(self) -> tuple[versioned.Values, versioned.Values]:
        changed = self.changed_columns()
        of_volume = {name: changed.pop(name) for name in _OF_VOLUME if name in changed}
        return changed, of_volume

    def obj_load_attr(self, attrname: str) -> None:
        """Load the container. :raises OrphanedObjectError: the object has no context"""
        if attrname != 'container':
            raise AttributeError(f'VolumeMapping.{attrname} is not set.')
        context = self.needs_context(attrname)
        self.__dict__['_obj_container'] = None if self.container_uuid is None else \
            container.ContainerBase.get_any_type(context, self.container_uuid)

    def create(self, context: Context) -> None:
        """Insert it; without a volume_id its volume too, of the mapping's owner.

        :raises VolumeMappingAlreadyExists: its uuid
        :raises VolumeNotFound: there is no volume of this id
        """
        self._context = context
        own, of_volume = self._split()
        volume = None
        if 'volume_id' not in own:
            volume = {**of_volume, 'project_id': own.get('project_id'),
                      'user_id': own.get('user_id')}
        self._stored_pair(*volumes.create_mapping(own, volume))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, those of the volume into the volume.

        :raises VolumeMappingNotFound: it is gone
        """
        own, of_volume = self._split()
        if own or of_volume:
            changed, changed_volume = volumes.update_mapping(self.uuid, own, of_volume)
            if self.obj_attr_is_set('volume'):
                self.volume.stored(changed_volume)
            self.stored(changed)

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it, and its volume when no other mapping uses it; False when it was gone."""
        return volumes.destroy_mapping(self.uuid)

    def refresh(self, context: Context | None = None) -> None:
        """Read the rows again; unsaved changes are lost.

        :raises VolumeMappingNotFound: it is gone
        """
        self._stored_pair(*volumes.get_mapping(
            context or self.needs_context('refresh'), self.uuid))

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> 'VolumeMapping':
        """:raises VolumeMappingNotFound: none that the caller may see"""
        return cls._from_pair(context, volumes.get_mapping(context, uuid))

    @classmethod
    def list_by_container(cls, context: Context, container_uuid: str) -> 'list[ty.Self]':
        """The mappings of a container, by id."""
        return cls.list(context, filters={'container_uuid': container_uuid})

    @classmethod
    def list_by_cinder_volume(cls, context: Context, cinder_volume_id: str) -> 'list[ty.Self]':
        """The mappings of a Cinder volume, by id."""
        return cls.list(context, filters={'cinder_volume_id': cinder_volume_id})

    @staticmethod
    def count(context: Context, **filters: ty.Any) -> int:
        """How many mappings the caller may see, filtered as in :meth:`list`."""
        return volumes.count_mappings(context, filters)

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[ty.Self]':
        """A page of the mappings that the caller may see, in two queries.

        :param filters: of project_id, user_id, volume_id, container_path, container_uuid,
            cinder_volume_id, volume_provider; a list means any of them
        :raises VolumeMappingNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls._from_pair(context, pair)
                for pair in volumes.list_mappings(context, page, filters)]
