# SPDX-License-Identifier: Apache-2.0
"""What was done to containers, as users see it."""

from oslo_versionedobjects import fields

from zun.db import actions
from zun.objects import versioned

Context = versioned.Context


@versioned.register
class ContainerAction(versioned.Persistent):
    """One verb of the API on one container."""

    VERSION = '1.2'
    fields = {
        'id': fields.IntegerField(),
        'action': fields.StringField(nullable=True),
        'container_uuid': fields.UUIDField(nullable=True),
        'request_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'project_id': fields.StringField(nullable=True),
        'start_time': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'finish_time': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'message': fields.StringField(nullable=True),
    }

    @classmethod
    def new(cls, context: Context, action: str) -> 'ContainerAction':
        """An action that begins now, not stored yet, for ``Container.create``."""
        return cls(context, **actions.start_values(context, action))

    @classmethod
    def start(cls, context: Context, container_uuid: str, action: str) -> 'ContainerAction':
        """Record that an action begins. :raises ContainerNotFound: the container is gone"""
        return cls.from_row(context, actions.start(context, container_uuid, action))

    @classmethod
    def finish(cls, context: Context, container_uuid: str, request_id: str | None,
               action: str | None = None, message: str | None = None) -> 'ContainerAction':
        """Record that an action ended.

        :param action: None: the last one of the request
        :param message: None for success, else Error or a text for the user
        :raises ContainerActionNotFound: there is none
        """
        return cls.from_row(context, actions.finish(container_uuid, request_id, action, message))

    @classmethod
    def get_by_container_uuid(cls, context: Context,
                              container_uuid: str) -> 'list[ContainerAction]':
        """All actions of a container, newest first."""
        return [cls.from_row(context, row) for row in actions.list_by_container(container_uuid)]

    @classmethod
    def get_by_request_id(cls, context: Context, container_uuid: str,
                          request_id: str) -> 'ContainerAction | None':
        """The last action of an API request on a container."""
        row = actions.get_by_request(container_uuid, request_id)
        return None if row is None else cls.from_row(context, row)


@versioned.register
class ContainerActionEvent(versioned.Persistent):
    """One step of an action."""

    VERSION = '1.1'
    fields = {
        'id': fields.IntegerField(),
        'event': fields.StringField(nullable=True),
        'action_id': fields.IntegerField(nullable=True),
        'start_time': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'finish_time': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'result': fields.StringField(nullable=True),
        'traceback': fields.StringField(nullable=True),
        'details': fields.StringField(nullable=True),
    }

    @classmethod
    def start(cls, context: Context, event: str, action_id: int | None = None,
              container_uuid: str | None = None,
              request_id: str | None = None) -> 'ContainerActionEvent':
        """Record that a step begins.

        Its action is given by number, or is the last one of the request (by default the
        context's); for a service's own work, which has no project, the container's last one.

        :raises ContainerActionNotFound: there is none
        """
        return cls.from_row(context, actions.event_start(
            context, event, action_id, container_uuid, request_id))

    def finish(self, result: str, traceback: str | None = None,
               details: str | None = None) -> None:
        """Record how the step ended.

        :param result: Success or Error
        :param details: a short message for users
        :raises ContainerActionEventNotFound: it went with its container
        """
        self.stored(actions.event_finish(self.id, result, traceback, details))

    @classmethod
    def get_by_action(cls, context: Context, action_id: int) -> 'list[ContainerActionEvent]':
        """All steps of an action, newest first."""
        return [cls.from_row(context, row) for row in actions.list_events(action_id)]
