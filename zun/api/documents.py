# SPDX-License-Identifier: Apache-2.0
"""JSON as it comes from users: only what RFC 8259 knows and a database can hold."""

import json
import math
import typing as ty

from zun.common import exception

_NUL = '\0'


def _no_constant(text: str) -> ty.NoReturn:
    raise exception.SchemaValidationError(f'{text} is not a JSON number.')


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise exception.SchemaValidationError(f'The number {text[:20]} is too large.')
    return value


def loads(text: str | bytes) -> ty.Any:
    """The value of a JSON text.

    :raises ValueError: it is malformed, or nested too deeply
    :raises SchemaValidationError: it has numbers or text that JSON or Unicode do not know
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise exception.SchemaValidationError(
            'A text has half of a surrogate pair.') from None
    except RecursionError:
        raise ValueError('nested too deeply') from None
    return value


def refuse_nul(value: ty.Any) -> None:
    """Refuse the character that neither PostgreSQL nor an engine can keep.

    :raises SchemaValidationError: a text in the value has it
    """
    if isinstance(value, str):
        if _NUL in value:
            raise exception.SchemaValidationError('A text has the character U+0000.')
    elif isinstance(value, dict):
        for key, member in value.items():
            refuse_nul(key)
            refuse_nul(member)
    elif isinstance(value, list):
        for member in value:
            refuse_nul(member)
