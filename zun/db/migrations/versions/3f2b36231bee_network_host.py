# SPDX-License-Identifier: Apache-2.0
"""A network per host: the step to upstream's schema of 13.0.0 to 18.0.0, under its revision id."""

from alembic import op
import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = '3f2b36231bee'
down_revision = 'f979327df44b'

_OLD = 'uniq_network0neutron_net_id'
_NEW = 'uniq_network0neutron_net_id_host'


def upgrade() -> None:
    columns = repeatable.columns_of('network')
    uniques = repeatable.uniques_of('network')
    with op.batch_alter_table('network') as batch:
        if 'host' not in columns:
            batch.add_column(sa.Column('host', sa.String(255)))
        if _OLD in uniques:
            batch.drop_constraint(_OLD, type_='unique')
        if _NEW not in uniques:
            batch.create_unique_constraint(_NEW, ['neutron_net_id', 'host'])
