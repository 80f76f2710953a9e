# SPDX-License-Identifier: Apache-2.0
"""PCI devices of hosts, how many are free, and what containers ask for."""

import typing as ty

from oslo_versionedobjects import base
from oslo_versionedobjects import fields as ovo_fields

from zun.common import exception
from zun.db import pci_devices
from zun.objects import fields
from zun.objects import versioned

REMOVED = 'removed'


@versioned.register
class PciDevice(versioned.Persistent):
    """A device that may be handed to a container."""

    VERSION = '1.1'
    fields = {
        'id': ovo_fields.IntegerField(),
        'uuid': ovo_fields.UUIDField(),
        'compute_node_uuid': ovo_fields.UUIDField(nullable=True),
        'address': ovo_fields.StringField(),
        'vendor_id': ovo_fields.StringField(),
        'product_id': ovo_fields.StringField(),
        'dev_type': fields.PciDeviceTypeField(),
        'status': fields.PciDeviceStatusField(),
        'dev_id': ovo_fields.StringField(nullable=True),
        'label': ovo_fields.StringField(nullable=True),
        'container_uuid': ovo_fields.StringField(nullable=True),
        'request_id': ovo_fields.StringField(nullable=True),
        'extra_info': ovo_fields.DictOfStringsField(),
        'numa_node': ovo_fields.IntegerField(nullable=True),
        'parent_addr': ovo_fields.StringField(nullable=True),
    }

    @classmethod
    def _all(cls, context: versioned.Context, **conditions: ty.Any) -> 'list[PciDevice]':
        return [cls.from_row(context, row) for row in pci_devices.list_by(conditions)]

    @classmethod
    def get_by_dev_addr(cls, context: versioned.Context, compute_node_uuid: str,
                        address: str) -> 'PciDevice':
        """The device at an address. :raises PciDeviceNotFound: there is none"""
        return cls.from_row(context, pci_devices.get(
            {'compute_node_uuid': compute_node_uuid, 'address': address},
            exception.PciDeviceNotFound(node_id=compute_node_uuid, address=address)))

    @classmethod
    def get_by_dev_id(cls, context: versioned.Context, ident: int) -> 'PciDevice':
        """The device of a number. :raises PciDeviceNotFoundById: there is none"""
        return cls.from_row(context, pci_devices.get(
            {'id': ident}, exception.PciDeviceNotFoundById(id=ident)))

    @classmethod
    def list_by_compute_node(cls, context: versioned.Context,
                             compute_node_uuid: str) -> 'list[PciDevice]':
        """The devices of a host."""
        return cls._all(context, compute_node_uuid=compute_node_uuid)

    @classmethod
    def list_by_container_uuid(cls, context: versioned.Context,
                               container_uuid: str) -> 'list[PciDevice]':
        """The devices that a container holds."""
        return cls._all(context, container_uuid=container_uuid)

    @classmethod
    def list_by_parent_address(cls, context: versioned.Context, compute_node_uuid: str,
                               parent_addr: str) -> 'list[PciDevice]':
        """The virtual functions of a physical one."""
        return cls._all(context, compute_node_uuid=compute_node_uuid, parent_addr=parent_addr)

    def save(self) -> None:
        """Insert or update by host and address; a device in status removed is forgotten."""
        if self.status == REMOVED:
            pci_devices.destroy(self.compute_node_uuid, self.address)
            self.obj_reset_changes()
        elif changed := self.changed_columns():
            self.stored(pci_devices.put(self.compute_node_uuid, self.address, changed))


@versioned.register
class PciDevicePool(versioned.ZunObject):
    """How many devices of one kind a host has."""

    VERSION = '1.0'
    fields = {
        'product_id': ovo_fields.StringField(),
        'vendor_id': ovo_fields.StringField(),
        'numa_node': ovo_fields.IntegerField(nullable=True),
        'tags': ovo_fields.DictOfStringsField(),
        'count': ovo_fields.IntegerField(),
    }

    @classmethod
    def from_dict(cls, value: dict[str, ty.Any]) -> 'PciDevicePool':
        """The pool of a flat dictionary, in which every unknown key is a tag."""
        own = {name: value[name] for name in cls.fields if name in value and name != 'tags'}
        tags = {**value.get('tags', {}),
                **{name: text for name, text in value.items() if name not in cls.fields}}
        return cls(tags=tags, **{'numa_node': None, **own})


@versioned.register
class PciDevicePoolList(base.ObjectListBase, versioned.ZunObject):
    """All pools of a host."""

    VERSION = '1.0'
    fields = {'objects': ovo_fields.ListOfObjectsField('PciDevicePool')}

    @classmethod
    def from_column(cls, value: ty.Any) -> 'PciDevicePoolList | None':
        """The object of a stored value: a primitive, or the older list or single dictionary."""
        if value is None:
            return None
        if isinstance(value, dict) and 'zun_object.data' in value:
            return cls.obj_from_primitive(value)
        pools = value if isinstance(value, list) else [value]
        return cls(objects=[PciDevicePool.from_dict(pool) for pool in pools if pool])

    def to_column(self) -> dict[str, ty.Any]:
        """The primitive."""
        return self.obj_to_primitive()


@versioned.register
class ContainerPCIRequest(versioned.ZunObject):
    """One device, or several alike, that a container needs."""

    VERSION = '1.0'
    fields = {
        'count': ovo_fields.IntegerField(),
        'spec': ovo_fields.Field(ovo_fields.List(ovo_fields.Dict(ovo_fields.String()))),
        'alias_name': ovo_fields.StringField(nullable=True),
        'is_new': ovo_fields.BooleanField(default=False),
        'request_id': ovo_fields.UUIDField(nullable=True),
        'created_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'updated_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }


@versioned.register
class ContainerPCIRequests(versioned.ZunObject):
    """All that a container needs."""

    VERSION = '1.0'
    fields = {
        'container_uuid': ovo_fields.UUIDField(),
        'requests': ovo_fields.ListOfObjectsField('ContainerPCIRequest'),
        'created_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'updated_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }
