# SPDX-License-Identifier: Apache-2.0
"""Create and rebuild of a capsule: sandbox, init containers one by one, members.

Sandbox and members are all made before the first of them starts. Init containers may run for long:
meanwhile the operation stays open and the FIFO free, and each of their ends brings it one step
further, as a restart of the agent does.
"""

import collections.abc
import functools

from oslo_log import log as logging

from zun.common import exception
from zun.common import failpoints
from zun.common import pools
from zun.common import states
from zun.compute import observation
from zun.compute import pinning
from zun.compute import pod
from zun.compute import task
from zun.compute import undo as node_undo
from zun.compute.tasks import create as creation
from zun.compute.tasks import images
from zun.compute.tasks import members
from zun.compute.tasks import volumes
import zun.conf
from zun.container import driver as container_driver
from zun.image import driver as image_driver
from zun.network import driver as network_driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: ``[DEFAULT]/sandbox_image`` that nobody has chosen: the built-in one does as well.
DEFAULT_IMAGE = 'kubernetes/pause'
#: How often an engine that fails is tried.
_MOST_ATTEMPTS = 5
_FIRST_RETRY = 1.0
_LAST_RETRY = 60.0
_WAITING = {'create': states.CREATING, 'rebuild': states.REBUILDING}

#: The engine's images of sandbox and members, by uuid.
Images = dict[str, str]
Then = collections.abc.Callable[[Images | None, Exception | None], None]


def create(job: task.Job, generation: int | None = None) -> None:
    """
    :param generation: that of the message; an older one is somebody else's by now
    """
    if job.resumed and _built(job):
        go_on(job)
    else:
        creation.admit(job, generation, _fetch, _assemble)


def _fetch(job: task.Job, then: Then) -> None:
    """Bring the images of sandbox and members one after the other, then go on in the FIFO.

    :raises ZunException: the first one cannot be had
    """
    own = _builtin(job)
    _fetch_rest(job, then, {} if own is None else {job.uuid: own})


def _fetch_rest(job: task.Job, then: Then, found: Images) -> None:
    capsule = job.container
    missing = next((part for part in (*members.of(capsule), capsule)
                    if part.uuid not in found), None)
    if missing is None:
        then(found, None)
        return

    def arrived(image: str | None, error: Exception | None) -> None:
        if image is None:
            then(None, error)
            return
        try:
            _fetch_rest(job, then, {**found, missing.uuid: image})
        except exception.ZunException as trouble:
            then(None, trouble)
    policy = CONF.sandbox_image_pull_policy if missing is capsule else missing.image_pull_policy
    images.fetch_as(job, missing.image_driver, image_driver.Wanted(
        missing.image or CONF.sandbox_image, policy, missing.registry, job.context.project_id),
        arrived)


def _builtin(job: task.Job) -> str | None:
    """The image of the sandbox that needs no registry; None: another one is asked for."""
    name = job.container.image or CONF.sandbox_image
    if name != DEFAULT_IMAGE:
        return None
    return job.node.engine.find_image(name) or members.runner(job.node).sandbox_image()


def _assemble(work: creation.Create, images_of: Images | None,
              error: Exception | None) -> None:
    job, claim = work.job, work.claim
    failpoints.hit('create.pulled')
    if not _holds(job, claim):
        return
    try:
        if images_of is None:
            raise error or exception.ImageNotFound(image=job.container.image)
        _build(job, images_of, work.undo)
    except Exception as trouble:  # noqa: BLE001 - the boundary of an operation
        creation.give_up(work, trouble)
        return
    if not _holds(job, claim):
        return
    failpoints.hit('capsule.built')
    _advance(job, claim)


def _holds(job: task.Job, claim: task.Task) -> bool:
    """Write what is known by now; False when the capsule has been taken away."""
    try:
        claim.step(states.CONTAINER_CREATING)
    except creation.LOST:
        creation.abandon(job)
        return False
    return True


