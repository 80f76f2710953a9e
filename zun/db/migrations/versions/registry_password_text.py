# SPDX-License-Identifier: Apache-2.0
"""Room for the encrypted form of long registry passwords."""

from alembic import op
import sqlalchemy as sa

revision = 'registry_password_text'
down_revision = 'unique_hostname'


def upgrade() -> None:
    with op.batch_alter_table('registry') as batch:
        batch.alter_column('password', existing_type=sa.String(255), type_=sa.Text())
