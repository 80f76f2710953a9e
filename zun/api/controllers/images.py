# SPDX-License-Identifier: Apache-2.0
"""Images on hosts."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api import paging
from zun.api.schemas import images as schemas
from zun.api.views import images as views
from zun.api.views import links
from zun.control import images as control

Json = dict[str, ty.Any]


@handler.operation('images.list', 'GET', 'images', summary='List images',
                   policy='image:get_all', parameters=paging.PARAMETERS, answer='images')
def index(call: handler.Call) -> Json:
    page = paging.parse_page(call.query, views.names(call.version))
    found = objects.Image.list(call.context, **page.as_dict())
    return paging.envelope(call, views.COLLECTION, page,
                           [views.show(image, call.host_url, call.version) for image in found])


@handler.operation('images.create', 'POST', 'images', summary='Pull an image to a host',
                   status=202, policy='image:pull', body=schemas.CREATE, json_only=True,
                   answer='image')
def create(call: handler.Call) -> Json:
    image = control.pull(call.context, call.values)
    call.location = links.url(call.host_url, views.COLLECTION, image.uuid)
    return views.show(image, call.host_url, call.version)


@handler.operation('images.show', 'GET', 'images/{image_uuid}', summary='Show an image',
                   find=lookup.image, policy='image:get_one', answer='image')
def show(call: handler.Call, image: objects.Image) -> Json:
    return views.show(image, call.host_url, call.version)


@handler.operation('images.delete', 'DELETE', 'images/{image_uuid}',
                   summary='Delete an image from its host', policy='image:delete')
def delete(call: handler.Call, uuid: str) -> None:
    control.delete(call.context, lookup.image(call, uuid))


@handler.operation('images.search', 'GET', f'images/{handler.REST}/search',
                   summary='Search images by name', policy='image:search',
                   query=schemas.SEARCH, answer='search_results')
def search(call: handler.Call, image: str) -> list[Json]:
    return control.search(call.context, image, **call.values)
