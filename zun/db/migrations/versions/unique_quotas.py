# SPDX-License-Identifier: Apache-2.0
"""One limit per project or class and resource: the newest of duplicates stays."""

from alembic import op
import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'unique_quotas'
down_revision = 'query_indexes'


def _keep_newest(table: str, owner: str) -> None:
    rows = sa.table(table, sa.column('id'), sa.column(owner), sa.column('resource'))
    newest = sa.select(sa.func.max(rows.c.id).label('id')).group_by(
        rows.c[owner], rows.c.resource).subquery()
    # A derived table, as MySQL does not delete from what it selects from.
    op.execute(sa.delete(rows).where(
        rows.c[owner].is_not(None), rows.c.id.not_in(sa.select(newest.c.id))))


def upgrade() -> None:
    for table, owner in (('quotas', 'project_id'), ('quota_classes', 'class_name')):
        _keep_newest(table, owner)
        repeatable.add_index(
            f'uniq_{table}0{owner}_resource', table, [owner, 'resource'], unique=True)
