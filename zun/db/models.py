# SPDX-License-Identifier: Apache-2.0
"""The tables as they are after all migrations. Client-side defaults are here, not in the schema."""

import typing as ty

from oslo_utils import uuidutils
import sqlalchemy as sa

from zun.db import columns

metadata = sa.MetaData()

CONTAINER = 0
CAPSULE = 1
CAPSULE_CONTAINER = 2
CAPSULE_INIT_CONTAINER = 3


def _not_mysql(*_args: ty.Any, dialect: sa.Dialect, **_kwargs: ty.Any) -> bool:
    return dialect.name not in ('mysql', 'mariadb')


def _foreign_key_index(column: str) -> sa.Index:
    """MySQL makes the index of a foreign key by itself, under the column's name."""
    return sa.Index(column, column).ddl_if(callable_=_not_mysql)


def _key() -> sa.Column[int]:
    return sa.Column('id', sa.Integer, primary_key=True, autoincrement=True)


def _timestamps() -> tuple[sa.Column[ty.Any], sa.Column[ty.Any]]:
    return (sa.Column('created_at', sa.DateTime, default=columns.utcnow),
            sa.Column('updated_at', sa.DateTime, onupdate=columns.utcnow))


def _owner() -> tuple[sa.Column[str], sa.Column[str]]:
    return sa.Column('project_id', sa.String(255)), sa.Column('user_id', sa.String(255))


def _uuid(name: str = 'uuid', **kwargs: ty.Any) -> sa.Column[str]:
    return sa.Column(name, sa.String(36), default=uuidutils.generate_uuid, **kwargs)


container = sa.Table(
    'container', metadata, *_timestamps(), _key(), *_owner(), _uuid(),
    sa.Column('name', sa.String(255)),
    sa.Column('image', sa.String(255)),
    sa.Column('command', columns.Json(list), default=list),
    sa.Column('status', sa.String(20)),
    sa.Column('environment', columns.Json(dict), default=dict),
    sa.Column('container_id', sa.String(255)),
    sa.Column('memory', sa.String(255)),
    sa.Column('task_state', sa.String(20)),
    sa.Column('cpu', columns.RoundedFloat),
    sa.Column('workdir', sa.String(255)),
    sa.Column('ports', columns.Json(list), default=list),
    sa.Column('hostname', sa.String(255)),
    sa.Column('labels', columns.Json(dict), default=dict),
    sa.Column('status_reason', columns.Remark),
    sa.Column('image_pull_policy', sa.Text),
    sa.Column('addresses', columns.Json(dict), default=dict),
    sa.Column('host', sa.String(255)),
    sa.Column('restart_policy', columns.Json(dict), default=dict),
    sa.Column('status_detail', columns.Remark(50)),
    sa.Column('image_driver', sa.Text),
    sa.Column('interactive', sa.Boolean, default=False),
    sa.Column('websocket_url', sa.String(255)),
    sa.Column('websocket_token', sa.String(255)),
    sa.Column('security_groups', columns.Json(list), default=list),
    sa.Column('auto_remove', sa.Boolean, default=False),
    sa.Column('runtime', sa.String(32)),
    sa.Column('disk', sa.Integer, default=0),
    sa.Column('auto_heal', sa.Boolean, default=False),
    sa.Column('capsule_id', sa.Integer, sa.ForeignKey('container.id', ondelete='CASCADE')),
    sa.Column('started_at', sa.DateTime),
    sa.Column('privileged', sa.Boolean, default=False),
    sa.Column('healthcheck', columns.Json(dict), default=dict),
    sa.Column('exposed_ports', columns.Json(dict), default=dict),
    sa.Column('cpu_policy', sa.String(255), default='shared'),
    sa.Column('cpuset', columns.Json(dict), default=dict),
    sa.Column('registry_id', sa.Integer, sa.ForeignKey('registry.id')),
    sa.Column('container_type', sa.Integer, default=CONTAINER, server_default='0'),
    sa.Column('tty', sa.Boolean, default=False),
    sa.Column('annotations', columns.Json(medium=True)),
    sa.Column('cni_metadata', columns.Json(medium=True)),
    sa.Column('entrypoint', columns.Json(list), default=list),
    sa.Column('effective_command', columns.Json(list, nullable=True)),
    sa.Column('effective_entrypoint', columns.Json(list, nullable=True)),
    sa.Column('exit_code', sa.Integer),
    sa.Column('finished_at', sa.DateTime),
    sa.Column('health', sa.String(16)),
    sa.UniqueConstraint('uuid', name='uniq_container0uuid'),
    sa.Index('ix_container_container_type', 'container_type'),
    sa.Index('ix_container_host_type', 'host', 'container_type'),
    sa.Index('ix_container_project_type_id', 'project_id', 'container_type', 'id'),
    sa.Index('ix_container_name', 'name'),
    _foreign_key_index('capsule_id'),
    _foreign_key_index('registry_id'),
)

