# SPDX-License-Identifier: Apache-2.0
"""Upstream's schema of 5.0.0 to 12.x, as its migrations left it, under upstream's revision id."""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

revision = 'f979327df44b'
down_revision = None

_MEDIUM_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), 'mysql', 'mariadb')


def _key() -> sa.Column[int]:
    return sa.Column('id', sa.Integer, primary_key=True, autoincrement=True)


def _index(table: str, name: str, columns: list[str]) -> None:
    # MySQL has made the index of a foreign key itself, under the name of the column.
    if op.get_bind().dialect.name not in ('mysql', 'mariadb') or [name] != columns:
        op.create_index(name, table, columns)


def _mapping_uuid() -> sa.UniqueConstraint:
    # Upstream used one name twice; on PostgreSQL such names are those of indexes.
    postgresql = op.get_bind().dialect.name == 'postgresql'
    return sa.UniqueConstraint(
        'uuid', name='uniq_volume_mapping0uuid' if postgresql else 'uniq_volume0uuid')


def upgrade() -> None:
    for step in (_registry, _containers, _volumes, _hosts, _services, _records, _quotas,
                 _providers, _allocations):
        step()


def _registry() -> None:
    op.create_table(
        'registry',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('uuid', sa.String(36)),
        sa.Column('name', sa.String(255)),
        sa.Column('domain', sa.String(255), nullable=False),
        sa.Column('username', sa.String(255)),
        sa.Column('password', sa.String(255)),
        sa.UniqueConstraint('uuid', name='uniq_registry0uuid'),
    )


def _containers() -> None:
    op.create_table(
        'container',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('uuid', sa.String(36)),
        sa.Column('name', sa.String(255)),
        sa.Column('image', sa.String(255)),
        sa.Column('command', sa.Text),
        sa.Column('status', sa.String(20)),
        sa.Column('environment', sa.Text),
        sa.Column('container_id', sa.String(255)),
        sa.Column('memory', sa.String(255)),
        sa.Column('task_state', sa.String(20)),
        sa.Column('cpu', sa.Float),
        sa.Column('workdir', sa.String(255)),
        sa.Column('ports', sa.Text),
        sa.Column('hostname', sa.String(255)),
        sa.Column('labels', sa.Text),
        sa.Column('status_reason', sa.Text),
        sa.Column('image_pull_policy', sa.Text),
        sa.Column('addresses', sa.Text),
        sa.Column('host', sa.String(255)),
        sa.Column('restart_policy', sa.Text),
        sa.Column('status_detail', sa.String(50)),
        sa.Column('image_driver', sa.Text),
        sa.Column('interactive', sa.Boolean),
        sa.Column('websocket_url', sa.String(255)),
        sa.Column('websocket_token', sa.String(255)),
        sa.Column('security_groups', sa.Text),
        sa.Column('auto_remove', sa.Boolean),
        sa.Column('runtime', sa.String(32)),
        sa.Column('disk', sa.Integer),
        sa.Column('auto_heal', sa.Boolean),
        sa.Column('capsule_id', sa.Integer),
        sa.Column('started_at', sa.DateTime),
        sa.Column('privileged', sa.Boolean),
        sa.Column('healthcheck', sa.Text),
        sa.Column('exposed_ports', sa.Text),
        sa.Column('cpu_policy', sa.String(255)),
        sa.Column('cpuset', sa.Text),
        sa.Column('registry_id', sa.Integer),
        sa.Column('container_type', sa.Integer, server_default='0'),
        sa.Column('tty', sa.Boolean),
        sa.Column('annotations', _MEDIUM_TEXT),
        sa.Column('cni_metadata', _MEDIUM_TEXT),
        sa.Column('entrypoint', sa.Text),
        sa.ForeignKeyConstraint(['registry_id'], ['registry.id']),
        sa.ForeignKeyConstraint(['capsule_id'], ['container.id'], ondelete='CASCADE'),
        sa.UniqueConstraint('uuid', name='uniq_container0uuid'),
    )
    _index('container', 'capsule_id', ['capsule_id'])
    _index('container', 'ix_container_container_type', ['container_type'])
    _index('container', 'registry_id', ['registry_id'])


