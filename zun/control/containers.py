# SPDX-License-Identifier: Apache-2.0
"""What create, update and delete of a container mean."""

import contextlib
import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.common import units
import zun.conf
from zun.control import actions
from zun.control import attachments
from zun.control import clients
from zun.control import images
from zun.control import mounts
from zun.control import naming
from zun.control import normalise
from zun.control import placing
from zun.control import quotas
from zun.control import registries
from zun.control import removal
from zun.control import services
from zun.control import storage

CONF = zun.conf.CONF

Context = zun_context.RequestContext
Values = dict[str, ty.Any]

#: Members of the request that are columns as they are.
_PLAIN = ('image', 'hostname', 'runtime')
_FLAGS = ('auto_remove', 'auto_heal', 'interactive', 'tty', 'privileged')
_MAPPINGS = ('environment', 'healthcheck')
_WORDS = ('command', 'entrypoint')
_RESOURCES = ('cpu', 'memory')
#: What is looked up or made elsewhere before the rows are inserted.
_LOOKED_UP = ('nets', 'mounts', 'registry', 'host', 'exposed_ports', 'restart_policy', 'labels')


def create(context: Context, values: Values) -> 'objects.Container':
    """Accept a container: look up what it names, then quota, rows and request in one transaction.

    Refusals come in the order of the look-ups. What was made or claimed elsewhere is given back
    when a later step fails. The scheduler works after this returns.

    :param values: members of the request's body after schema, policies and version gates, with
        booleans as such and ``command`` as a list; None and absent mean the same. ``run`` tells
        whether it is started.
    :returns: in status Creating
    :raises ZunException: with a status below 500 for everything that the user can change
    """
    uuid = uuidutils.generate_uuid()
    columns = {**_security_groups(context, values), **_amounts(values)}
    reserve = quotas.reservation(context, context.project_id, _deltas(columns),
                                 early=any(values.get(name) for name in _LOOKED_UP))
    networks = attachments.resolve(context, values.get('nets') or [])
    wanted = mounts.parse(values.get('mounts'))
    columns.update(_columns(values))
    if values.get('registry'):
        columns['registry_id'] = registries.find(context, values['registry']).id
    disks = storage.find(context, uuid, wanted)
    placing.check_host(context, values.get('host'))
    images.validate(context, columns['image'], columns['image_driver'])

    container = objects.Container(
        context, uuid=uuid, project_id=context.project_id, user_id=context.user_id,
        status=states.CREATING, **columns)
    with contextlib.ExitStack() as undo:
        storage.make(context, disks, undo)
        clients.get().network.claim(context, uuid, networks)
        undo.callback(removal.disclaim, context, uuid, networks)
        mounted = storage.rows(context, disks)
        asked = placing.request(
            context, networks, storage.requested(mounted), run=bool(values.get('run')),
            availability_zone=values.get('availability_zone'), hints=values.get('hints') or {},
            requested_host=values.get('host') or None)
        container.create(context, request=asked, action=placing.ACTION, reserve=reserve,
                         mounted=mounted, reap_after=CONF.scheduler.reap_after)
        undo.pop_all()
    placing.dispatch(context, container, asked)
    return container


def _security_groups(context: Context, values: Values) -> Values:
    names = values.get('security_groups')
    if names is None:
        return {}
    return {'security_groups': clients.get().network.resolve_security_groups(
        context, names, context.project_id or '')}


def _amounts(values: Values) -> Values:
    return {'cpu': normalise.cpu(values.get('cpu'), CONF.default_cpu),
            'memory': normalise.memory(values.get('memory'), CONF.default_memory),
            'disk': normalise.disk(values.get('disk')),
            'cpu_policy': values.get('cpu_policy') or 'shared'}


def _deltas(columns: Values) -> dict[str, float]:
    """What a container adds to the use of its project: the values that are stored."""
    return {'containers': 1, 'cpu': columns['cpu'] or 0.0,
            'memory': units.memory_mib(columns['memory']), 'disk': columns['disk']}


