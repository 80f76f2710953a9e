# SPDX-License-Identifier: Apache-2.0
"""Images: on hosts, in registries, and those that new containers ask for."""

import collections.abc
import functools
import typing as ty

from oslo_log import log as logging
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import image_name
from zun.common import states
import zun.conf
from zun.control import clients

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
_REFERENCE_ERRORS = (exception.ReferenceInvalidFormat, exception.NameEmpty,
                     exception.NameTooLong)


def pull(context: Context, values: dict[str, ty.Any]) -> 'objects.Image':
    """Have a host fetch an image; one whose last pull failed is fetched again.

    :param values: repo, host (name or uuid), image_id, size; a tag is part of repo
    :raises InvalidValue: there is no such host
    :raises ReferenceInvalidFormat, NameEmpty, NameTooLong: repo is no reference
    :raises ImageAlreadyExists: the host has it
    """
    host = _host(context, values['host'])
    repo, tag = _name(values['repo'])
    image = objects.Image(
        context, uuid=uuidutils.generate_uuid(), project_id=context.project_id,
        user_id=context.user_id, repo=repo, tag=tag, host=host,
        image_id=values.get('image_id'), size=values.get('size'), status=states.PULLING)
    undo: collections.abc.Callable[[], ty.Any]
    try:
        image.pull(context)
        undo = image.destroy
    except exception.ImageAlreadyExists:
        failed = objects.Image.list(context, filters={
            'repo': repo, 'tag': tag, 'host': host, 'status': states.ERROR})
        if not failed:
            raise
        image = failed[0]
        undo = functools.partial(_set_status, image, states.ERROR, image.status_reason)
        _set_status(image, states.PULLING, None)
    try:
        clients.get().compute.image_pull(context, host, image.uuid)
    except exception.ZunException:
        undo()
        raise
    return image


def _set_status(image: 'objects.Image', status: str, reason: str | None) -> None:
    image.status, image.status_reason = status, reason
    image.save()


def _name(text: str) -> tuple[str, str]:
    """Repository, and tag or digest; an image of Glance has its id and no tag."""
    if uuidutils.is_uuid_like(text):
        return text, ''
    reference = image_name.parse(text)
    return reference.name, reference.version


def _host(context: Context, ident: str) -> str:
    by_uuid = uuidutils.is_uuid_like(ident)
    try:
        node = objects.ComputeNode.get_by_uuid(context, ident) if by_uuid \
            else objects.ComputeNode.get_by_name(context, ident)
    except exception.ComputeNodeNotFound:
        raise exception.InvalidValue(f'The host {ident} does not exist.') from None
    return node.hostname


def delete(context: Context, image: 'objects.Image') -> None:
    """Have a host remove an image; the host removes the row."""
    clients.get().compute.image_delete(context, image.host, image.uuid)


def search(context: Context, image: str, image_driver: str | None = None,
           exact_match: bool = False) -> list[dict[str, ty.Any]]:
    """Images of a name, as any node finds them.

    :raises ReferenceInvalidFormat, NameEmpty, NameTooLong: the name is no reference
    :raises OperationNotSupported: that source cannot be searched
    """
    driver = image_driver or CONF.default_image_driver
    return clients.get().compute.image_search(context, None, image, driver, exact_match)


def validate(context: Context, image: str, image_driver: str) -> None:
    """Refuse an image that is not there, when ``[api]/enable_image_validation`` says so.

    A source that cannot be searched, or does not answer, refuses nothing.

    :raises InvalidValue: not a reference
    :raises ImageNotFound: there is none
    :raises Conflict: there are several
    """
    if not CONF.api.enable_image_validation:
        return
    try:
        found = search(context, image, image_driver, exact_match=True)
    except _REFERENCE_ERRORS:
        raise exception.InvalidValue(
            f"The format of image name '{image}' is invalid.") from None
    except exception.ZunException as error:
        LOG.info('Image %s is not validated: %s', image, error.message)
        return
    if not found:
        raise exception.ImageNotFound(image=image)
    if len(found) > 1:
        raise exception.Conflict(f'Multiple images exist with name {image}.')
