# SPDX-License-Identifier: Apache-2.0
"""Images: those of containers, and those that administrators keep on a host."""

import contextlib
import functools
import time
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
from zun.compute import task
from zun.image import driver as image_driver
from zun.image import flights

LOG = logging.getLogger(__name__)

_GLANCE = 'glance'
#: Seconds between two writes of how far a fetch is.
_TELLING_INTERVAL = 5.0

Then = flights.Then


def fetch(job: task.Job, then: Then) -> None:
    """Bring the image of a container, then go on in the FIFO of its operations.

    Meanwhile the FIFO is free, so that a delete need not wait for a pull. Who waits for an image
    that is being fetched already holds no thread.

    :raises ImageNotFound: there is none, or the policy forbids to fetch it
    """
    container = job.container
    fetch_as(job, container.image_driver, image_driver.Wanted(
        container.image, container.image_pull_policy, container.registry,
        job.context.project_id), then)


def fetch_as(job: task.Job, driver_name: str | None, wanted: image_driver.Wanted,
             then: Then) -> None:
    """As :func:`fetch`, for any image that the container needs."""
    job.node.leave(job.uuid)
    try:
        _bring(job.node, job.context, job.uuid, driver_name, wanted,
               functools.partial(_come_back, job, then))
    except Exception:
        job.node.leave(job.uuid, -1)
        raise


def _bring(node: compute_node.Node, context: zun_context.RequestContext, uuid: str,
           driver_name: str | None, wanted: image_driver.Wanted, then: Then) -> None:
    """Have an image in the engine, by one fetch for all who want it at the time.

    :param uuid: of the container or image it is for
    """
    found = _plan(node, context, driver_name, wanted)
    if isinstance(found, str):
        then(found, None)
        return
    flight = node.flights.join(found.key, uuid, then)
    if flight is not None:
        try:
            node.pulls.submit(uuid, _fly, node, context, found, flight)
        except exception.PoolFull as error:
            node.flights.end(flight, None, error)


def _plan(node: compute_node.Node, context: zun_context.RequestContext,
          driver_name: str | None, wanted: image_driver.Wanted) -> str | image_driver.Fetch:
    """
    :raises ResourcesUnavailable: the image is there, and just being removed as unused
    :raises Invalid: it is there, and cannot run here
    """
    driver = image_driver.select(node.images, driver_name)
    found = driver.plan(context, node.engine, wanted)
    if isinstance(found, str):
        node.engine.check_image(found)
        if not node.usage.lease(found):
            raise exception.ResourcesUnavailable(
                reason=f'image {wanted.reference} is just being removed as unused')
    return found


def _fly(node: compute_node.Node, context: zun_context.RequestContext,
         wanted: image_driver.Fetch, flight: flights.Flight) -> None:
    image, error = None, None
    context.update_store()
    teller = _Teller(node, flight)
    flight.transfer.progressed = teller.tell
    try:
        flight.transfer.check()
        fetched = wanted.work(flight.transfer)
        node.usage.arrived(fetched)
        node.engine.check_image(fetched)
        image = fetched
    except Exception as trouble:  # noqa: BLE001 - handed on to all who wait
        error = trouble
        if flight.transfer.cancelled:
            LOG.info('Nobody waits for %s any more: its fetching is ended', wanted.key)
    teller.end()
    node.flights.end(flight, image, error)


class _Teller:
    """Lets the rows of those who wait say how far a fetch is, in one statement now and then."""

    def __init__(self, node: compute_node.Node, flight: flights.Flight) -> None:
        self._node, self._flight = node, flight
        self._next = time.monotonic() + _TELLING_INTERVAL
        self._told = False

    def tell(self, text: str) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _TELLING_INTERVAL
        self._told = True
        self._write(text)

    def end(self) -> None:
        """Nothing is said any more."""
        if self._told:
            self._write(None)

    def _write(self, text: str | None) -> None:
        """What cannot be written does not end the fetch."""
        uuids = self._node.flights.waiting(self._flight)
        LOG.debug('%s: %s', self._flight.key, text)
        pools.guard(objects.Container.tell_pull, uuids, text)


def give_up(node: compute_node.Node, uuid: str) -> None:
    """Nobody wants the image of a container any more; a fetch for nobody ends."""
    node.flights.leave(uuid, exception.Conflict('It is being deleted.'))


