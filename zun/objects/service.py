# SPDX-License-Identifier: Apache-2.0
"""Services and whether they are alive."""

import typing as ty

from oslo_versionedobjects import fields

import zun.conf
from zun.db import lists
from zun.db import services
from zun.objects import versioned

CONF = zun.conf.CONF
Context = versioned.Context


def service_is_up(seconds_since_seen: float | None, forced_down: bool,
                  service_down_time: int) -> bool:
    """Whether a service counts as alive.

    The distance counts in both directions; an administrator's word is stronger.
    """
    if forced_down or seconds_since_seen is None:
        return False
    return abs(seconds_since_seen) <= service_down_time


@versioned.register
class ZunService(versioned.Persistent):
    """A process of Zun.

    :ivar seconds_since_seen: age of the last sign of life when the row was read, by the database's
        clock
    """

    VERSION = '1.2'
    fields = {
        'id': fields.IntegerField(),
        'host': fields.StringField(nullable=True),
        'binary': fields.StringField(nullable=True),
        'disabled': fields.BooleanField(),
        'disabled_reason': fields.StringField(nullable=True),
        'last_seen_up': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'forced_down': fields.BooleanField(),
        'report_count': fields.IntegerField(),
        'availability_zone': fields.StringField(nullable=True),
    }
    seconds_since_seen: float | None = None

    def take_row(self, row: versioned.Values) -> None:
        super().take_row(row)
        if row.get('seconds_since_seen') is not None:
            self.seconds_since_seen = float(row['seconds_since_seen'])

    def is_up(self, service_down_time: int | None = None) -> bool:
        """Whether it was alive when it was read.

        :param service_down_time: seconds; None: the option of that name
        """
        limit = CONF.service_down_time if service_down_time is None else service_down_time
        return service_is_up(self.seconds_since_seen, bool(self.forced_down), limit)

    def create(self, context: Context) -> None:
        """:raises ZunServiceAlreadyExists: host and binary"""
        self._context = context
        self.stored(services.create(self.changed_columns()))

    def save(self, context: Context | None = None) -> None:
        """Write the fields that changed. :raises ZunServiceNotFound: it is gone"""
        changed = self.changed_columns()
        if changed:
            self.stored(services.update(self.host, self.binary, changed))

    def report_state_up(self, context: Context | None = None) -> None:
        """A heartbeat, by the database's clock, in one statement.

        :raises ZunServiceNotFound: somebody deleted the row: create it anew
        """
        services.heartbeat(self.host, self.binary)

    def destroy(self, context: Context | None = None) -> bool:
        """Delete it; False when it was gone already."""
        return services.destroy(self.host, self.binary)

    @classmethod
    def get_by_host_and_binary(cls, context: Context, host: str, binary: str) -> 'ZunService':
        """:raises ZunServiceNotFound: there is none"""
        return cls.from_row(context, services.get(host, binary))

    @classmethod
    def list_by_binary(cls, context: Context, binary: str) -> 'list[ty.Self]':
        """All services of one program, by id."""
        return [cls.from_row(context, row) for row in services.list_all({'binary': binary})]

    @classmethod
    def list(cls, context: Context, filters: lists.Filters | None = None) -> 'list[ZunService]':
        """All services, by id, in one query.

        :param filters: of disabled, host, binary
        """
        return [cls.from_row(context, row) for row in services.list_all(filters)]
