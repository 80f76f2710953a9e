# SPDX-License-Identifier: Apache-2.0
"""Processes of containers as this host sees them."""

import collections.abc
import contextlib
import os
import pathlib
import signal
import time

_PROC = pathlib.Path('/proc')
_ROUNDS = 20
_PAUSE = 0.02


def kill(pid: int, container_id: str,
         inside: collections.abc.Callable[[list[int]], None]) -> bool:
    """End a process that the engine started in a container, and all that it started.

    :param pid: in the engine's view
    :param container_id: the engine's; a process outside of it is left alone, as it is when this
        process and the engine do not count the same
    :param inside: kills by the container's own pids, where this process may not
    :returns: whether nothing of it is left
    """
    if not _belongs(pid, container_id):
        return not (_PROC / str(pid)).exists()
    for _ in range(_ROUNDS):
        found = family(pid)
        if not found:
            return True
        try:
            for member in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)
        except PermissionError:
            inside([own for member in found if (own := _pid_inside(member))])
        time.sleep(_PAUSE)
    return False


def family(pid: int) -> list[int]:
    """The process, its descendants, and what is in the session that it leads.

    An orphan keeps its session, and a child that leads a session of its own keeps its parent.
    """
    table = dict(_table())
    found = {each for each, (_, session) in table.items() if session == pid}
    if pid in table:
        found.add(pid)
    size = 0
    while len(found) > size:
        size = len(found)
        found |= {each for each, (parent, _) in table.items() if parent in found}
    return sorted(found)


def _table() -> collections.abc.Iterator[tuple[int, tuple[int, int]]]:
    """Parent and session of each process that has not ended."""
    for entry in os.scandir(_PROC):
        if not entry.name.isdigit():
            continue
        try:
            text = (_PROC / entry.name / 'stat').read_text(errors='replace')
        except OSError:
            continue
        state, parent, _, session = text.rpartition(')')[2].split()[:4]
        if state not in 'ZX':
            yield int(entry.name), (int(parent), int(session))


def _belongs(pid: int, container_id: str) -> bool:
    try:
        return container_id in (_PROC / str(pid) / 'cgroup').read_text()
    except OSError:
        return False


def _pid_inside(pid: int) -> int | None:
    """What the innermost namespace calls it: the last number of NSpid."""
    try:
        status = (_PROC / str(pid) / 'status').read_text(errors='replace')
    except OSError:
        return None
    numbers = next((line.split()[1:] for line in status.splitlines()
                    if line.startswith('NSpid:')), None)
    return int(numbers[-1]) if numbers else None