container_request = sa.Table(
    'container_request', metadata, *_timestamps(), _key(),
    sa.Column('container_uuid', sa.String(36),
              sa.ForeignKey('container.uuid', ondelete='CASCADE'), nullable=False),
    sa.Column('generation', sa.Integer, nullable=False, default=0, server_default='0'),
    sa.Column('operation', sa.String(32)),
    sa.Column('operation_args', columns.Json(dict), default=dict),
    sa.Column('operation_id', sa.String(255)),
    sa.Column('operation_time', sa.DateTime),
    sa.Column('run', sa.Boolean, default=False),
    sa.Column('requested_networks', columns.Json(list), default=list),
    sa.Column('requested_volumes', columns.Json(dict, medium=True), default=dict),
    sa.Column('pci_requests', columns.Json()),
    sa.Column('availability_zone', sa.String(255)),
    sa.Column('hints', columns.Json(dict), default=dict),
    sa.Column('requested_host', sa.String(255)),
    sa.Column('attempts', sa.Integer, nullable=False, default=0, server_default='0'),
    sa.Column('excluded_hosts', columns.Json(list), default=list),
    sa.Column('claimed', sa.Boolean, nullable=False, default=False, server_default=sa.false()),
    sa.Column('retry_at', sa.DateTime),
    sa.UniqueConstraint('container_uuid', name='uniq_container_request0container_uuid'),
    sa.Index('ix_container_request_retry_at', 'retry_at'),
)

volume = sa.Table(
    'volume', metadata, *_timestamps(), _key(), _uuid(nullable=False), *_owner(),
    sa.Column('cinder_volume_id', sa.String(36)),
    sa.Column('volume_provider', sa.String(36), nullable=False),
    sa.Column('connection_info', columns.MEDIUM_TEXT),
    sa.Column('host', sa.String(255)),
    sa.Column('auto_remove', sa.Boolean, default=False),
    sa.Column('contents', columns.MEDIUM_TEXT),
    sa.UniqueConstraint('uuid', name='uniq_volume0uuid'),
    sa.Index('ix_volume_cinder_volume_id', 'cinder_volume_id'),
)

volume_mapping = sa.Table(
    'volume_mapping', metadata, *_timestamps(), _key(), _uuid(nullable=False), *_owner(),
    sa.Column('container_uuid', sa.String(36), sa.ForeignKey('container.uuid')),
    sa.Column('container_path', sa.String(255)),
    sa.Column('volume_id', sa.Integer, sa.ForeignKey('volume.id', ondelete='CASCADE'),
              nullable=False),
    sa.UniqueConstraint('uuid'),  # its name is another one on PostgreSQL
    sa.Index('ix_volume_mapping_project_id', 'project_id'),
    _foreign_key_index('container_uuid'),
    _foreign_key_index('volume_id'),
)

exec_instance = sa.Table(
    'exec_instance', metadata, *_timestamps(), _key(),
    sa.Column('container_id', sa.Integer, sa.ForeignKey('container.id', ondelete='CASCADE'),
              nullable=False),
    sa.Column('exec_id', sa.String(255), nullable=False),
    sa.Column('token', sa.String(255)),
    sa.Column('url', sa.String(255)),
    sa.UniqueConstraint('container_id', 'exec_id', name='uniq_exec_instance0container_id_exec_id'),
)

