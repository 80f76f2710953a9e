# SPDX-License-Identifier: Apache-2.0
"""Points at which a test ends the process as a crash would: at once, with nothing cleaned up.

``ZUN_FAIL_POINT=create.claimed`` does it at the first pass of that point,
``ZUN_FAIL_POINT=create.claimed:3`` at the third. Without the variable a point does nothing.
"""

import os
import threading

VARIABLE = 'ZUN_FAIL_POINT'
#: As of a process that got SIGKILL.
EXIT_CODE = 137

_lock = threading.Lock()
_passed: dict[str, int] = {}


def hit(name: str) -> None:
    """Pass the point of this name: ``<operation>.<step that is done>``."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    point, _, count = wanted.partition(':')
    if point != name:
        return
    with _lock:
        _passed[name] = _passed.get(name, 0) + 1
        if _passed[name] >= int(count or 1):
            os._exit(EXIT_CODE)
