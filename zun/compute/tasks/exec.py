# SPDX-License-Identifier: Apache-2.0
"""Looking into a container: logs, commands, terminal size, processes, statistics.

They go around the queue of operations, and only so many at a time.
"""

import contextlib
import typing as ty

from zun import objects
from zun.common import context as zun_context
from zun.compute import node as compute_node
from zun.compute import parcels as node_parcels
from zun.compute import streams
from zun.rpc import parcels

Context = zun_context.RequestContext


def logs(node: compute_node.Node, container: 'objects.Container', stdout: bool, stderr: bool,
         timestamps: bool, tail: int | None, since: str | None) -> str | dict[str, ty.Any]:
    """The newest part of what it has printed; a long one as parcel of UTF-8.

    :param tail: lines from the end; None: all
    :param since: seconds since the epoch
    """
    with contextlib.ExitStack() as undo:
        data = undo.enter_context(node_parcels.new_file())
        with node.stream():
            node.engine.logs(container, stdout, stderr, timestamps, tail, since, data)
        return _sent(node, container.uuid, data, undo)


def _sent(node: compute_node.Node, uuid: str, data: ty.IO[bytes],
          undo: contextlib.ExitStack) -> str | dict[str, ty.Any]:
    """A file of UTF-8 as an answer: a text, or the begin of a parcel.

    :param undo: closes the file; not when something of it is still to be sent
    """
    size = data.tell()
    data.seek(0)
    if size <= parcels.PLAIN_TEXT:
        return data.read().decode()
    answer = node.parcels.send(uuid, data)
    undo.pop_all()
    return answer


def execute(node: compute_node.Node, context: Context, container: 'objects.Container',
            command: str, run: bool, interactive: bool) -> dict[str, ty.Any]:
    """Run a command to its end, or prepare a console for it; much output is a parcel of UTF-8."""
    if not run:
        exec_id, token = streams.prepare_exec(node, context, container, command, interactive)
        return {'output': None, 'exit_code': None, 'exec_id': exec_id, 'token': token}
    with node.stream():
        output, exit_code = node.engine.execute(container, command)
    with contextlib.ExitStack() as undo:
        data = undo.enter_context(node_parcels.new_file())
        data.write(output.encode())
        return {'output': _sent(node, container.uuid, data, undo),
                'exit_code': exit_code, 'exec_id': None, 'token': None}


def top(node: compute_node.Node, container: 'objects.Container',
        ps_args: str | None) -> dict[str, ty.Any]:
    """``{'Titles': [...], 'Processes': [[...]]}``"""
    with node.stream():
        return node.engine.top(container, ps_args)


def stats(node: compute_node.Node, container: 'objects.Container') -> dict[str, ty.Any]:
    """One sample of its use of resources."""
    with node.stream():
        return node.engine.stats(container)
