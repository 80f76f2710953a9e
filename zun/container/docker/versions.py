# SPDX-License-Identifier: Apache-2.0
"""Versions of the engine's API."""

from zun.common import exception

#: What this code was written for: Engine 20.10 to 29.
LOWEST = '1.41'
HIGHEST = '1.52'


def numbers(version: str) -> tuple[int, ...]:
    """To compare by.

    :raises ValueError: it is no version
    """
    return tuple(int(part) for part in version.split('.'))


def negotiate(lowest: str, highest: str, wanted: str | None) -> str:
    """The version to speak with an engine that offers these.

    :param wanted: the operator's choice; the nearest that both sides know is taken
    :raises ConfigInvalid: both sides have no version in common, or the choice is no version
    """
    low = max(lowest, LOWEST, key=numbers)
    high = min(highest, HIGHEST, key=numbers)
    if numbers(low) > numbers(high):
        raise exception.ConfigInvalid(
            error_msg=f'The container engine speaks API {lowest} to {highest}, '
                      f'Zun {LOWEST} to {HIGHEST}.')
    try:
        return max(low, min(wanted or high, high, key=numbers), key=numbers)
    except ValueError:
        raise exception.ConfigInvalid(
            error_msg=f'[docker]/docker_remote_api_version: {wanted}') from None
