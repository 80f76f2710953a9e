# SPDX-License-Identifier: Apache-2.0
"""The table of console sessions."""

import sqlalchemy as sa

from zun.db import columns
from zun.db import models

#: From the ticket to the end of the connection. Secrets are kept as SHA-256 only.
console_session = sa.Table(
    'console_session', models.metadata,
    sa.Column('created_at', sa.DateTime, default=columns.utcnow),
    sa.Column('updated_at', sa.DateTime, onupdate=columns.utcnow),
    sa.Column('id', sa.String(32), primary_key=True),
    sa.Column('token_hash', sa.String(64), nullable=False),
    sa.Column('container_uuid', sa.String(36),
              sa.ForeignKey('container.uuid', ondelete='CASCADE'), nullable=False),
    sa.Column('project_id', sa.String(255)),
    sa.Column('user_id', sa.String(255)),
    sa.Column('host', sa.String(255), nullable=False),
    sa.Column('kind', sa.String(16), nullable=False),
    sa.Column('exec_id', sa.String(64)),
    sa.Column('tty', sa.Boolean, nullable=False, default=False),
    sa.Column('params', columns.Json(dict), default=dict),
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
    sa.UniqueConstraint('token_hash', name='uniq_console_session0token_hash'),
    sa.Index('ix_console_session_container_uuid', 'container_uuid'),
    sa.Index('ix_console_session_host_expires_at', 'host', 'expires_at'),
)
