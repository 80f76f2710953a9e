# SPDX-License-Identifier: Apache-2.0
"""Quotas of classes; the class ``default`` holds for projects without limits of their own."""

import typing as ty

from zun.api import handler
from zun.api.schemas import quotas as schemas
from zun.control import quotas as control

_PATH = 'quota_classes/{class_name}'


@handler.operation('quota_classes.show', 'GET', _PATH, summary='Show the quota of a class',
                   policy='quota_class:get', answer='quota')
def show(call: handler.Call, class_name: str) -> dict[str, ty.Any]:
    return control.class_limits(call.context, class_name)


@handler.operation('quota_classes.update', 'PUT', _PATH, summary='Set limits of a class',
                   policy='quota_class:update', arguments=schemas.UPDATE, answer='quota')
def update(call: handler.Call, class_name: str) -> dict[str, ty.Any]:
    return control.update_class(call.context, class_name, call.values)
