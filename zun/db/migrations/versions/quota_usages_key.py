# SPDX-License-Identifier: Apache-2.0
"""A primary key for quota_usages, which replication wants, and one row per project and resource.

The table is made anew: it is a cache that upstream gave up, nothing reads what may be in it.
"""

from alembic import op
import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'quota_usages_key'
down_revision = 'unique_quotas'


def upgrade() -> None:
    inspector = sa.inspect(op.get_bind())
    if inspector.has_table('quota_usages'):
        if inspector.get_pk_constraint('quota_usages')['constrained_columns']:
            return
        op.drop_table('quota_usages')
    repeatable.create_table(
        'quota_usages',
        sa.Column('created_at', sa.DateTime),
        sa.Column('updated_at', sa.DateTime),
        sa.Column('id', sa.Integer, primary_key=True, autoincrement=True),
        sa.Column('project_id', sa.String(255)),
        sa.Column('resource', sa.String(255), nullable=False),
        sa.Column('in_use', sa.Integer, nullable=False),
        sa.Column('reserved', sa.Integer, nullable=False),
        sa.Column('until_refresh', sa.Integer),
        sa.UniqueConstraint(
            'project_id', 'resource', name='uniq_quota_usages0project_id_resource'))
    repeatable.add_index('ix_quota_usages_project_id', 'quota_usages', ['project_id'])
