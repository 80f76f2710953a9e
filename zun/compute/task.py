# SPDX-License-Identifier: Apache-2.0
"""What surrounds every operation: the claim on the row, action and event, errors, the result.

An operation's own function holds only what it does to the engine. Its entry is a compare-and-swap
of task_state, its exit one statement that writes the result and clears task_state together.
"""

import collections.abc
import contextlib
import dataclasses
import traceback
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
from zun.common import pools
from zun.common import states
from zun.compute import node as compute_node
from zun.compute import observation
from zun.compute import undo as node_undo
from zun.db import journal

LOG = logging.getLogger(__name__)

_EVENTS = {name: f'compute__{name}' for name in ('add_security_group', 'remove_security_group')}
_EVENTS |= {name: f'compute__do_{name}'
            for name in ('network_attach', 'network_detach', 'resize_container')}
#: Status that the API gives a container when it accepts the operation.
_ACCEPTED = {'reboot': states.RESTARTING, 'rebuild': states.REBUILDING}
#: How often an operation that cannot be taken back is tried before it is left as it is.
_MOST_ATTEMPTS = 5
_FIRST_RETRY = 1.0
_LAST_RETRY = 60.0


@dataclasses.dataclass
class Job:
    """One operation on one container, with the rows as they were when its turn came.

    :ivar context: of the request that is carried out, with the rights of an administrator
    :ivar resumed: somebody began it before; what the row says may be half done
    """

    node: compute_node.Node
    context: zun_context.RequestContext
    container: 'objects.Container'
    request: 'objects.ContainerRequest'
    name: str
    resumed: bool = False

    @property
    def uuid(self) -> str:
        return self.container.uuid

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.name.replace('_', ' ').capitalize()


Failure = collections.abc.Callable[[Job, Exception], None]


def reread(job: Job, error: Exception) -> None:
    """After a failure the row says what the engine says, and why it is so."""
    _look(job)
    job.container.status_reason = observation.reason(job.title, error)


def broken(job: Job, error: Exception) -> None:
    """A container that cannot be started is in Error; what the engine knows of its exit is kept.

    One that runs all the same is not broken, and an engine that does not answer says nothing about
    the container.
    """
    runs = _look(job)
    job.container.status_reason = observation.reason(job.title, error)
    if not runs and not isinstance(error, exception.EngineUnavailable):
        job.container.status = states.ERROR


def _look(job: Job) -> bool:
    """Have the row follow the engine, if that can be asked; whether the container runs."""
    try:
        seen = job.node.engine.inspect(job.container)
    except exception.ZunException as trouble:
        LOG.info('Container %s cannot be looked at after a failure: %s', job.uuid,
                 trouble.message)
        return False
    observation.apply(job.container, seen)
    return seen.running


class Refused(Exception):
    """The container is not in a state for the operation; the action says so already."""


