# SPDX-License-Identifier: Apache-2.0
"""Limits of projects: their own rows, else the class ``default``, else ``[quota]``."""

import collections.abc
import typing as ty

from oslo_utils import importutils
from sqlalchemy import orm

from zun import objects
from zun.common import context as zun_context
import zun.conf
from zun.db import quotas as db_quotas

CONF = zun.conf.CONF

Context = zun_context.RequestContext
Limits = dict[str, int]
Deltas = ty.Mapping[str, float]
Reserve = collections.abc.Callable[[orm.Session], None]

RESOURCES = ('containers', 'memory', 'disk', 'cpu')
_UNLIMITED = -1


def _limited() -> bool:
    return importutils.import_class(CONF.quota.driver).LIMITED


def _complete(stored: ty.Mapping[str, int]) -> Limits:
    """All limits: what is stored over what is configured."""
    return {name: stored.get(name, CONF.quota[name]) if _limited() else _UNLIMITED
            for name in RESOURCES}


def limits(context: Context, project_id: str | None) -> Limits:
    """The limits of a project; -1 is none."""
    return _complete(db_quotas.limits(project_id))


def defaults(context: Context) -> Limits:
    """The limits of projects that have none of their own."""
    return class_limits(context, db_quotas.DEFAULT_CLASS)


def usages(context: Context, project_id: str) -> dict[str, dict[str, float]]:
    """resource -> ``{'limit', 'in_use'}``; cpu in vCPUs, memory in MiB, disk in GiB."""
    most = limits(context, project_id)
    used: ty.Mapping[str, float] = db_quotas.usage(project_id) if _limited() \
        else dict.fromkeys(RESOURCES, _UNLIMITED)
    return {name: {'limit': most[name], 'in_use': used[name]} for name in RESOURCES}


def update(context: Context, project_id: str, values: ty.Mapping[str, ty.Any]) -> Limits:
    """Set some limits of a project; all of them."""
    for name, value in values.items():
        objects.Quota.put(context, project_id, name, int(value))
    return limits(context, project_id)


def delete(context: Context, project_id: str) -> None:
    """Give a project the default limits."""
    objects.Quota.destroy_all_by_project(context, project_id)


def class_limits(context: Context, class_name: str) -> Limits:
    """The limits of a class of projects; only the class ``default`` is ever applied."""
    return _complete(db_quotas.limits(None, class_name))


def update_class(context: Context, class_name: str, values: ty.Mapping[str, ty.Any]) -> Limits:
    """Set some limits of a class; all of them."""
    for name, value in values.items():
        objects.QuotaClass.put(context, class_name, name, int(value))
    return class_limits(context, class_name)


def reservation(context: Context, project_id: str | None, deltas: Deltas,
                early: bool = True) -> Reserve | None:
    """Check that a project may have more, and return what makes sure of it.

    The check at once is for an early refusal; two requests may both pass it. What is returned has
    to run first in the transaction that adds the resources.

    :param deltas: resource -> how much more
    :param early: check at once; False where nothing comes in between that costs or shows
    :returns: None: there is nothing to hold
    :raises OverQuota: naming the resources
    """
    if not deltas or not _limited():
        return None
    if early:
        db_quotas.check(db_quotas.usage(project_id), deltas, limits(context, project_id))

    def reserve(session: orm.Session) -> None:
        db_quotas.reserve(session, project_id, deltas, _complete)
    return reserve
