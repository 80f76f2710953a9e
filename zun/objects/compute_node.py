# SPDX-License-Identifier: Apache-2.0
"""Hosts and what they have. Memory in MiB, disk in GiB."""

import typing as ty

from oslo_utils import uuidutils
from oslo_versionedobjects import fields

from zun.db import compute_nodes
from zun.db import lists
from zun.db import rows
from zun.objects import numa
from zun.objects import pci
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class ComputeNode(versioned.Persistent):
    """A host that runs containers."""

    VERSION = '1.14'
    DECODERS = {'numa_topology': numa.NUMATopology.from_column,
                'pci_device_pools': pci.PciDevicePoolList.from_column}
    fields = {
        'uuid': fields.UUIDField(read_only=True),
        'rp_uuid': fields.UUIDField(),
        'numa_topology': fields.ObjectField('NUMATopology', nullable=True),
        'hostname': fields.StringField(),
        'mem_total': fields.IntegerField(),
        'mem_free': fields.IntegerField(),
        'mem_available': fields.IntegerField(),
        'mem_used': fields.IntegerField(),
        'total_containers': fields.IntegerField(),
        'running_containers': fields.IntegerField(),
        'paused_containers': fields.IntegerField(),
        'stopped_containers': fields.IntegerField(),
        'cpus': fields.IntegerField(),
        'cpu_used': fields.FloatField(),
        'architecture': fields.StringField(nullable=True),
        'os_type': fields.StringField(nullable=True),
        'os': fields.StringField(nullable=True),
        'kernel_version': fields.StringField(nullable=True),
        'labels': fields.DictOfStringsField(nullable=True),
        'pci_device_pools': fields.ObjectField('PciDevicePoolList', nullable=True),
        'disk_total': fields.IntegerField(),
        'disk_used': fields.IntegerField(),
        'disk_quota_supported': fields.BooleanField(),
        'runtimes': fields.ListOfStringsField(nullable=True),
        'enable_cpu_pinning': fields.BooleanField(),
    }

    def take_row(self, row: rows.Row) -> None:
        if 'pci_stats' in row:
            row = {**row, 'pci_device_pools': row['pci_stats']}
        super().take_row(row)

    def changed_columns(self) -> versioned.Values:
        changed = super().changed_columns()
        if 'pci_device_pools' in changed:
            pools = changed.pop('pci_device_pools')
            changed['pci_stats'] = pools and pools.to_column()
        if changed.get('numa_topology') is not None:
            changed['numa_topology'] = changed['numa_topology'].to_column()
        return changed

    def create(self, context: Context) -> None:
        """Insert it; uuid and rp_uuid are made up and equal unless they are set.

        :raises ComputeNodeAlreadyExists: hostname, uuid or rp_uuid
        """
        self._context = context
        uuid = self.uuid if self.obj_attr_is_set('uuid') else uuidutils.generate_uuid()
        self.stored(compute_nodes.create(
            {'uuid': uuid, 'rp_uuid': uuid, **self.changed_columns()}))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, if any did. :raises ComputeNodeNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored(compute_nodes.update(self.uuid, changed))

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it and its PCI devices; False when it was gone already."""
        return compute_nodes.destroy(self.uuid)

    def refresh(self, context: Context | None = None) -> None:
        """Read the row again; unsaved changes are lost. :raises ComputeNodeNotFound: it is gone"""
        self.stored(compute_nodes.get('uuid', self.uuid))

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> 'ComputeNode':
        """:raises ComputeNodeNotFound: there is none"""
        return cls.from_row(context, compute_nodes.get('uuid', uuid))

    @classmethod
    def get_by_name(cls, context: Context, hostname: str) -> 'ComputeNode':
        """:raises ComputeNodeNotFound: there is none"""
        return cls.from_row(context, compute_nodes.get('hostname', hostname))

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[ComputeNode]':
        """A page of the hosts, in one query.

        :param filters: of hostname, rp_uuid; a list means any of them
        :raises ComputeNodeNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls.from_row(context, row) for row in compute_nodes.list_page(page, filters)]
