# SPDX-License-Identifier: Apache-2.0
"""Command lines of users."""

import shlex

from zun.common import exception


def split(command: str) -> list[str]:
    """The words of a command line, as a POSIX shell splits them; none of its other rules apply.

    :raises Invalid: it is empty or has an open quote
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise exception.Invalid(f'Invalid command: {error}.') from error
    if not words:
        raise exception.Invalid('Invalid command: it is empty.')
    return words
