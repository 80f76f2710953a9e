# SPDX-License-Identifier: Apache-2.0
"""Images: those of containers, and those that administrators keep on a host."""

import collections.abc
import typing as ty

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
from zun.compute import task
from zun.image import driver as image_driver

LOG = logging.getLogger(__name__)

#: Gets the engine's id of the image, or the error.
Then = collections.abc.Callable[[str | None, Exception | None], None]


def fetch(job: task.Job, then: Then) -> None:
    """Bring the image of a container, then go on in the FIFO of its operations.

    Meanwhile the FIFO is free, so that a delete need not wait for a pull.

    :raises PoolFull: too many images wait
    """
    job.node.pulls.submit(job.uuid, _fetch, job, then)


def _fetch(job: task.Job, then: Then) -> None:
    image, error = None, None
    job.context.update_store()
    try:
        image = _bring(job)
    except Exception as trouble:  # noqa: BLE001 - handed on to the operation
        error = trouble
    job.node.lifecycle.submit(job.uuid, _go_on, job, then, image, error)


def _go_on(job: task.Job, then: Then, image: str | None, error: Exception | None) -> None:
    job.context.update_store()
    then(image, error)


def _bring(job: task.Job) -> str:
    container = job.container
    driver = image_driver.select(job.node.images, container.image_driver)
    wanted = image_driver.Wanted(container.image, container.image_pull_policy,
                                 container.registry)
    return driver.fetch(job.context, job.node.engine, wanted)


def pull(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    """Fetch an image that an administrator asked for, and record its id and size."""
    node.pulls.submit(uuid, _pull, node, context.elevated(), uuid)


def _reference(image: 'objects.Image') -> str:
    if not image.tag:
        return image.repo
    return f'{image.repo}{"@" if ":" in image.tag else ":"}{image.tag}'


def _pull(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    try:
        image = objects.Image.get_by_uuid(context, uuid)
        driver = image_driver.select(node.images, None)
        found = driver.fetch(context, node.engine,
                             image_driver.Wanted(_reference(image), 'always'))
        facts = node.engine.image_info(found)
        image.image_id, image.size = facts['image_id'], str(facts['size'])
        image.save(context)
    except exception.ZunException as error:
        LOG.warning('Image %s cannot be pulled: %s', uuid, error.message)


def delete(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    """Remove an image from the engine and forget it; one that a container uses stays."""
    node.pulls.submit(uuid, _delete, node, context.elevated(), uuid)


def _delete(node: compute_node.Node, context: zun_context.RequestContext, uuid: str) -> None:
    try:
        image = objects.Image.get_by_uuid(context, uuid)
        node.engine.remove_image(image.image_id or _reference(image))
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