def _columns(values: Values) -> Values:
    """The columns that need no look-up."""
    policy = normalise.restart_policy(values.get('restart_policy')) or {}
    if values.get('auto_remove') and policy.get('Name', 'no') != 'no':
        raise exception.InvalidValue(
            'auto_remove and a restart policy exclude each other.')
    return {
        'name': values.get('name') or naming.container_name(),
        'image_driver': values.get('image_driver') or CONF.default_image_driver,
        'image_pull_policy': normalise.pull_policy(values.get('image_pull_policy')),
        'restart_policy': policy,
        'exposed_ports': normalise.exposed_ports(values.get('exposed_ports')),
        'labels': normalise.labels(values.get('labels')),
        'workdir': normalise.workdir(values.get('workdir')),
        **{name: values.get(name) for name in _PLAIN},
        **{name: bool(values.get(name)) for name in _FLAGS},
        **{name: values.get(name) or {} for name in _MAPPINGS},
        **{name: normalise.texts(values.get(name)) for name in _WORDS},
    }


def update(context: Context, container: 'objects.Container',
           patch: Values) -> 'objects.Container':
    """Change a container: name and auto_heal at once, cpu and memory on its node.

    :param patch: of name, auto_heal, cpu (vCPUs), memory (MiB)
    :returns: the container as it is afterwards
    :raises OverQuota, ResourcesUnavailable: there is no room for the difference
    :raises ContainerHostNotUp: the node would have to act
    """
    changes = _changes(patch)
    if not set(changes).intersection(_RESOURCES):
        states.check('update', container.uuid, container.status)
        return _save(container, changes)
    actions.check_host(context, container, 'update')
    _check_quota(context, container, changes)
    clients.get().compute.container_update(context, container.host, container.uuid, changes)
    container.refresh()
    return container


def resize(context: Context, container: 'objects.Container',
           patch: Values) -> 'objects.Container':
    """Like update, without waiting for the node.

    :returns: the container as it was
    """
    changes = _changes(patch)
    actions.check(container, 'resize_container')
    _check_quota(context, container, changes)
    actions.order(context, container, 'resize_container', {'patch': changes})
    return container


def rename(context: Context, container: 'objects.Container', name: str) -> 'objects.Container':
    """:raises Conflict: it has this name already
    :raises ContainerAlreadyExists: another one has it, where names have to be unique
    """
    if name == container.name:
        raise exception.Conflict(
            'The new name for the container is the same as the old name.')
    return _save(container, {'name': name})


def _save(container: 'objects.Container', changes: Values) -> 'objects.Container':
    for name, value in changes.items():
        setattr(container, name, value)
    container.save()
    return container


def _changes(patch: Values) -> Values:
    """A patch with amounts as they are stored."""
    changes = dict(patch)
    if 'cpu' in patch:
        changes['cpu'] = normalise.cpu(patch['cpu'], None)
    if 'memory' in patch:
        changes['memory'] = normalise.memory(patch['memory'], None)
    return changes


def _check_quota(context: Context, container: 'objects.Container', changes: Values) -> None:
    """Against the quota of the container's project; the node writes the row, and holds nothing."""
    more = {}
    if 'cpu' in changes:
        more['cpu'] = changes['cpu'] - (container.cpu or 0.0)
    if 'memory' in changes:
        more['memory'] = units.memory_mib(changes['memory']) - units.memory_mib(container.memory)
    growth = {name: delta for name, delta in more.items() if delta > 0}
    quotas.reservation(context, container.project_id, growth)


def delete(context: Context, container: 'objects.Container', force: bool = False,
           stop: bool = False) -> None:
    """Delete a container. One without a host is gone at once, others when their node has acted.

    :param force: in any state, and at once when the node is down: its row, quota,
        allocation and ports; the caller has checked the policy
    :param stop: let a running one end by itself first; the caller has checked the policy
    :raises InvalidStateException: not in this state
    :raises ContainerHostNotUp: the node is down, and it is not forced
    """
    action = 'delete_force' if force else 'delete_after_stop' if stop else 'delete'
    states.check(action, container.uuid, container.status)
    if not container.host:
        removal.remove(context, container)
        return
    if not services.host_is_up(context, container.host):
        if not force:
            raise exception.ContainerHostNotUp(container=container.uuid)
        removal.remove(context, container, anyway=True)
        return
    _order_delete(context, container, action, force, stop)


def _order_delete(context: Context, container: 'objects.Container', action: str, force: bool,
                  stop: bool) -> None:
    """One message to the node; users see the stop that comes first as an action of its own."""
    first = stop and container.status == states.RUNNING
    if first:
        objects.ContainerAction.start(context, container.uuid, 'stop')
    try:
        actions.order(context, container, 'delete', {'force': force, 'stop': first},
                      checked_as=action)
    except exception.InvalidStateException:
        if first:
            objects.ContainerAction.finish(context, container.uuid, context.request_id, 'stop',
                                           message='Error')
        raise
