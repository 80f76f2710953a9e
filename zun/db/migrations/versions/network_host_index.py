# SPDX-License-Identifier: Apache-2.0
"""An index for what a node asks about its own networks."""

from zun.db.migrations import repeatable

revision = 'network_host_index'
down_revision = 'local_provider'


def upgrade() -> None:
    repeatable.add_index('ix_network_host', 'network', ['host'])
