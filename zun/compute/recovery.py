# SPDX-License-Identifier: Apache-2.0
"""What becomes of an operation whose process died, or whose message was lost.

The rows say what was wanted, the engine says what is there; the decision is made from both alone.
"""

import collections.abc
import dataclasses
import enum

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import observation
from zun.compute import operations
from zun.compute import task
from zun.compute.tasks import create
from zun.compute.tasks import networks
from zun.compute.tasks import power
from zun.compute.tasks import rebuild
from zun.compute.tasks import update
from zun.container import driver as container_driver
from zun.db import journal

LOG = logging.getLogger(__name__)

INTERRUPTED = 'The operation was interrupted.'
#: Operations on networks, and what the row shows while one of them is done.
_ON_NETWORKS = frozenset({'network_attach', 'network_detach', 'add_security_group',
                          'remove_security_group'})
_TASKS_ON_NETWORKS = frozenset(states.ACTIONS[name].task_state for name in _ON_NETWORKS)
#: Signals that end a container for certain: another one of them does no harm.
_DEADLY = frozenset({None, '9', 'KILL', 'SIGKILL'})


class Decision(enum.Enum):
    """
    REDO: do the operation again, with its arguments.
    DELETE: go on with a delete.
    FINISH: what was wanted is there; take over what the engine says.
    CLEAR: take back what a create left, and end in Error.
    CLOSE: nothing can be done; take over what the engine says, and say so.
    """

    REDO = enum.auto()
    DELETE = enum.auto()
    FINISH = enum.auto()
    CLEAR = enum.auto()
    CLOSE = enum.auto()


