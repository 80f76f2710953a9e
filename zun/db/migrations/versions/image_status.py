# SPDX-License-Identifier: Apache-2.0
"""Whether an image on a host is there, and why not."""

from alembic import op
import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'image_status'
down_revision = 'network_host_index'


def upgrade() -> None:
    repeatable.add_columns('image', sa.Column('status', sa.String(20)),
                           sa.Column('status_reason', sa.Text))
    image = sa.table('image', *map(sa.column, ('status', 'image_id')))
    # What has no id yet is fetched when the agent of its host starts.
    op.execute(sa.update(image).where(image.c.status.is_(None)).values(status=sa.case(
        (image.c.image_id.is_(None), 'Pulling'), else_='Available')))
