# SPDX-License-Identifier: Apache-2.0
"""Indexes for what is asked all the time: by host, project, name, Cinder volume and binary."""

from zun.db.migrations import repeatable

revision = 'query_indexes'
down_revision = '3f2b36231bee'

_INDEXES = (
    ('ix_container_host_type', 'container', ['host', 'container_type']),
    ('ix_container_project_type_id', 'container', ['project_id', 'container_type', 'id']),
    ('ix_container_name', 'container', ['name']),
    ('ix_volume_cinder_volume_id', 'volume', ['cinder_volume_id']),
    ('ix_volume_mapping_project_id', 'volume_mapping', ['project_id']),
    ('ix_zun_service_binary', 'zun_service', ['binary']),
    ('ix_image_project_id', 'image', ['project_id']),
    ('ix_registry_project_id', 'registry', ['project_id']),
    ('ix_network_project_id', 'network', ['project_id']),
)


def upgrade() -> None:
    for name, table, columns in _INDEXES:
        repeatable.add_index(name, table, columns)