@dataclasses.dataclass(frozen=True)
class Open:
    """What the rows say of an operation that is not done.

    :ivar made: the row knows an engine container
    :ivar args: of the operation
    """

    status: str
    task_state: str | None = None
    operation: str | None = None
    operation_id: str | None = None
    args: collections.abc.Mapping[str, object] = dataclasses.field(default_factory=dict)
    made: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is open at all."""
        return (self.operation is not None or self.task_state is not None
                or self.status in states.TRANSITIONAL)


def decide(row: Open, seen: container_driver.Observed | None) -> Decision:
    """What to do about it.

    :param seen: the engine's view; None when it has no such container
    """
    if row.operation == 'delete' or row.status == states.DELETING:
        return Decision.DELETE
    if row.operation is None:
        return _decide_unrecorded(row, seen)
    if row.operation == 'create':
        return _decide_create(row)
    if row.operation == 'rebuild':
        return _decide_rebuild(row, seen)
    if row.operation not in operations.OPERATIONS or seen is None:
        return Decision.CLOSE
    return _decide_power(row, seen)


def decide_capsule(row: Open) -> Decision:
    """What to do about a capsule: its operations find out themselves what is there."""
    if row.operation == 'delete' or row.status == states.DELETING:
        return Decision.DELETE
    if row.operation == 'rebuild' or (row.operation, row.status) == ('create', states.CREATING):
        return Decision.REDO
    if row.status == states.CREATING or (row.status == states.ERROR and not row.made):
        return Decision.CLEAR
    return Decision.CLOSE


def _decide_unrecorded(row: Open, seen: container_driver.Observed | None) -> Decision:
    """A row from before operations were recorded, or work that no request asked for."""
    if seen is not None:
        return Decision.FINISH
    return Decision.CLEAR if row.status == states.CREATING else Decision.CLOSE


def _decide_create(row: Open) -> Decision:
    if row.status == states.CREATING:
        return Decision.REDO
    if row.status == states.ERROR and not row.made:
        return Decision.CLEAR
    return Decision.FINISH


def _decide_rebuild(row: Open, seen: container_driver.Observed | None) -> Decision:
    """The new container is told from the old one by the operation that made it."""
    new = seen is not None and seen.operation == row.operation_id
    if new and seen is not None and (seen.running or not row.args.get('run')):
        return Decision.FINISH
    return Decision.REDO


def _decide_power(row: Open, seen: container_driver.Observed) -> Decision:
    if power.reached(row.operation or '', seen) and (
            row.operation != 'kill' or row.task_state is not None):
        return Decision.FINISH
    once = row.operation == 'kill' and row.args.get('signal') not in _DEADLY
    if once and row.task_state is not None:
        return Decision.CLOSE  # it may have been delivered
    return Decision.REDO


def half_wired(row: Open, lost: collections.abc.Collection[str]) -> bool:
    """Whether an operation on networks was begun that nobody will do again.

    :param lost: actions whose place the open one has taken
    """
    again = row.operation in _ON_NETWORKS and _ON_NETWORKS.isdisjoint(lost)
    return (row.task_state in _TASKS_ON_NETWORKS and not again
            and row.operation != 'delete')  # which takes everything away


def facts(container: 'objects.Container', request: 'objects.ContainerRequest') -> Open:
    """What two rows say of an open operation."""
    return Open(container.status, container.task_state, request.operation, request.operation_id,
                request.operation_args or {}, bool(container.container_id))


def resume(node: compute_node.Node, uuid: str) -> None:
    """Queue a look at what is open on a container."""
    try:
        node.lifecycle.submit(uuid, _resume, node, uuid)
    except exception.PoolFull:
        LOG.info('Container %s is left to the next sweep', uuid)


def resume_all(node: compute_node.Node) -> int:
    """Take up everything that is open on this host, and is not under way; how much that is."""
    context = zun_context.get_admin_context()
    count = 0
    for container, _request in objects.ContainerRequest.list_open_by_host(context, node.host):
        if not node.busy(container.uuid):
            resume(node, container.uuid)
            count += 1
    return count


def _resume(node: compute_node.Node, uuid: str) -> None:
    context = zun_context.get_admin_context()
    context.update_store()
    job = operations.load(node, context, uuid)
    if job is None or job.container.host != node.host or node.transferring(uuid):
        return
    row = facts(job.container, job.request)
    if not row.any:
        return
    lost = journal.lost(uuid, row.operation_id, [*operations.OPERATIONS, 'update'])
    try:
        seen = _look(job)
        if row.task_state == states.CONTAINER_UPDATING:
            update.settle(job)
        if half_wired(row, lost.values()):
            networks.settle(job)
    except exception.ZunException as error:
        LOG.info('Container %s is left as it is: %s', uuid, error.message)
        task.postpone(job)
        return
    if lost:
        journal.supersede(uuid, lost)
    capsule = isinstance(job.container, objects.Capsule)
    decision = decide_capsule(row) if capsule else decide(row, seen)
    LOG.info('Container %s: %s of %s is open (%s, %s): %s', uuid, row.operation,
             row.operation_id, row.status, row.task_state, decision.name)
    failpoints.hit('recovery.decided')
    _act(job, decision, seen)


def _look(job: task.Job) -> container_driver.Observed | None:
    try:
        return job.node.engine.inspect(job.container)
    except exception.EngineGone:
        return None


def _act(job: task.Job, decision: Decision, seen: container_driver.Observed | None) -> None:
    job.resumed = True
    if decision is Decision.REDO:
        operations.perform(job, job.request.operation_args or {})
    elif decision is Decision.DELETE:
        job.name = 'delete'
        args = job.request.operation_args if job.request.operation == 'delete' else None
        operations.perform(job, args or {})
    elif decision is Decision.CLEAR:
        create.clear(job, INTERRUPTED)
    else:
        done = decision is Decision.FINISH and job.container.status != states.ERROR
        _take_over(job, seen, None if done else exception.Conflict(INTERRUPTED))


def _take_over(job: task.Job, seen: container_driver.Observed | None,
               error: Exception | None) -> None:
    """The row says what the engine says, and the operation is closed."""
    container = job.container
    expected = {name: getattr(container, name) for name in ('host', 'status', 'task_state')}
    if job.name == 'rebuild' and not _discarded(job):
        task.postpone(job)
        return
    if seen is not None:
        if container.status == states.CREATING and not seen.running:
            container.status = states.CREATED
        made = states.CREATED if container.status == states.REBUILDING else None
        observation.follow(container, seen, made)
    elif container.status in states.TRANSITIONAL:
        container.status = states.ERROR
    if error is not None:
        container.status_reason = container.status_reason or INTERRUPTED
    container.task_state = None
    try:
        container.end_operation(job.context.request_id, task.result_of(job, error), expected)
        failpoints.hit('recovery.closed')
    except (exception.Conflict, exception.ContainerNotFound):
        LOG.info('Container %s was changed during its recovery', job.uuid)
    job.node.attempts.pop(job.uuid, None)


def _discarded(job: task.Job) -> bool:
    """Whether the old container of a rebuild is gone."""
    try:
        job.node.engine.discard(rebuild.aside(job.uuid))
    except exception.ZunException as error:
        LOG.info('Container %s: its old one cannot be removed: %s', job.uuid, error.message)
        return False
    return True