def _volumes() -> None:
    op.create_table(
        'volume',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('cinder_volume_id', sa.String(36)),
        sa.Column('volume_provider', sa.String(36), nullable=False),
        sa.Column('connection_info', _MEDIUM_TEXT),
        sa.Column('host', sa.String(255)),
        sa.Column('auto_remove', sa.Boolean),
        sa.Column('contents', _MEDIUM_TEXT),
        sa.UniqueConstraint('uuid', name='uniq_volume0uuid'),
    )
    op.create_table(
        'volume_mapping',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('container_uuid', sa.String(36)),
        sa.Column('container_path', sa.String(255)),
        sa.Column('volume_id', sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(['container_uuid'], ['container.uuid']),
        sa.ForeignKeyConstraint(['volume_id'], ['volume.id'], ondelete='CASCADE'),
        _mapping_uuid(),
    )
    _index('volume_mapping', 'container_uuid', ['container_uuid'])
    _index('volume_mapping', 'volume_id', ['volume_id'])
    op.create_table(
        'exec_instance',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('container_id', sa.Integer, nullable=False),
        sa.Column('exec_id', sa.String(255), nullable=False),
        sa.Column('token', sa.String(255)),
        sa.Column('url', sa.String(255)),
        sa.ForeignKeyConstraint(['container_id'], ['container.id'], ondelete='CASCADE'),
        sa.UniqueConstraint('container_id', 'exec_id',
                            name='uniq_exec_instance0container_id_exec_id'),
    )


def _hosts() -> None:
    op.create_table(
        'image',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('uuid', sa.String(36)),
        sa.Column('image_id', sa.String(255)),
        sa.Column('repo', sa.String(255)),
        sa.Column('tag', sa.String(255)),
        sa.Column('size', sa.String(255)),
        sa.Column('host', sa.String(255)),
        sa.UniqueConstraint('repo', 'tag', 'host', name='uniq_image0repotaghost'),
    )
    op.create_table(
        'network',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('name', sa.String(255)),
        sa.Column('uuid', sa.String(36)),
        sa.Column('network_id', sa.String(255)),
        sa.Column('neutron_net_id', sa.String(255)),
        sa.UniqueConstraint('neutron_net_id', name='uniq_network0neutron_net_id'),
        sa.UniqueConstraint('uuid', name='uniq_network0uuid'),
    )
    op.create_table(
        'compute_node',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('uuid', sa.String(36), primary_key=True),
        sa.Column('hostname', sa.String(255), nullable=False),
        sa.Column('numa_topology', sa.Text),
        sa.Column('mem_total', sa.Integer, nullable=False),
        sa.Column('mem_free', sa.Integer, nullable=False),
        sa.Column('mem_available', sa.Integer, nullable=False),
        sa.Column('total_containers', sa.Integer, nullable=False),
        sa.Column('running_containers', sa.Integer, nullable=False),
        sa.Column('paused_containers', sa.Integer, nullable=False),
        sa.Column('stopped_containers', sa.Integer, nullable=False),
        sa.Column('cpus', sa.Integer, nullable=False),
        sa.Column('cpu_used', sa.Float, nullable=False),
        sa.Column('architecture', sa.String(32)),
        sa.Column('os_type', sa.String(32)),
        sa.Column('os', sa.String(64)),
        sa.Column('kernel_version', sa.String(128)),
        sa.Column('labels', sa.Text),
        sa.Column('mem_used', sa.Integer, nullable=False),
        sa.Column('pci_stats', sa.Text),
        sa.Column('disk_total', sa.Integer, nullable=False),
        sa.Column('disk_used', sa.Integer, nullable=False),
        sa.Column('disk_quota_supported', sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column('runtimes', sa.Text),
        sa.Column('enable_cpu_pinning', sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column('rp_uuid', sa.String(36), nullable=False),
        sa.UniqueConstraint('rp_uuid', name='uniq_compute_node0rp_uuid'),
    )


def _services() -> None:
    op.create_table(
        'zun_service',
        _key(),
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('report_count', sa.Integer, nullable=False),
        sa.Column('host', sa.String(255)),
        sa.Column('binary', sa.String(255)),
        sa.Column('disabled', sa.Boolean),
        sa.Column('disabled_reason', sa.String(255)),
        sa.Column('last_seen_up', sa.DateTime),
        sa.Column('forced_down', sa.Boolean),
        sa.Column('availability_zone', sa.String(255)),
        sa.UniqueConstraint('host', 'binary', name='uniq_zun_service0host0binary'),
    )
    op.create_table(
        'pci_device',
        _key(),
        sa.Column('uuid', sa.String(36)),
        sa.Column('compute_node_uuid', sa.String(36), nullable=False),
        sa.Column('address', sa.String(12), nullable=False),
        sa.Column('vendor_id', sa.String(4), nullable=False),
        sa.Column('product_id', sa.String(4), nullable=False),
        sa.Column('dev_type', sa.String(8), nullable=False),
        sa.Column('dev_id', sa.String(255)),
        sa.Column('label', sa.String(255), nullable=False),
        sa.Column('status', sa.String(36), nullable=False),
        sa.Column('extra_info', sa.Text),
        sa.Column('container_uuid', sa.String(36)),
        sa.Column('numa_node', sa.Integer),
        sa.Column('parent_addr', sa.String(12)),
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('request_id', sa.String(36)),
        sa.ForeignKeyConstraint(['compute_node_uuid'], ['compute_node.uuid']),
        sa.UniqueConstraint('compute_node_uuid', 'address',
                            name='uniq_pci_device0compute_node_uuid0address'),
    )
    _index('pci_device', 'ix_pci_device_compute_node_uuid', ['compute_node_uuid'])
    _index('pci_device', 'ix_pci_device_compute_node_uuid_parent_addr',
           ['compute_node_uuid', 'parent_addr'])
    _index('pci_device', 'ix_pci_device_container_uuid', ['container_uuid'])


def _records() -> None:
    op.create_table(
        'container_actions',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('action', sa.String(255)),
        sa.Column('container_uuid', sa.String(36), nullable=False),
        sa.Column('request_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('project_id', sa.String(255)),
        sa.Column('start_time', sa.DateTime),
        sa.Column('finish_time', sa.DateTime),
        sa.Column('message', sa.String(255)),
        sa.ForeignKeyConstraint(['container_uuid'], ['container.uuid'], ondelete='CASCADE'),
    )
    _index('container_actions', 'container_uuid_idx', ['container_uuid'])
    _index('container_actions', 'request_id_idx', ['request_id'])
    op.create_table(
        'container_actions_events',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('event', sa.String(255)),
        sa.Column('action_id', sa.Integer, nullable=False),
        sa.Column('start_time', sa.DateTime),
        sa.Column('finish_time', sa.DateTime),
        sa.Column('result', sa.String(255)),
        sa.Column('traceback', sa.Text),
        sa.Column('details', sa.Text),
        sa.ForeignKeyConstraint(['action_id'], ['container_actions.id'], ondelete='CASCADE'),
    )
    _index('container_actions_events', 'action_id', ['action_id'])


def _quotas() -> None:
    op.create_table(
        'quotas',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('project_id', sa.String(255)),
        sa.Column('resource', sa.String(255), nullable=False),
        sa.Column('hard_limit', sa.Integer),
    )
    _index('quotas', 'ix_quotas_project_id', ['project_id'])
    op.create_table(
        'quota_classes',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('class_name', sa.String(255)),
        sa.Column('resource', sa.String(255)),
        sa.Column('hard_limit', sa.Integer),
    )
    _index('quota_classes', 'quota_classes_class_name_idx', ['class_name'])
    op.create_table(
        'quota_usages',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('id', sa.Integer, nullable=False),
        sa.Column('project_id', sa.String(255)),
        sa.Column('resource', sa.String(255), nullable=False),
        sa.Column('in_use', sa.Integer, nullable=False),
        sa.Column('reserved', sa.Integer, nullable=False),
        sa.Column('until_refresh', sa.Integer),
    )
    _index('quota_usages', 'ix_quota_usages_project_id', ['project_id'])


def _providers() -> None:
    op.create_table(
        'resource_provider',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('name', sa.String(255), nullable=False),
        sa.Column('root_provider', sa.String(36), nullable=False),
        sa.Column('parent_provider', sa.String(36)),
        sa.Column('can_host', sa.Integer),
        sa.UniqueConstraint('uuid', name='uniq_resource_provider0uuid'),
    )
    op.create_table(
        'resource_class',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('name', sa.String(255), nullable=False),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.UniqueConstraint('uuid', name='uniq_resource_class0uuid'),
    )


def _allocations() -> None:
    op.create_table(
        'inventory',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('resource_provider_id', sa.Integer, nullable=False),
        sa.Column('resource_class_id', sa.Integer, nullable=False),
        sa.Column('total', sa.Integer, nullable=False),
        sa.Column('reserved', sa.Integer, nullable=False),
        sa.Column('min_unit', sa.Integer, nullable=False),
        sa.Column('max_unit', sa.Integer, nullable=False),
        sa.Column('step_size', sa.Integer, nullable=False),
        sa.Column('allocation_ratio', sa.Float, nullable=False),
        sa.Column('is_nested', sa.Integer, nullable=False),
        sa.Column('blob', sa.Text),
        sa.UniqueConstraint('resource_provider_id', 'resource_class_id',
                            name='uniq_inventory0resource_provider_resource_class'),
    )
    _index('inventory', 'inventory_resource_class_id_idx', ['resource_class_id'])
    _index('inventory', 'inventory_resource_provider_id_idx', ['resource_provider_id'])
    _index('inventory', 'inventory_resource_provider_resource_class_idx',
           ['resource_provider_id', 'resource_class_id'])
    op.create_table(
        'allocation',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        _key(),
        sa.Column('resource_provider_id', sa.Integer, nullable=False),
        sa.Column('consumer_id', sa.String(36), nullable=False),
        sa.Column('resource_class_id', sa.Integer, nullable=False),
        sa.Column('used', sa.Integer, nullable=False),
        sa.Column('is_nested', sa.Integer, nullable=False),
        sa.Column('blob', sa.Text),
    )
    _index('allocation', 'allocation_consumer_id_idx', ['consumer_id'])
    _index('allocation', 'allocation_resource_class_id_idx', ['resource_class_id'])
    _index('allocation', 'allocation_resource_provider_class_used_idx',
           ['resource_provider_id', 'resource_class_id', 'used'])
