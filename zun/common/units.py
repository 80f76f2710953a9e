# SPDX-License-Identifier: Apache-2.0
"""Amounts and ages: one parser and one formatter for each."""

import datetime
import math

_SUFFIXES = {'b': 1, 'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}
MIB = 1 << 20
GIB = 1 << 30


def memory_mib(text: str | int | None) -> int:
    """MiB of a memory column.

    Today's rows hold plain integers; old ones may hold decimals and a unit suffix, rounded up.

    :raises ValueError: the text is none of these
    """
    if not text:
        return 0
    word = str(text).strip().lower()
    if word.isdigit():
        return int(word)
    if word[-1] in _SUFFIXES:
        return math.ceil(float(word[:-1]) * _SUFFIXES[word[-1]] / MIB)
    return math.ceil(float(word))


def vcpus(amount: float | None) -> float:
    """vCPUs rounded to 3 decimals: MariaDB's 32-bit FLOAT drifts in sums."""
    return round(amount or 0.0, 3)


def age(since: datetime.datetime, now: datetime.datetime) -> str | None:
    """An age in its largest unit only; None below one second.

    >>> age(datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 2, 30))
    '2 hours'
    """
    delta = now - since
    for amount, unit in ((delta.days, 'days'), (delta.seconds // 3600, 'hours'),
                         (delta.seconds // 60, 'mins'), (delta.seconds, 'seconds')):
        if amount > 0:
            return f'{amount} {unit}'
    return None
