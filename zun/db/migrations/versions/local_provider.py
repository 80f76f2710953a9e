# SPDX-License-Identifier: Apache-2.0
"""What hosts offer to the local ledger, and how much of it is held."""

import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'local_provider'
down_revision = 'console_session'


def upgrade() -> None:
    repeatable.create_table(
        'local_provider',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('rp_uuid', sa.String(36), primary_key=True),
        sa.Column('name', sa.String(255), nullable=False),
        sa.Column('disabled', sa.Boolean, nullable=False),
        *(sa.Column(f'{prefix}{name}', sa.Integer, nullable=False)
          for prefix in ('', 'used_') for name in ('vcpu', 'memory_mb', 'disk_gb')),
        sa.Column('generation', sa.Integer, nullable=False))
    repeatable.add_index('ix_local_provider_name', 'local_provider', ['name'])
