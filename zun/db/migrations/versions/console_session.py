# SPDX-License-Identifier: Apache-2.0
"""Console sessions, from the ticket to the end of the connection."""

import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'console_session'
down_revision = 'embedded_network'


def upgrade() -> None:
    repeatable.create_table(
        'console_session',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('id', sa.String(32), primary_key=True),
        sa.Column('token_hash', sa.String(64), nullable=False),
        sa.Column('container_uuid', sa.String(36),
                  sa.ForeignKey('container.uuid', ondelete='CASCADE'), nullable=False),
        sa.Column('project_id', sa.String(255)),
        sa.Column('user_id', sa.String(255)),
        sa.Column('host', sa.String(255), nullable=False),
        sa.Column('kind', sa.String(16), nullable=False),
        sa.Column('exec_id', sa.String(64)),
        sa.Column('tty', sa.Boolean, nullable=False),
        sa.Column('params', sa.Text),
        sa.Column('action_id', sa.Integer),
        sa.Column('node_url', sa.String(255), nullable=False),
        sa.Column('node_key_hash', sa.String(64)),
        sa.Column('engine_id', sa.String(64)),
        sa.Column('height', sa.Integer),
        sa.Column('width', sa.Integer),
        sa.Column('client_address', sa.String(64)),
        sa.Column('expires_at', sa.DateTime, nullable=False),
        sa.Column('consumed_at', sa.DateTime),
        sa.Column('opened_at', sa.DateTime),
        sa.Column('ended_at', sa.DateTime),
        sa.Column('close_code', sa.Integer),
        sa.UniqueConstraint('token_hash', name='uniq_console_session0token_hash'))
    repeatable.add_index('ix_console_session_container_uuid', 'console_session',
                         ['container_uuid'])
    repeatable.add_index('ix_console_session_host_expires_at', 'console_session',
                         ['host', 'expires_at'])
