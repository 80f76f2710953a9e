# SPDX-License-Identifier: Apache-2.0
"""One compute node per host name: of duplicates the one that was written last stays."""

from alembic import op
import sqlalchemy as sa

from zun.db.migrations import repeatable

revision = 'unique_hostname'
down_revision = 'quota_usages_key'

_NODE = sa.table('compute_node', sa.column('uuid'), sa.column('hostname'),
                 sa.column('created_at'), sa.column('updated_at'))
_DEVICE = sa.table('pci_device', sa.column('compute_node_uuid'))


def _stale() -> list[str]:
    # Grouped by the database, in whose collation the names must differ.
    twins = sa.select(_NODE.c.hostname).group_by(_NODE.c.hostname).having(sa.func.count() > 1)
    seen = sa.func.coalesce(_NODE.c.updated_at, _NODE.c.created_at)
    stale = []
    for hostname in op.get_bind().execute(twins).scalars().all():
        uuids = op.get_bind().execute(sa.select(_NODE.c.uuid).where(
            _NODE.c.hostname == hostname).order_by(seen.desc(), _NODE.c.uuid)).scalars().all()
        stale += uuids[1:]
    return stale


def upgrade() -> None:
    stale = _stale()
    op.execute(sa.delete(_DEVICE).where(_DEVICE.c.compute_node_uuid.in_(stale)))
    op.execute(sa.delete(_NODE).where(_NODE.c.uuid.in_(stale)))
    repeatable.add_index('uniq_compute_node0hostname', 'compute_node', ['hostname'], unique=True)
