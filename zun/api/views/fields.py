# SPDX-License-Identifier: Apache-2.0
"""What several views have in common."""

import collections.abc
import datetime

from zun.api import microversions
from zun.common import context as zun_context
from zun.common import policy


def hidden(context: zun_context.RequestContext, prefix: str,
           names: collections.abc.Iterable[str]) -> frozenset[str]:
    """Fields that the caller may not see: there is a rule ``<prefix>:<field>`` and it refuses.

    Evaluated once for a request, not for each row.
    """
    rules = {name: f'{prefix}:{name}' for name in names}
    return frozenset(name for name, rule in rules.items()
                     if policy.exists(rule) and not policy.allowed(context, rule))


def known(since: collections.abc.Mapping[str, str],
          version: microversions.Version) -> list[str]:
    """The fields that a version shows, of some that came after 1.40.

    :param since: field -> first version that shows it
    """
    return [name for name, first in since.items() if microversions.parse(first) <= version]


def time(value: datetime.datetime | None) -> str | None:
    """``YYYY-MM-DD hh:mm:ss``, with a fraction when there is one."""
    return None if value is None else str(value)


def time_t(value: datetime.datetime | None) -> str | None:
    """``YYYY-MM-DDThh:mm:ss.ffffff``"""
    return None if value is None else value.isoformat(timespec='microseconds')