class Task:
    """The claim of an operation on a container's row."""

    def __init__(self, job: Job, task_state: str | None, event: bool = True) -> None:
        """
        :param task_state: what the row shows meanwhile
        :param event: record an event of the action
        """
        name = job.name
        self.job = job
        self._event = _EVENTS.get(name, f'compute__do_container_{name}') if event else None
        self._held = {'host': job.node.host, 'status': job.container.status,
                      'task_state': task_state}

    def begin(self, allowed: collections.abc.Collection[str] | None,
              status: str | None = None, preempt: bool = False) -> None:
        """Take the container.

        :param allowed: statuses in which it may be done; None: any
        :param status: the new status
        :param preempt: whatever was under way gives way
        :raises Refused: it cannot be had; event and action are closed, unless that is the
            matter of somebody else
        """
        job, container = self.job, self.job.container
        if container.host != job.node.host:
            raise Refused('It is not on this host.')
        if allowed is not None and container.status not in allowed:
            self._refuse(f'it is {container.status}')
        if container.task_state is not None and not (job.resumed or preempt):
            if job.request.operation_id == job.context.request_id:
                raise Refused('It is under way, or left half done: the sweep sees to that.')
            self._refuse(f'{container.task_state} is under way')
        expected = {'host': container.host, 'status': container.status}
        if not preempt:
            expected['task_state'] = container.task_state
        container.task_state = self._held['task_state']
        if status is not None:
            container.status = self._held['status'] = status
        try:
            container.begin_operation(job.context.request_id, self._event, expected)
        except exception.Conflict:
            self._refuse('it was changed by somebody else')
        except exception.ContainerNotFound:
            raise Refused('It is gone.') from None

    def step(self, task_state: str) -> None:
        """Show the next step.

        :raises Conflict: somebody took the container over
        :raises ContainerNotFound: it is gone
        """
        self.job.container.task_state = task_state
        self.job.container.save(self.job.context, expected=self._held)
        self._held['task_state'] = task_state

    def finish(self, error: Exception | None = None, again: bool = False) -> bool:
        """Write the result that the container holds, and close event, action and operation.

        :param error: what went wrong
        :param again: the operation is taken up again: only the event is closed
        :returns: whether the row was still ours
        """
        job, container = self.job, self.job.container
        outcome = result_of(job, error)
        container.task_state = None
        try:
            self._end(outcome, self._held, again)
        except exception.Conflict:
            container.refresh()
            mine = {name: self._held[name] for name in ('host', 'task_state')}
            if any(getattr(container, name) != value for name, value in mine.items()):
                return False
            # A newer request has changed the status: that one stays.
            container.task_state = None
            self._end(outcome, mine, again)
        except exception.ContainerNotFound:
            LOG.info('Container %s was deleted during its %s', job.uuid, job.name)
            return False
        return True

    def _end(self, outcome: journal.Outcome, expected: dict[str, str | None],
             again: bool) -> None:
        self.job.container.end_operation(self.job.context.request_id, outcome, expected, again)

    def fail(self, error: Exception, failure: Failure = reread, again: bool = False) -> None:
        """Forget what was not saved, and write why it failed.

        :param failure: sets the status and its reason
        :param again: as in :meth:`finish`
        """
        report(self.job, error)
        try:
            self.job.container.refresh()
        except exception.ContainerNotFound:
            return
        failure(self.job, error)
        self.finish(error, again)

    def give_up(self, error: Exception, left: collections.abc.Collection[str],
                failure: Failure = reread) -> None:
        """Write why it failed; while something cannot be undone it is tried again instead.

        :param left: what could not be undone
        :param failure: as of :meth:`fail`
        """
        job = self.job
        if left and job.node.attempts.get(job.uuid, 0) < _MOST_ATTEMPTS:
            report(job, error)
            self.end_event(error)
            postpone(job)
            return
        job.node.attempts.pop(job.uuid, None)
        self.fail(error, failure)

    def end_event(self, error: Exception) -> None:
        """Close the event with an error, and leave action and operation open."""
        close(self.job, error, again=True)

    def _refuse(self, why: str) -> ty.NoReturn:
        error = exception.Conflict(f'{self.job.title} is not possible: {why}.')
        LOG.warning('Container %s: %s', self.job.uuid, error.message)
        close(self.job, error)
        raise Refused(error.message)


def postpone(job: Job) -> None:
    """Take up later what is open, with growing pauses."""
    attempt = job.node.attempts.get(job.uuid, 0)
    job.node.attempts[job.uuid] = attempt + 1
    job.node.retry(pools.backoff(attempt, _FIRST_RETRY, _LAST_RETRY), job.uuid)


def report(job: Job, error: Exception) -> None:
    """Tell the log of a failure: with its traceback when it is none of the expected kind."""
    if isinstance(error, exception.ZunException):
        LOG.warning('%s of container %s failed: %s', job.title, job.uuid, error.message)
    else:
        LOG.error('%s of container %s failed', job.title, job.uuid, exc_info=error)


def result_of(job: Job, error: Exception | None) -> journal.Outcome:
    """The outcome that an error means."""
    if error is None:
        return journal.Outcome()
    return journal.Outcome(True, observation.reason(job.title, error),
                           ''.join(traceback.format_exception(error)))


def close(job: Job, error: Exception | None, again: bool = False) -> None:
    """Close event, action and operation, and leave the container's row as it is.

    :param again: as in :meth:`Task.finish`
    """
    journal.end(job.uuid, job.context.request_id, result_of(job, error), again=again)


def statuses(job: Job) -> frozenset[str] | None:
    """In which a container may be for the operation; None: any."""
    if job.resumed:
        return None
    accepted = {_ACCEPTED[job.name]} if job.name in _ACCEPTED else set()
    return states.ACTIONS[job.name].statuses | accepted


@contextlib.contextmanager
def task(job: Job, failure: Failure = reread) -> collections.abc.Iterator[node_undo.Undo]:
    """Surround an operation that is done in one go, as the table of actions describes it.

    Yields what takes it back after an error; no error gets out.

    :param failure: sets status and reason after an error
    :raises Refused: the container is not in a state for it
    """
    undo = node_undo.Undo(job.uuid)
    action = states.ACTIONS[job.name]
    claim = Task(job, action.task_state, event=action.recorded)
    claim.begin(statuses(job))
    failpoints.hit(f'{job.name}.begun')
    try:
        yield undo
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        claim.give_up(error, undo.run(), failure)
    else:
        claim.finish()
        job.node.attempts.pop(job.uuid, None)
        failpoints.hit(f'{job.name}.saved')
