# SPDX-License-Identifier: Apache-2.0
"""Networks as engines know them."""

import typing as ty

from oslo_versionedobjects import fields

from zun.db import lists
from zun.db import networks
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class ZunNetwork(versioned.Persistent):
    """A Neutron network as a network of the engine of one host."""

    VERSION = '1.2'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'name': fields.StringField(nullable=True),
        'network_id': fields.StringField(nullable=True),
        'neutron_net_id': fields.StringField(nullable=True),
        'host': fields.StringField(nullable=True),
    }

    def create(self, context: Context) -> None:
        """:raises NetworkAlreadyExists: neutron_net_id on this host, or uuid"""
        self._context = context
        self.stored(networks.create(self.changed_columns()))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed, if any did. :raises NetworkNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored(networks.update(self.uuid, changed))

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it; False when it was gone already."""
        return networks.destroy(self.uuid)

    @classmethod
    def get_by_uuid(cls, context: Context, uuid: str) -> 'ZunNetwork':
        """:raises NetworkNotFound: none that the caller may see"""
        return cls.from_row(context, networks.get(context, uuid))

    @classmethod
    def list(cls, context: Context, limit: int | None = None, marker: ty.Any = None,
             sort_key: str | None = None, sort_dir: str | None = None,
             filters: lists.Filters | None = None) -> 'list[ZunNetwork]':
        """A page of the networks that the caller may see, in one query.

        :param filters: of name, neutron_net_id, network_id, host, project_id, user_id; a list
            means any of them
        :raises NetworkNotFound: the marker
        :raises InvalidParameterValue: a column to sort by or a filter that does not exist
        """
        page = lists.Page(limit, marker, sort_key, sort_dir)
        return [cls.from_row(context, row) for row in networks.list_page(context, page, filters)]