def _build(job: task.Job, images_of: Images, undo: node_undo.Undo) -> None:
    """Sandbox, running and on its networks, and members, made. Each step can be redone."""
    node, capsule = job.node, job.container
    driver = members.runner(node)
    undo.push('volumes', volumes.detach, job)
    mounts = volumes.attach_all(job)
    undo.push('network', node.network.release, job.context, job.uuid)
    attachments = node.network.plan(job.context, capsule, job.request.requested_networks or [])
    capsule.addresses = network_driver.addresses_of(attachments)
    capsule.exposed_ports = {port: {} for member in capsule.containers
                             for port in member.exposed_ports or {}}
    undo.push('members', members.forget, capsule, states.CREATING)
    undo.push('sandbox and members', members.remove, job)
    workload = functools.partial(container_driver.Workload, generation=job.request.generation,
                                 operation=job.context.request_id or '',
                                 cpus=pinning.shared(node, capsule))
    seen = driver.create_sandbox(workload(
        capsule, images_of[job.uuid], attachments, mounts.get(job.uuid, [])))
    capsule.container_id, capsule.ports = seen.engine_id, list(seen.ports)
    capsule.hostname = capsule.hostname or seen.hostname
    _wake(job)
    failpoints.hit('capsule.sandbox')
    for member in members.of(capsule):
        member.host, member.status = node.host, states.CREATING
        members.follow(member, driver.create_member(workload(
            member, images_of[member.uuid], (), mounts.get(member.uuid, [])), job.uuid))
        failpoints.hit('capsule.member')


def _wake(job: task.Job) -> None:
    """Start the sandbox; its network is complete before a member starts.

    :raises DockerError: it cannot be started, which is the host's matter
    """
    node, capsule = job.node, job.container
    seen = members.runner(node).start(capsule)
    if not seen.running:
        raise exception.DockerError(
            error_msg=f'the sandbox does not start: {seen.status_reason}')
    capsule.started_at = seen.started_at
    attachments = node.network.plan(job.context, capsule, job.request.requested_networks or [])
    node.network.plug(job.context, capsule, attachments)


def _built(job: task.Job) -> bool:
    """Whether the open operation has made everything already.

    :raises Refused: the engine cannot be asked; the operation stays open
    """
    try:
        seen = members.look(job.node, job.container)
    except exception.ZunException as error:
        raise task.Refused(error.message) from error
    return (seen is not None and seen.engine_id == job.container.container_id
            and seen.operation == job.context.request_id)


def go_on(job: task.Job) -> None:
    """Take one more step of a create or rebuild whose init containers were waited for.

    :raises Refused: there is nothing to go on with
    """
    capsule = job.container
    if job.request.operation not in _WAITING or not _built(job):
        raise task.Refused('Nothing waits.')
    job.resumed = True
    claim = task.Task(job, capsule.task_state or states.CONTAINER_CREATING, event=False)
    claim.begin({_WAITING[job.request.operation]})
    try:
        seen = members.look(job.node, capsule)
        if seen is None or not seen.running:
            _wake(job)
        _advance(job, claim)
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        _fail(job, claim, error)


def _advance(job: task.Job, claim: task.Task) -> None:
    """As far as it goes without waiting. What cannot run is kept, for people to look at."""
    try:
        done = _initialised(job)
        if done:
            _start(job)
    except exception.ZunException as error:
        _fail(job, claim, error)
    else:
        if done:
            _finish(job, claim)
    job.node.changed()


def _initialised(job: task.Job) -> bool:
    """Whether the init containers are through; the next one is started.

    :raises Conflict: one failed for good
    """
    for member in job.container.init_containers:
        part = members.see(job.node, member)
        if not part.running and part.exit_code is None:
            part = members.start(job.node, member)
            failpoints.hit('capsule.init')
        if part.running:
            return False
        if part.exit_code:
            raise exception.Conflict(
                f'init container {member.name} failed: exit {part.exit_code}')
    return True


