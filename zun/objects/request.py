# SPDX-License-Identifier: Apache-2.0
"""What was asked for a container, kept so that any process may take an operation up again."""

import collections.abc
import typing as ty

from oslo_versionedobjects import fields as ovo_fields

from zun.db import containers
from zun.db import models
from zun.db import requests
from zun.db import rows
from zun.objects import action as action_object
from zun.objects import container
from zun.objects import fields
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class ContainerRequest(versioned.Persistent):
    """A row of ``container_request``.

    JSON fields are written when they are assigned; a change inside of one goes unnoticed.

    :ivar operation: the operation that was accepted last and is not done yet
    :ivar operation_id: id of the API request that asked for it
    :ivar claimed: the node has admitted this generation
    :ivar retry_at: by the database's clock; from then on a reaper may take the container up
    """

    VERSION = '1.0'
    fields = {
        'id': ovo_fields.IntegerField(),
        'container_uuid': ovo_fields.UUIDField(),
        'generation': ovo_fields.IntegerField(),
        'operation': ovo_fields.StringField(nullable=True),
        'operation_args': fields.JsonField(nullable=True),
        'operation_id': ovo_fields.StringField(nullable=True),
        'operation_time': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'run': ovo_fields.BooleanField(nullable=True),
        'requested_networks': fields.JsonField(nullable=True),
        'requested_volumes': fields.JsonField(nullable=True),
        'pci_requests': fields.JsonField(nullable=True),
        'availability_zone': ovo_fields.StringField(nullable=True),
        'hints': fields.JsonField(nullable=True),
        'requested_host': ovo_fields.StringField(nullable=True),
        'attempts': ovo_fields.IntegerField(),
        'excluded_hosts': fields.JsonField(nullable=True),
        'claimed': ovo_fields.BooleanField(),
        'retry_at': ovo_fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }

    def create(self, context: Context) -> None:
        """Insert the request of a container that has none.

        :raises ContainerNotFound: there is no such container
        :raises Conflict: it has a request
        """
        self._context = context
        self.stored(requests.create(self.container_uuid, self.changed_columns()))

    def save(self, context: Context | None = None,
             expected: rows.Expected | None = None) -> None:
        """Write the fields that changed, if any did.

        :param expected: column -> value that it must have, or values of which it must have one
        :raises Conflict: the row is not as expected
        :raises ContainerNotFound: the container is gone
        """
        changed = self.changed_columns()
        if changed:
            self.stored(requests.update(self.container_uuid, changed, expected))

    @classmethod
    def get(cls, context: Context, container_uuid: str) -> 'ContainerRequest':
        """The request of a container; an empty one for a container older than requests.

        :raises ContainerNotFound: there is no such container
        """
        return cls.from_row(context, requests.get(container_uuid))

    @staticmethod
    def record(context: Context, container_uuid: str, operation: str, args: dict[str, ty.Any],
               expected_status: str | collections.abc.Collection[str | None] | None = None,
               status: str | None = None, task_state: str | None | requests.Unset = ...,
               action: str | None = None) -> 'action_object.ContainerAction | None':
        """Accept an operation: state, request and action row in one transaction.

        :param expected_status: one status or several; None: any
        :param task_state: Ellipsis: leave it
        :param action: name under which users see the operation; None: they do not
        :returns: the action
        :raises Conflict: the container is in another status
        :raises ContainerNotFound: it is gone
        """
        row = requests.record(context, container_uuid, operation, args, expected_status, status,
                              task_state, action)
        if row is None:
            return None
        return action_object.ContainerAction.from_row(context, row)

    @staticmethod
    def finish_operation(context: Context, container_uuid: str, operation_id: str) -> bool:
        """Forget an operation that is done; False when another one was accepted since."""
        return requests.finish_operation(container_uuid, operation_id)

    @classmethod
    def due(cls, context: Context, limit: int | None = None) -> 'list[ContainerRequest]':
        """Requests of containers in status Creating whose retry_at has passed, oldest first."""
        return [cls.from_row(context, row) for row in requests.due(limit)]

    def postpone(self, seconds: float) -> bool:
        """Move retry_at to now plus some seconds, by the database's clock.

        :returns: False when somebody else moved it since this was read
        """
        moved = requests.postpone(self.container_uuid, seconds, self.retry_at)
        if moved is None:
            return False
        self.take_row({'retry_at': moved})
        self.obj_reset_changes(['retry_at'])
        return True

    @classmethod
    def list_open_by_host(
            cls, context: Context,
            host: str) -> 'list[tuple[container.ContainerBase, ContainerRequest]]':
        """Containers and capsules of a host at which something is to be done, with requests.

        An operation is recorded, a task is under way, or the status is one of passage. Members
        are found through their capsules. One query; one more for each container that is older
        than requests.
        """
        return [cls._pair(context, own, asked) for own, asked in containers.list_open(host)]

    @classmethod
    def get_with_container(
            cls, context: Context,
            container_uuid: str) -> 'tuple[container.ContainerBase, ContainerRequest]':
        """A container or capsule of any project, and its request, in one query.

        :raises ContainerNotFound: there is none
        """
        return cls._pair(context, *containers.get_with_request(container_uuid))

    @classmethod
    def _pair(cls, context: Context, own: rows.Row, asked: rows.Row | None,
              ) -> 'tuple[container.ContainerBase, ContainerRequest]':
        kind = container.CLASSES[own['container_type'] or models.CONTAINER]
        request = cls.get(context, own['uuid']) if asked is None else \
            cls.from_row(context, asked)
        return kind.from_row(context, own), request
