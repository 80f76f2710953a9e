# SPDX-License-Identifier: Apache-2.0
"""Some rows of many, without reading the others."""

import random
import typing as ty
import uuid

import sqlalchemy as sa


def some(statement: sa.Select[ty.Any], key: sa.Column[str],
         limit: int) -> sa.CompoundSelect[ty.Any]:
    """A run of at most so many rows, from anywhere on and then from the first.

    Always the first so many would leave the others out for ever.

    :param key: an indexed column of UUIDs, which is selected, too
    """
    anywhere = str(uuid.UUID(int=random.getrandbits(128)))
    parts = [statement.where(condition).order_by(key).limit(limit).subquery()
             for condition in (key >= anywhere, key < anywhere)]
    return sa.union_all(*(sa.select(part) for part in parts)).limit(limit)