image = sa.Table(
    'image', metadata, *_timestamps(), _key(), *_owner(), _uuid(),
    sa.Column('image_id', sa.String(255)),
    sa.Column('repo', sa.String(255)),
    sa.Column('tag', sa.String(255)),
    sa.Column('size', sa.String(255)),
    sa.Column('host', sa.String(255)),
    sa.Column('status', sa.String(20)),
    sa.Column('status_reason', columns.Remark),
    sa.UniqueConstraint('repo', 'tag', 'host', name='uniq_image0repotaghost'),
    sa.Index('ix_image_project_id', 'project_id'),
)

network = sa.Table(
    'network', metadata, *_timestamps(), _key(), *_owner(),
    sa.Column('name', sa.String(255)),
    _uuid(),
    sa.Column('network_id', sa.String(255)),
    sa.Column('neutron_net_id', sa.String(255)),
    sa.Column('host', sa.String(255)),
    sa.UniqueConstraint('neutron_net_id', 'host', name='uniq_network0neutron_net_id_host'),
    sa.UniqueConstraint('uuid', name='uniq_network0uuid'),
    sa.Index('ix_network_project_id', 'project_id'),
    sa.Index('ix_network_host', 'host'),
)

registry = sa.Table(
    'registry', metadata, *_timestamps(), _key(), *_owner(), _uuid(),
    sa.Column('name', sa.String(255)),
    sa.Column('domain', sa.String(255), nullable=False),
    sa.Column('username', sa.String(255)),
    sa.Column('password', sa.Text),
    sa.UniqueConstraint('uuid', name='uniq_registry0uuid'),
    sa.Index('ix_registry_project_id', 'project_id'),
)


def _amount(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, default=0)


compute_node = sa.Table(
    'compute_node', metadata, *_timestamps(), _uuid(primary_key=True),
    sa.Column('hostname', sa.String(255), nullable=False),
    sa.Column('numa_topology', columns.Json()),
    _amount('mem_total'), _amount('mem_free'), _amount('mem_available'),
    _amount('total_containers'), _amount('running_containers'),
    _amount('paused_containers'), _amount('stopped_containers'), _amount('cpus'),
    sa.Column('cpu_used', columns.RoundedFloat, nullable=False, default=0.0),
    sa.Column('architecture', sa.String(32)),
    sa.Column('os_type', sa.String(32)),
    sa.Column('os', sa.String(64)),
    sa.Column('kernel_version', sa.String(128)),
    sa.Column('labels', columns.Json(dict), default=dict),
    _amount('mem_used'),
    sa.Column('pci_stats', columns.Json()),
    _amount('disk_total'), _amount('disk_used'),
    sa.Column('disk_quota_supported', sa.Boolean, nullable=False, default=False,
              server_default=sa.false()),
    sa.Column('runtimes', columns.Json(list), default=list),
    sa.Column('enable_cpu_pinning', sa.Boolean, nullable=False, default=False,
              server_default=sa.false()),
    sa.Column('rp_uuid', sa.String(36), nullable=False),
    sa.UniqueConstraint('rp_uuid', name='uniq_compute_node0rp_uuid'),
    sa.Index('uniq_compute_node0hostname', 'hostname', unique=True),
)

zun_service = sa.Table(
    'zun_service', metadata, _key(), *_timestamps(),
    sa.Column('report_count', sa.Integer, nullable=False, default=0),
    sa.Column('host', sa.String(255)),
    sa.Column('binary', sa.String(255)),
    sa.Column('disabled', sa.Boolean, default=False),
    sa.Column('disabled_reason', sa.String(255)),
    sa.Column('last_seen_up', sa.DateTime),
    sa.Column('forced_down', sa.Boolean, default=False),
    sa.Column('availability_zone', sa.String(255)),
    sa.UniqueConstraint('host', 'binary', name='uniq_zun_service0host0binary'),
    sa.Index('ix_zun_service_binary', 'binary'),
)

