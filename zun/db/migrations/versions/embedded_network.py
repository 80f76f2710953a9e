# SPDX-License-Identifier: Apache-2.0
"""Blocks and addresses of the embedded networks, for hosts without Neutron."""

import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'embedded_network'
down_revision = 'local_allocation'


def upgrade() -> None:
    repeatable.create_table(
        'embedded_network',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('network_uuid', sa.String(36), primary_key=True),
        sa.Column('cidr', sa.String(64), nullable=False),
        sa.Column('gateway', sa.String(64), nullable=False),
        sa.Column('mtu', sa.Integer),
        sa.UniqueConstraint('cidr', name='uniq_embedded_network0cidr'))
    repeatable.create_table(
        'embedded_allocation',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('id', sa.Integer, primary_key=True, autoincrement=True),
        sa.Column('network_uuid', sa.String(36), nullable=False),
        sa.Column('address', sa.String(64), nullable=False),
        sa.Column('container_uuid', sa.String(36), nullable=False),
        sa.UniqueConstraint('network_uuid', 'address',
                            name='uniq_embedded_allocation0network_uuid_address'))
    repeatable.add_index('ix_embedded_allocation_container_uuid', 'embedded_allocation',
                         ['container_uuid'])
