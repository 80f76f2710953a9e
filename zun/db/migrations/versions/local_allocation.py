# SPDX-License-Identifier: Apache-2.0
"""The books of the local ledger, for clouds without Placement."""

import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'local_allocation'
down_revision = 'container_request'


def upgrade() -> None:
    repeatable.create_table(
        'local_allocation',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('consumer_uuid', sa.String(36), primary_key=True),
        sa.Column('rp_uuid', sa.String(36), nullable=False),
        sa.Column('vcpu', sa.Integer, nullable=False),
        sa.Column('memory_mb', sa.Integer, nullable=False),
        sa.Column('disk_gb', sa.Integer, nullable=False),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('consumer_type', sa.String(32)),
        sa.Column('generation', sa.Integer, nullable=False))
    repeatable.add_index('ix_local_allocation_rp_uuid', 'local_allocation', ['rp_uuid'])
