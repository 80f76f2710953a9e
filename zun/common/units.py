# SPDX-License-Identifier: Apache-2.0
"""Amounts and ages: one parser and one formatter for each."""

import datetime
import math
import re

_SUFFIXES = {'b': 1, 'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}
_MEMORY = re.compile(r'(\d+(?:\.\d*)?)([bkmg])?', re.ASCII)
MIB = 1 << 20
GIB = 1 << 30


def memory_mib(text: str | int | None) -> int:
    """MiB of a memory column.

    Today's rows hold plain integers; old ones may hold decimals and a unit suffix, rounded up.

    :raises ValueError: the text is none of these
    """
    if not text:
        return 0
    match = _MEMORY.fullmatch(str(text).strip().lower())
    if match is None:
        raise ValueError(f'{text!r} is no amount of memory')
    number, suffix = match.groups()
    if suffix is None:
        return math.ceil(float(number))
    return math.ceil(float(number) * _SUFFIXES[suffix] / MIB)


def vcpus(amount: float | None) -> float:
    """vCPUs rounded to 3 decimals: MariaDB's 32-bit FLOAT drifts in sums."""
    return round(amount or 0.0, 3)


def age(since: datetime.datetime, now: datetime.datetime) -> str | None:
    """An age in its largest unit only; None below one second, and for a time to come.

    >>> age(datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 2, 30))
    '2 hours'
    """
    delta = now - since
    seconds = max(0, delta.days * 86400 + delta.seconds)
    for amount, unit in ((seconds // 86400, 'days'), (seconds // 3600, 'hours'),
                         (seconds // 60, 'mins'), (seconds, 'seconds')):
        if amount > 0:
            return f'{amount} {unit}'
    return None
