# SPDX-License-Identifier: Apache-2.0
"""Limits of projects and of classes of projects. -1 is no limit."""

import typing as ty

from oslo_versionedobjects import fields

from zun.common import exception
from zun.db import models
from zun.db import quotas
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class Quota(versioned.Persistent):
    """One limit of one project."""

    VERSION = '1.3'
    fields = {
        'id': fields.IntegerField(),
        'project_id': fields.StringField(nullable=True),
        'resource': fields.StringField(),
        'hard_limit': fields.IntegerField(nullable=True),
    }

    @classmethod
    def put(cls, context: Context, project_id: str, resource: str, limit: int) -> 'Quota':
        """Set a limit, whether there was one or not."""
        return cls.from_row(context, quotas.put(
            models.quotas, {'project_id': project_id}, resource, limit))

    @classmethod
    def get(cls, context: Context, project_id: str, resource: str) -> 'Quota':
        """:raises ProjectQuotaNotFound: the project has no limit of its own"""
        row = quotas.get(models.quotas, {'project_id': project_id}, resource)
        if row is None:
            raise exception.ProjectQuotaNotFound(project_id=project_id)
        return cls.from_row(context, row)

    @classmethod
    def get_all(cls, context: Context, project_id: str) -> 'list[Quota]':
        """The limits of a project's own, by id."""
        return [cls.from_row(context, row)
                for row in quotas.get_all(models.quotas, {'project_id': project_id})]

    @staticmethod
    def destroy_all_by_project(context: Context, project_id: str) -> int:
        """Forget the limits of a project; how many there were."""
        return quotas.remove_all(project_id)


@versioned.register
class QuotaClass(versioned.Persistent):
    """One limit of one class of projects; only the class ``default`` is ever applied."""

    VERSION = '1.2'
    fields = {
        'id': fields.IntegerField(),
        'class_name': fields.StringField(nullable=True),
        'resource': fields.StringField(nullable=True),
        'hard_limit': fields.IntegerField(nullable=True),
    }

    @classmethod
    def put(cls, context: Context, class_name: str, resource: str, limit: int) -> 'QuotaClass':
        """Set a limit, whether there was one or not."""
        return cls.from_row(context, quotas.put(
            models.quota_classes, {'class_name': class_name}, resource, limit))

    @classmethod
    def get(cls, context: Context, class_name: str, resource: str) -> 'QuotaClass':
        """:raises QuotaClassNotFound: the class has no such limit"""
        row = quotas.get(models.quota_classes, {'class_name': class_name}, resource)
        if row is None:
            raise exception.QuotaClassNotFound(class_name=class_name)
        return cls.from_row(context, row)

    @classmethod
    def get_all(cls, context: Context,
                class_name: str = quotas.DEFAULT_CLASS) -> 'list[ty.Self]':
        """The limits of a class, by id."""
        return [cls.from_row(context, row)
                for row in quotas.get_all(models.quota_classes, {'class_name': class_name})]
