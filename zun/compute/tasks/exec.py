# SPDX-License-Identifier: Apache-2.0
"""Looking into a container: logs, commands, terminal size, processes, statistics.

They go around the queue of operations, and only so many at a time.
"""

import typing as ty

from zun import objects
from zun.common import exception
from zun.compute import node as compute_node


def logs(node: compute_node.Node, container: 'objects.Container', stdout: bool, stderr: bool,
         timestamps: bool, tail: int | None, since: str | None) -> str:
    """The newest part of what it has printed.

    :param tail: lines from the end; None: all
    :param since: seconds since the epoch
    """
    with node.stream():
        return node.engine.logs(container, stdout, stderr, timestamps, tail, since)


def execute(node: compute_node.Node, container: 'objects.Container', command: str, run: bool,
            interactive: bool) -> dict[str, ty.Any]:
    """Run a command to its end; nobody types into it.

    :raises OperationNotSupported: a session was asked for
    """
    if not run:
        raise exception.OperationNotSupported(
            'Interactive commands are not supported yet: use run=true.')
    with node.stream():
        output, exit_code = node.engine.execute(container, command)
    return {'output': output, 'exit_code': exit_code, 'exec_id': None, 'token': None}


def attach(node: compute_node.Node, container: 'objects.Container') -> str:
    """
    :raises OperationNotSupported: always, for now
    """
    raise exception.OperationNotSupported('Attaching to a container is not supported yet.')


def resize_exec(node: compute_node.Node, container: 'objects.Container', exec_id: str,
                height: int, width: int) -> None:
    """
    :raises OperationNotSupported: always, for now
    """
    raise exception.OperationNotSupported('Interactive commands are not supported yet.')


def resize(node: compute_node.Node, container: 'objects.Container', height: int,
           width: int) -> None:
    """Size of its terminal in rows and columns."""
    node.engine.resize(container, height, width)


def top(node: compute_node.Node, container: 'objects.Container',
        ps_args: str | None) -> dict[str, ty.Any]:
    """``{'Titles': [...], 'Processes': [[...]]}``"""
    with node.stream():
        return node.engine.top(container, ps_args)


def stats(node: compute_node.Node, container: 'objects.Container') -> dict[str, ty.Any]:
    """One sample of its use of resources."""
    with node.stream():
        return node.engine.stats(container)
