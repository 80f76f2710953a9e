# SPDX-License-Identifier: Apache-2.0
"""Discovery: no token is needed."""

import typing as ty

from zun.api import handler
from zun.api.views import versions


@handler.operation('root', 'GET', '', summary='Show the versions of the API', answer='root')
def root(call: handler.Call) -> dict[str, ty.Any]:
    return versions.root(call.host_url)


@handler.operation('root.head', 'HEAD', '', answer='',
                   summary='Check that the API answers, without a body')
@handler.operation('root.options', 'OPTIONS', '', summary='Check that the API answers',
                   answer='root')
def check(call: handler.Call) -> dict[str, ty.Any]:
    """What load balancers ask for in their default health checks."""
    return versions.root(call.host_url)


@handler.operation('v1', 'GET', 'v1', summary='Show the collections of version 1', answer='v1')
def v1(call: handler.Call) -> dict[str, ty.Any]:
    return versions.v1(call.host_url)
