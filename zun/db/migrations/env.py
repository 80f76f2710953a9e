# SPDX-License-Identifier: Apache-2.0
"""What alembic runs. ``zun.db.migration`` hands it a connection."""

from alembic import context

from zun.db import models
from zun.db import models_console  # noqa: F401  its table is one of them

context.configure(
    connection=context.config.attributes['connection'], target_metadata=models.metadata,
    render_as_batch=True, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