pci_device = sa.Table(
    'pci_device', metadata, _key(), _uuid(),
    sa.Column('compute_node_uuid', sa.String(36), sa.ForeignKey('compute_node.uuid'),
              nullable=False),
    sa.Column('address', sa.String(12), nullable=False),
    sa.Column('vendor_id', sa.String(4), nullable=False),
    sa.Column('product_id', sa.String(4), nullable=False),
    sa.Column('dev_type', sa.String(8), nullable=False),
    sa.Column('dev_id', sa.String(255)),
    sa.Column('label', sa.String(255), nullable=False),
    sa.Column('status', sa.String(36), nullable=False),
    sa.Column('extra_info', columns.Json(dict), default=dict),
    sa.Column('container_uuid', sa.String(36)),
    sa.Column('numa_node', sa.Integer),
    sa.Column('parent_addr', sa.String(12)),
    *_timestamps(),
    sa.Column('request_id', sa.String(36)),
    sa.UniqueConstraint('compute_node_uuid', 'address',
                        name='uniq_pci_device0compute_node_uuid0address'),
    sa.Index('ix_pci_device_compute_node_uuid', 'compute_node_uuid'),
    sa.Index('ix_pci_device_compute_node_uuid_parent_addr', 'compute_node_uuid', 'parent_addr'),
    sa.Index('ix_pci_device_container_uuid', 'container_uuid'),
)

container_actions = sa.Table(
    'container_actions', metadata, *_timestamps(), _key(),
    sa.Column('action', sa.String(255)),
    sa.Column('container_uuid', sa.String(36),
              sa.ForeignKey('container.uuid', ondelete='CASCADE'), nullable=False),
    sa.Column('request_id', sa.String(255)),
    sa.Column('user_id', sa.String(255)),
    sa.Column('project_id', sa.String(255)),
    sa.Column('start_time', sa.DateTime, default=columns.utcnow),
    sa.Column('finish_time', sa.DateTime),
    sa.Column('message', columns.Remark(255)),
    sa.Index('container_uuid_idx', 'container_uuid'),
    sa.Index('request_id_idx', 'request_id'),
)

container_actions_events = sa.Table(
    'container_actions_events', metadata, *_timestamps(), _key(),
    sa.Column('event', sa.String(255)),
    sa.Column('action_id', sa.Integer,
              sa.ForeignKey('container_actions.id', ondelete='CASCADE'), nullable=False),
    sa.Column('start_time', sa.DateTime, default=columns.utcnow),
    sa.Column('finish_time', sa.DateTime),
    sa.Column('result', sa.String(255)),
    sa.Column('traceback', columns.Remark),
    sa.Column('details', columns.Remark),
    _foreign_key_index('action_id'),
)

quotas = sa.Table(
    'quotas', metadata, *_timestamps(), _key(),
    sa.Column('project_id', sa.String(255)),
    sa.Column('resource', sa.String(255), nullable=False),
    sa.Column('hard_limit', sa.Integer),
    sa.Index('uniq_quotas0project_id_resource', 'project_id', 'resource', unique=True),
    sa.Index('ix_quotas_project_id', 'project_id'),
)

quota_classes = sa.Table(
    'quota_classes', metadata, *_timestamps(), _key(),
    sa.Column('class_name', sa.String(255)),
    sa.Column('resource', sa.String(255)),
    sa.Column('hard_limit', sa.Integer),
    sa.Index('uniq_quota_classes0class_name_resource', 'class_name', 'resource', unique=True),
    sa.Index('quota_classes_class_name_idx', 'class_name'),
)

quota_usages = sa.Table(
    'quota_usages', metadata, *_timestamps(), _key(),
    sa.Column('project_id', sa.String(255)),
    sa.Column('resource', sa.String(255), nullable=False),
    _amount('in_use'), _amount('reserved'),
    sa.Column('until_refresh', sa.Integer),
    sa.UniqueConstraint('project_id', 'resource', name='uniq_quota_usages0project_id_resource'),
    sa.Index('ix_quota_usages_project_id', 'project_id'),
)

local_allocation = sa.Table(
    'local_allocation', metadata, *_timestamps(),
    sa.Column('consumer_uuid', sa.String(36), primary_key=True),
    sa.Column('rp_uuid', sa.String(36), nullable=False),
    _amount('vcpu'), _amount('memory_mb'), _amount('disk_gb'),
    *_owner(),
    sa.Column('consumer_type', sa.String(32)),
    _amount('generation'),
    sa.Index('ix_local_allocation_rp_uuid', 'rp_uuid'),
)