def _start(job: task.Job) -> None:
    """Start the members that never ran."""
    for member in job.container.containers:
        part = members.see(job.node, member)
        if not part.running and part.exit_code is None:
            members.start(job.node, member)
            failpoints.hit('capsule.started')


def _finish(job: task.Job, claim: task.Task) -> None:
    capsule = job.container
    parts = [members.see(job.node, member) for member in capsule.containers]
    status, reason = pod.overall(True, parts, members.policy(capsule))
    capsule.status, capsule.status_reason = status, reason
    claim.finish()
    job.node.attempts.pop(job.uuid, None)


def _fail(job: task.Job, claim: task.Task, error: Exception) -> None:
    """Try again what the engine is to blame for; the rest is an Error."""
    node, attempt = job.node, job.node.attempts.get(job.uuid, 0)
    if creation.host_is_to_blame(error) and attempt < _MOST_ATTEMPTS:
        node.attempts[job.uuid] = attempt + 1
        claim.fail(error, _keep, again=True)
        node.retry(pools.backoff(attempt, _FIRST_RETRY, _LAST_RETRY), job.uuid)
        return
    node.attempts.pop(job.uuid, None)
    claim.fail(error, _settle)


def _keep(job: task.Job, error: Exception) -> None:
    job.container.status_reason = observation.reason(job.title, error)


def _settle(job: task.Job, error: Exception) -> None:
    """Error, and nothing runs."""
    everything = [*members.of(job.container), job.container]
    try:
        members.every(functools.partial(members.stop, job.node), everything)
        for member in members.of(job.container):
            members.see(job.node, member)
    except exception.ZunException as trouble:
        LOG.warning('Capsule %s cannot be stopped: %s', job.uuid, trouble.message)
    job.container.status = states.ERROR
    job.container.status_reason = observation.reason(job.title, error)


def rebuild(job: task.Job, run: bool = True) -> None:
    """Bring a capsule back: what is there is started again, what is not is made anew.

    :param run: as of a container's rebuild; a capsule always runs
    """
    if job.resumed and _built(job):
        go_on(job)
        return
    claim = task.Task(job, states.CONTAINER_REBUILDING)
    claim.begin(None, status=states.REBUILDING)
    try:
        parts = [members.see(job.node, member) for member in members.of(job.container)]
        sandbox = members.look(job.node, job.container)
        if sandbox is None or not all(part.there for part in parts):
            _fetch(job, functools.partial(_replace, job, claim))
            return
        _revive(job, sandbox.running)
        _finish(job, claim)
    except Exception as error:  # noqa: BLE001 - the boundary of an operation
        _fail(job, claim, error)


def _revive(job: task.Job, sandbox: bool) -> None:
    """Start what should run. Members of a dead sandbox are in its dead network: they end first."""
    capsule = job.container
    keeps = members.policy(capsule)
    seen = {member.uuid: members.see(job.node, member) for member in capsule.containers}
    if not sandbox:
        members.every(functools.partial(members.stop, job.node), capsule.containers)
        _wake(job)
    for member in capsule.containers:
        part = seen[member.uuid]
        if pod.wanted(part, keeps) and not (sandbox and part.running):
            members.start(job.node, member)


def _replace(job: task.Job, claim: task.Task, images_of: Images | None,
             error: Exception | None) -> None:
    """Everything anew, with the addresses and volumes it had."""
    undo = node_undo.Undo(job.uuid)
    try:
        if images_of is None:
            raise error or exception.ImageNotFound(image=job.container.image)
        members.remove(job)
        undo.push('sandbox and members', members.remove, job)
        _build(job, images_of, node_undo.Undo(job.uuid))
        claim.step(states.CONTAINER_REBUILDING)
    except Exception as trouble:  # noqa: BLE001 - the boundary of an operation
        undo.run()
        _fail(job, claim, trouble)
        return
    _advance(job, claim)
