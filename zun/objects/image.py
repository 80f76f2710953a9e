# SPDX-License-Identifier: Apache-2.0
"""Images that administrators pulled to hosts."""

import typing as ty

from oslo_versionedobjects import fields

from zun.db import images
from zun.db import lists
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class Image(versioned.Persistent):
    """One image on one host."""

    VERSION = '1.3'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(nullable=True),
        'image_id': fields.StringField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'repo': fields.StringField(nullable=True),
        'tag': fields.StringField(nullable=True),
        'size': fields.StringField(nullable=True),
        'host': fields.StringField(nullable=True),
        'status': fields.StringField(nullable=True),
        'status_reason': fields.StringField(nullable=True),
    }

    def pull(self, context: Context) -> None:
        """Insert it. :raises ImageAlreadyExists: repo, tag and host"""
        self._context = context
        self.stored(images.create(self.changed_columns()))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, if any did. :raises ImageNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored(images.update(self.uuid, changed))

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it; False when it was gone already."""
        return images.destroy(self.uuid)

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> 'Image':
        """:raises ImageNotFound: none that the caller may see"""
        return cls.from_row(context, images.get(context, uuid))

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[Image]':
        """A page of the images that the caller may see, in one query.

        :param filters: of repo, tag, host, size, status, project_id, user_id; a list means any of
            them
        :raises ImageNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls.from_row(context, row) for row in images.list_page(context, page, filters)]
