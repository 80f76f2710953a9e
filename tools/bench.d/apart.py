# SPDX-License-Identifier: Apache-2.0
"""The node and the control plane on CPUs of their own, as on machines of their own."""

import collections.abc
import contextlib
import os
import pathlib

_PROC = pathlib.Path('/proc')
_ENGINE = ('dockerd', 'containerd', 'containerd-shim')
_AGENT = 'zun-compute'


@contextlib.contextmanager
def apart() -> collections.abc.Iterator[str]:
    """Half of the CPUs for the engine and zun-compute; the others for all else of the lab, and us.

    :returns: what was done, in words
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise SystemExit('bench: to set node and control plane apart takes two CPUs')
    half = len(cpus) // 2
    before: dict[int, set[int]] = {}
    try:
        for process in _node():
            _pin(process, set(cpus[:half]), before)
        for process in (*_control_plane(), os.getpid()):
            _pin(process, set(cpus[half:]), before)
        yield f'node on {half} of {len(cpus)} CPUs'
    finally:
        for thread, affinity in before.items():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, affinity)


def _pin(process: int, cpus: set[int], before: dict[int, set[int]]) -> None:
    """Every thread of a process; what they start inherits it."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in (_PROC / str(process) / 'task').iterdir():
            thread = int(task.name)
            affinity = os.sched_getaffinity(thread)
            os.sched_setaffinity(thread, cpus)
            before.setdefault(thread, affinity)


def _processes() -> dict[int, int]:
    """Process -> its parent."""
    found = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found[int(entry.name)] = int(
                    (entry / 'stat').read_text().rpartition(')')[2].split()[1])
    return found


def _node() -> set[int]:
    engine = {process for process in _processes() if _name(process) in _ENGINE}
    return engine | _family({process for name, process in _of_lab() if name.startswith(_AGENT)})


def _control_plane() -> set[int]:
    others = {process for name, process in _of_lab() if not name.startswith((_AGENT, 'docker'))}
    return _family(others) - _node()


def _of_lab() -> list[tuple[str, int]]:
    """Name and process of everything that the lab has started."""
    return [(path.stem, int(path.read_text()))
            for path in (pathlib.Path(os.environ['LAB_DIR']) / 'run').glob('*.pid')]


def _family(roots: set[int]) -> set[int]:
    """Processes with all that come from them."""
    parents, found = _processes(), set(roots)
    while more := {process for process, parent in parents.items()
                   if parent in found and process not in found}:
        found |= more
    return found


def _name(process: int) -> str:
    try:
        return (_PROC / str(process) / 'comm').read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ''
