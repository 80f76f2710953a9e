# SPDX-License-Identifier: Apache-2.0
"""CPU sets and NUMA nodes. Memory in MiB."""

import typing as ty

from oslo_versionedobjects import fields

from zun.objects import versioned


@versioned.register
class Cpuset(versioned.ZunObject):
    """The CPUs and memory nodes that a container is pinned to; None: not pinned."""

    VERSION = '1.0'
    fields = {
        'cpuset_cpus': fields.SetOfIntegersField(nullable=True),
        'cpuset_mems': fields.SetOfIntegersField(nullable=True),
    }

    @classmethod
    def from_column(cls, value: dict[str, ty.Any] | None) -> 'Cpuset | None':
        """The object of a stored dictionary."""
        if not value:
            return None
        return cls(**{name: None if value.get(name) is None else set(value[name])
                      for name in cls.fields})

    def to_column(self) -> dict[str, list[int] | None]:
        """Sets as lists."""
        return {name: sorted(value) if value is not None else None
                for name, value in self.as_dict().items()}


@versioned.register
class NUMANode(versioned.ZunObject):
    """One NUMA node of a host."""

    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(read_only=True),
        'cpuset': fields.SetOfIntegersField(),
        'pinned_cpus': fields.SetOfIntegersField(),
        'mem_total': fields.IntegerField(nullable=True),
        'mem_available': fields.IntegerField(nullable=True),
    }

    @property
    def free_cpus(self) -> set[int]:
        """CPUs to which nothing is pinned."""
        return set(self.cpuset) - set(self.pinned_cpus)


@versioned.register
class NUMATopology(versioned.ZunObject):
    """The NUMA nodes of a host."""

    VERSION = '1.0'
    fields = {'nodes': fields.ListOfObjectsField('NUMANode')}

    @classmethod
    def from_column(cls, value: dict[str, ty.Any] | None) -> 'NUMATopology | None':
        """The object of a stored dictionary."""
        if value is None:
            return None
        return cls(nodes=[
            NUMANode(id=node['id'], cpuset=set(node['cpuset']),
                     pinned_cpus=set(node.get('pinned_cpus') or ()),
                     mem_total=node.get('mem_total'), mem_available=node.get('mem_available'))
            for node in value.get('nodes', ())])

    def to_column(self) -> dict[str, ty.Any]:
        """Sets as lists."""
        return {'nodes': [{
            'id': node.id, 'cpuset': sorted(node.cpuset), 'pinned_cpus': sorted(node.pinned_cpus),
            'mem_total': node.mem_total, 'mem_available': node.mem_available,
        } for node in self.nodes]}
