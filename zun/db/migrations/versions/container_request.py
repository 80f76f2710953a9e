# SPDX-License-Identifier: Apache-2.0
"""What was asked for a container, and what became of its engine container."""

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from zun.db.migrations import repeatable

revision = 'container_request'
down_revision = 'registry_password_text'


def upgrade() -> None:
    repeatable.add_columns(
        'container',
        sa.Column('effective_command', sa.Text),
        sa.Column('effective_entrypoint', sa.Text),
        sa.Column('exit_code', sa.Integer),
        sa.Column('finished_at', sa.DateTime),
        sa.Column('health', sa.String(16)))
    repeatable.create_table(
        'container_request',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('id', sa.Integer, primary_key=True, autoincrement=True),
        sa.Column('container_uuid', sa.String(36),
                  sa.ForeignKey('container.uuid', ondelete='CASCADE'), nullable=False),
        sa.Column('generation', sa.Integer, nullable=False, server_default='0'),
        sa.Column('operation', sa.String(32)),
        sa.Column('operation_args', sa.Text),
        sa.Column('operation_id', sa.String(255)),
        sa.Column('operation_time', sa.DateTime),
        sa.Column('run', sa.Boolean),
        sa.Column('requested_networks', sa.Text),
        sa.Column('requested_volumes',
                  sa.Text().with_variant(mysql.MEDIUMTEXT(), 'mysql', 'mariadb')),
        sa.Column('pci_requests', sa.Text),
        sa.Column('availability_zone', sa.String(255)),
        sa.Column('hints', sa.Text),
        sa.Column('requested_host', sa.String(255)),
        sa.Column('attempts', sa.Integer, nullable=False, server_default='0'),
        sa.Column('excluded_hosts', sa.Text),
        sa.Column('claimed', sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column('retry_at', sa.DateTime),
        sa.UniqueConstraint('container_uuid', name='uniq_container_request0container_uuid'))
    repeatable.add_index('ix_container_request_retry_at', 'container_request', ['retry_at'])