local_provider = sa.Table(
    'local_provider', metadata, *_timestamps(),
    sa.Column('rp_uuid', sa.String(36), primary_key=True),
    sa.Column('name', sa.String(255), nullable=False),
    sa.Column('disabled', sa.Boolean, nullable=False, default=False),
    _amount('vcpu'), _amount('memory_mb'), _amount('disk_gb'),
    _amount('used_vcpu'), _amount('used_memory_mb'), _amount('used_disk_gb'),
    _amount('generation'),
    sa.Index('ix_local_provider_name', 'name'),
)

embedded_network = sa.Table(
    'embedded_network', metadata, *_timestamps(),
    sa.Column('network_uuid', sa.String(36), primary_key=True),
    sa.Column('cidr', sa.String(64), nullable=False),
    sa.Column('gateway', sa.String(64), nullable=False),
    sa.Column('mtu', sa.Integer),
    sa.UniqueConstraint('cidr', name='uniq_embedded_network0cidr'),
)

embedded_allocation = sa.Table(
    'embedded_allocation', metadata, *_timestamps(), _key(),
    sa.Column('network_uuid', sa.String(36), nullable=False),
    sa.Column('address', sa.String(64), nullable=False),
    sa.Column('container_uuid', sa.String(36), nullable=False),
    sa.UniqueConstraint('network_uuid', 'address',
                        name='uniq_embedded_allocation0network_uuid_address'),
    sa.Index('ix_embedded_allocation_container_uuid', 'container_uuid'),
)

# Upstream's abandoned placement model: nothing reads or writes it, but its code may come back.

resource_provider = sa.Table(
    'resource_provider', metadata, *_timestamps(), _key(),
    sa.Column('uuid', sa.String(36), nullable=False),
    sa.Column('name', sa.String(255), nullable=False),
    sa.Column('root_provider', sa.String(36), nullable=False),
    sa.Column('parent_provider', sa.String(36)),
    sa.Column('can_host', sa.Integer),
    sa.UniqueConstraint('uuid', name='uniq_resource_provider0uuid'),
)

resource_class = sa.Table(
    'resource_class', metadata, *_timestamps(), _key(),
    sa.Column('name', sa.String(255), nullable=False),
    sa.Column('uuid', sa.String(36), nullable=False),
    sa.UniqueConstraint('uuid', name='uniq_resource_class0uuid'),
)

inventory = sa.Table(
    'inventory', metadata, *_timestamps(), _key(),
    sa.Column('resource_provider_id', sa.Integer, nullable=False),
    sa.Column('resource_class_id', sa.Integer, nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False)
      for name in ('total', 'reserved', 'min_unit', 'max_unit', 'step_size')),
    sa.Column('allocation_ratio', sa.Float, nullable=False),
    sa.Column('is_nested', sa.Integer, nullable=False),
    sa.Column('blob', sa.Text),
    sa.UniqueConstraint('resource_provider_id', 'resource_class_id',
                        name='uniq_inventory0resource_provider_resource_class'),
    sa.Index('inventory_resource_class_id_idx', 'resource_class_id'),
    sa.Index('inventory_resource_provider_id_idx', 'resource_provider_id'),
    sa.Index('inventory_resource_provider_resource_class_idx', 'resource_provider_id',
             'resource_class_id'),
)

allocation = sa.Table(
    'allocation', metadata, *_timestamps(), _key(),
    sa.Column('resource_provider_id', sa.Integer, nullable=False),
    sa.Column('consumer_id', sa.String(36), nullable=False),
    sa.Column('resource_class_id', sa.Integer, nullable=False),
    sa.Column('used', sa.Integer, nullable=False),
    sa.Column('is_nested', sa.Integer, nullable=False),
    sa.Column('blob', sa.Text),
    sa.Index('allocation_consumer_id_idx', 'consumer_id'),
    sa.Index('allocation_resource_class_id_idx', 'resource_class_id'),
    sa.Index('allocation_resource_provider_class_used_idx', 'resource_provider_id',
             'resource_class_id', 'used'),
)