def _come_back(job: task.Job, then: Then, image: str | None, error: Exception | None) -> None:
    if image is not None:
        job.node.usage.want(image)
    try:
        job.node.lifecycle.submit(job.uuid, _go_on, job, then, image, error)
    except exception.PoolFull:
        LOG.info('Container %s: %s is left to the next sweep', job.uuid, job.name)
    finally:
        job.node.leave(job.uuid, -1)


def _go_on(job: task.Job, then: Then, image: str | None, error: Exception | None) -> None:
    job.context.update_store()
    then(image, error)


def pull(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    """Fetch an image that an administrator asked for, and record its id and size, or why not."""
    admin = context.elevated()
    try:
        node.pulls.submit(uuid, _pull, node, admin, uuid)
    except exception.PoolFull as error:
        _failed(admin, uuid, error)


def resume(node: compute_node.Node) -> None:
    """Fetch at the start of the agent what was asked for and is not recorded as there."""
    context = zun_context.get_admin_context()
    for image in objects.Image.list(context, filters={'host': node.host}):
        if image.status != states.AVAILABLE:
            pull(node, context, image.uuid)


def _reference(image: 'objects.Image') -> str:
    if not image.tag:
        return image.repo
    return f'{image.repo}{"@" if ":" in image.tag else ":"}{image.tag}'


def _source(image: 'objects.Image') -> str | None:
    """Name of the driver; an image of Glance has no tag."""
    return None if image.tag else _GLANCE


def _pull(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    context.update_store()
    try:
        image = objects.Image.get_by_uuid(context, uuid)
        image.status, image.status_reason = states.PULLING, None
        image.save(context)
        failpoints.hit('image_pull.begun')
        _bring(node, context, uuid, _source(image),
               image_driver.Wanted(_reference(image), image_driver.ALWAYS),
               functools.partial(_pulled, node, context, image))
    except exception.ZunException as error:
        _failed(context, uuid, error)


def _pulled(node: compute_node.Node, context: zun_context.RequestContext,
            image: 'objects.Image', found: str | None, error: Exception | None) -> None:
    failpoints.hit('image_pull.pulled')
    try:
        if found is None:
            raise error or exception.ImageNotFound(image=_reference(image))
        facts = node.engine.image_info(found)
        image.image_id, image.size = facts['image_id'], str(facts['size'])
        image.status = states.AVAILABLE
        image.save(context)
        failpoints.hit('image_pull.saved')
    except Exception as trouble:  # noqa: BLE001 - others wait for the same image
        _failed(context, image.uuid, trouble)


def _failed(context: zun_context.RequestContext, uuid: str, error: Exception) -> None:
    """Let the row say why the image is not there."""
    LOG.warning('Image %s cannot be pulled: %s', uuid, error)
    try:
        image = objects.Image.get_by_uuid(context, uuid)
        image.status, image.status_reason = states.ERROR, observation.reason('Pull', error)
        image.save(context)
    except exception.ZunException as trouble:
        LOG.info('Image %s cannot be marked as failed: %s', uuid, trouble.message)


def delete(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    """Remove an image from the engine and forget it.

    One that a container uses, or just wanted, stays in the engine: it is left to the collector.
    """
    give_up(node, uuid)
    node.pulls.submit(uuid, _delete, node, context.elevated(), uuid)


def _delete(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    try:
        image = objects.Image.get_by_uuid(context, uuid)
        source = image_driver.select(node.images, _source(image))
        used = {found.image_id for found in node.engine.list_images() if found.used}
        for name in source.local_names(node.engine, _reference(image)):
            found = node.engine.find_image(name)
            if found not in used and not node.usage.is_wanted(found):
                with contextlib.suppress(exception.Conflict):  # in use by now
                    node.engine.remove_image(name)
        image.destroy(context)
    except exception.ZunException as error:
        LOG.warning('Image %s cannot be deleted: %s', uuid, error.message)


def search(node: compute_node.Node, context: zun_context.RequestContext, name: str,
           driver: str | None, exact_match: bool) -> list[dict[str, ty.Any]]:
    """Images of that name.

    :raises OperationNotSupported: the source cannot be searched
    """
    return image_driver.select(node.images, driver).search(
        context, node.engine, name, exact_match)
