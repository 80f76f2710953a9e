# SPDX-License-Identifier: Apache-2.0
"""Start, stop, reboot, pause, unpause, kill: one call of the engine each.

The status is what the engine says afterwards, never what the call was meant to bring about.
"""

import collections.abc
import contextlib

from zun.common import exception
from zun.common import failpoints
from zun.common import states
from zun.compute import observation
from zun.compute import streams
from zun.compute import task
from zun.compute.tasks import volumes
from zun.container import driver as container_driver


def _perform(job: task.Job, call: collections.abc.Callable[[], container_driver.Observed],
             failure: task.Failure = task.reread) -> None:
    with task.task(job, failure):
        observed = told(job, job.name, call)
        failpoints.hit(f'{job.name}.done')
        check_started(observed)
        observation.apply(job.container, observed)
    if job.container.status == states.ERROR:
        job.node.look(job.uuid)  # no event tells of a failed start


def told(job: task.Job, operation: str,
         call: collections.abc.Callable[[], container_driver.Observed],
         ) -> container_driver.Observed:
    """What a call brought about; when its answer is lost, a look at the container tells.

    :param operation: what the call does, as of :func:`reached`
    :raises EngineUnavailable: that does not tell either, or that it was not done
    """
    try:
        return call()
    except exception.EngineUnavailable:
        with contextlib.suppress(exception.ZunException):
            observed = job.node.engine.inspect(job.container)
            if reached(operation, observed):
                return observed
        raise


def reached(operation: str, seen: container_driver.Observed) -> bool:
    """Whether a container is where an operation was meant to bring it.

    A container that runs does not tell whether it was restarted.
    """
    return {'start': seen.running, 'stop': not seen.running, 'kill': not seen.running,
            'pause': seen.status == states.PAUSED,
            'unpause': seen.status == states.RUNNING}.get(operation, False)


def check_started(observed: container_driver.Observed) -> None:
    """
    :raises Conflict: its process could not be started
    """
    if observed.status == states.ERROR:
        raise exception.Conflict(observed.status_reason or 'its process cannot be started')


def start(job: task.Job) -> None:
    """Run it; a container that cannot be started is in Error and keeps its volumes."""
    def call() -> container_driver.Observed:
        volumes.attach(job)
        return job.node.engine.start(job.container)
    _perform(job, call, task.broken)


def stop(job: task.Job, timeout: int | None = None) -> None:
    """
    :param timeout: seconds before it is killed; None: the image's own, else 10
    """
    _perform(job, lambda: job.node.engine.stop(job.container, timeout))
    streams.revoke(job.uuid)


def reboot(job: task.Job, timeout: int | None = None) -> None:
    """Stop it if it runs, and start it."""
    def call() -> container_driver.Observed:
        volumes.attach(job)
        streams.revoke(job.uuid)
        return job.node.engine.reboot(job.container, timeout)
    _perform(job, call, task.broken)


def pause(job: task.Job) -> None:
    _perform(job, lambda: job.node.engine.pause(job.container))


def unpause(job: task.Job) -> None:
    _perform(job, lambda: job.node.engine.unpause(job.container))


def kill(job: task.Job, signal: str | None = None) -> None:
    """
    :param signal: None: SIGKILL. Most signals need not end it.
    """
    _perform(job, lambda: job.node.engine.kill(job.container, signal))
