# SPDX-License-Identifier: Apache-2.0
"""Compute nodes."""

import typing as ty

from zun import objects
from zun.api import handler
from zun.api import lookup
from zun.api import paging
from zun.api.views import hosts as views

Json = dict[str, ty.Any]
_DEFAULT_KEY = 'hostname'


@handler.operation('hosts.list', 'GET', 'hosts', summary='List hosts', policy='host:get_all',
                   parameters=paging.PARAMETERS, answer='hosts')
@handler.versioned('1.4')
def index(call: handler.Call) -> Json:
    page = paging.parse_page(call.query, views.FIELDS, _DEFAULT_KEY)
    found = objects.ComputeNode.list(call.context, **page.as_dict())
    return paging.envelope(call, views.COLLECTION, page,
                           [views.show(node, call.host_url) for node in found])


@handler.operation('hosts.show', 'GET', 'hosts/{host_ident}', summary='Show a host',
                   policy='host:get', answer='host')
@handler.versioned('1.4')
def show(call: handler.Call, ident: str) -> Json:
    return views.show(lookup.host(call, ident), call.host_url)
