# SPDX-License-Identifier: Apache-2.0
"""Column types: JSON as text in upstream's exact format, wide text, rounded floats, local time."""

import datetime
import json
import re
import typing as ty

from oslo_utils import timeutils
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

#: 16 MiB on MySQL, where plain TEXT ends at 64 KiB.
MEDIUM_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), 'mysql', 'mariadb')

#: What some database cannot hold: NUL, and what is beyond utf8mb3.
_UNSTORABLE = re.compile('[\0\ud800-\udfff\U00010000-\U0010ffff]')

#: Most columns of most rows are empty: half of the time to read a list of containers.
_EMPTY: dict[str, type[ty.Any]] = {'{}': dict, '[]': list}


class Json(sa.types.TypeDecorator[ty.Any]):
    """A JSON value as text: ``", "`` and ``": "`` between items, non-ASCII escaped.

    :param kind: dict or list, of which None is stored as the empty one; None: any value
    :param medium: as MEDIUM_TEXT
    :param nullable: None is NULL all the same
    """

    impl = sa.Text
    cache_ok = True

    def __init__(self, kind: type[ty.Any] | None = None, medium: bool = False,
                 nullable: bool = False) -> None:
        super().__init__()
        self.kind = kind
        self.medium = medium
        self.nullable = nullable

    def load_dialect_impl(self, dialect: sa.Dialect) -> ty.Any:
        return dialect.type_descriptor(MEDIUM_TEXT if self.medium else sa.Text())

    def process_bind_param(self, value: ty.Any, dialect: sa.Dialect) -> str | None:
        if value is None and (self.kind is None or self.nullable):
            return None
        return json.dumps(self.kind() if value is None and self.kind else value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> ty.Any:
        if value is None:
            return None
        empty = _EMPTY.get(value)
        return json.loads(value) if empty is None else empty()


class Remark(sa.types.TypeDecorator[str]):
    """What engines and neighbours say: it is stored whatever characters it has."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, length: int | None = None) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: sa.Dialect) -> ty.Any:
        return dialect.type_descriptor(sa.String(self.length) if self.length else sa.Text())

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else _UNSTORABLE.sub('\ufffd', value)


class RoundedFloat(sa.types.TypeDecorator[float]):
    """FLOAT read with 3 decimals: MariaDB keeps 24 bits."""

    impl = sa.Float
    cache_ok = True

    def process_result_value(self, value: float | None, dialect: sa.Dialect) -> float | None:
        return None if value is None else round(value, 3)


def utcnow() -> datetime.datetime:
    """Naive UTC in whole seconds, which is what MariaDB keeps."""
    return timeutils.utcnow().replace(microsecond=0)
