# SPDX-License-Identifier: Apache-2.0
"""The states of a container and what may be done in each.

One table of actions is read by the API's check, the generic action handler and the node.
"""

import dataclasses
import typing as ty

from zun.common import exception

ERROR = 'Error'
RUNNING = 'Running'
STOPPED = 'Stopped'
PAUSED = 'Paused'
UNKNOWN = 'Unknown'
CREATING = 'Creating'
CREATED = 'Created'
DELETED = 'Deleted'
DELETING = 'Deleting'
REBUILDING = 'Rebuilding'
DEAD = 'Dead'
RESTARTING = 'Restarting'

STATUSES = (ERROR, RUNNING, STOPPED, PAUSED, UNKNOWN, CREATING, CREATED, DELETED, DELETING,
            REBUILDING, DEAD, RESTARTING)
#: Statuses of an operation under way: the engine's view does not overwrite them.
TRANSITIONAL = frozenset({CREATING, DELETING, REBUILDING})

#: Statuses of an image on a host; the third is ERROR.
PULLING = 'Pulling'
AVAILABLE = 'Available'

IMAGE_PULLING = 'image_pulling'
CONTAINER_CREATING = 'container_creating'
CONTAINER_STARTING = 'container_starting'
CONTAINER_DELETING = 'container_deleting'
CONTAINER_STOPPING = 'container_stopping'
CONTAINER_REBOOTING = 'container_rebooting'
CONTAINER_PAUSING = 'container_pausing'
CONTAINER_UNPAUSING = 'container_unpausing'
CONTAINER_KILLING = 'container_killing'
SG_ADDING = 'sg_adding'
SG_REMOVING = 'sg_removing'
NETWORK_ATTACHING = 'network_attaching'
NETWORK_DETACHING = 'network_detaching'
CONTAINER_REBUILDING = 'container_rebuilding'
CONTAINER_UPDATING = 'container_updating'

TASK_STATES = (IMAGE_PULLING, CONTAINER_CREATING, CONTAINER_STARTING, CONTAINER_DELETING,
               CONTAINER_STOPPING, CONTAINER_REBOOTING, CONTAINER_PAUSING, CONTAINER_UNPAUSING,
               CONTAINER_KILLING, SG_ADDING, SG_REMOVING, NETWORK_ATTACHING, NETWORK_DETACHING,
               CONTAINER_REBUILDING, CONTAINER_UPDATING)


@dataclasses.dataclass(frozen=True)
class Action:
    """What surrounds one verb of the API.

    :ivar statuses: container statuses in which the API accepts it; empty: any
    :ivar task_state: what the row shows while the node is at it
    :ivar waits: the caller waits for the node, so that its host has to be up
    :ivar recorded: it leaves a row in container_actions
    """

    name: str
    statuses: frozenset[str]
    task_state: str | None = None
    waits: bool = False
    recorded: bool = False


def _action(name: str, *statuses: str, **kwargs: ty.Any) -> Action:
    return Action(name, frozenset(statuses), **kwargs)


_DELETABLE = (CREATED, ERROR, STOPPED, DELETED, DEAD)
_SETTLED = (CREATED, RUNNING, STOPPED, PAUSED)

ACTIONS: dict[str, Action] = {action.name: action for action in (
    _action('commit', RUNNING, STOPPED, PAUSED, waits=True, recorded=True),
    _action('delete', *_DELETABLE, task_state=CONTAINER_DELETING, recorded=True),
    _action('delete_force', *STATUSES, task_state=CONTAINER_DELETING, recorded=True),
    _action('delete_after_stop', RUNNING, *_DELETABLE, task_state=CONTAINER_DELETING,
            recorded=True),
    _action('start', CREATED, STOPPED, ERROR, task_state=CONTAINER_STARTING, recorded=True),
    _action('stop', RUNNING, RESTARTING, task_state=CONTAINER_STOPPING, recorded=True),
    _action('reboot', CREATED, RUNNING, STOPPED, ERROR, task_state=CONTAINER_REBOOTING,
            recorded=True),
    _action('rebuild', CREATED, RUNNING, STOPPED, ERROR, task_state=CONTAINER_REBUILDING,
            recorded=True),
    _action('pause', RUNNING, task_state=CONTAINER_PAUSING, recorded=True),
    _action('unpause', PAUSED, task_state=CONTAINER_UNPAUSING, recorded=True),
    _action('kill', RUNNING, task_state=CONTAINER_KILLING, recorded=True),
    _action('execute', RUNNING, waits=True),
    _action('execute_resize', RUNNING, waits=True),
    _action('update', *_SETTLED, waits=True),
    _action('attach', RUNNING, waits=True),
    _action('resize', RUNNING, waits=True),
    _action('top', RUNNING, waits=True),
    _action('get_archive', *_SETTLED, waits=True),
    _action('put_archive', *_SETTLED, waits=True),
    _action('logs', *_SETTLED, ERROR, UNKNOWN, waits=True),
    _action('stats', RUNNING, waits=True),
    _action('add_security_group', *_SETTLED, task_state=SG_ADDING, recorded=True),
    _action('remove_security_group', *_SETTLED, task_state=SG_REMOVING, recorded=True),
    _action('resize_container', *_SETTLED, task_state=CONTAINER_UPDATING, recorded=True),
    _action('network_attach', *_SETTLED, task_state=NETWORK_ATTACHING, recorded=True),
    _action('network_detach', *_SETTLED, task_state=NETWORK_DETACHING, recorded=True),
)}


def check(action: str, uuid: str, status: str | None) -> None:
    """Refuse an action in the wrong status.

    :raises InvalidStateException: the container's status does not allow the action
    """
    if status not in ACTIONS[action].statuses:
        raise exception.InvalidStateException(action=action, id=uuid, actual_state=status)
