# SPDX-License-Identifier: Apache-2.0
"""Alembic's scripts. They end in the tables of zun.db.models."""
