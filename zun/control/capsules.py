# SPDX-License-Identifier: Apache-2.0
"""What create and delete of a capsule mean."""

import contextlib
import typing as ty

from oslo_log import log as logging
from oslo_utils import uuidutils

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import policy
from zun.common import states
import zun.conf
from zun.control import actions
from zun.control import attachments
from zun.control import mounts
from zun.control import naming
from zun.control import normalise
from zun.control import placing
from zun.control import quotas
from zun.control import removal
from zun.control import services
from zun.control import storage
from zun.control import template as templates

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

Context = zun_context.RequestContext
Spec = dict[str, ty.Any]
Member = ty.TypeVar('Member', bound='objects.ContainerBase')

_PULL_POLICY = 'container:create:image_pull_policy'


def create(context: Context, template: dict[str, ty.Any] | str) -> 'objects.Capsule':
    """Accept a capsule with its members, in one transaction with quota and request.

    What was made elsewhere is given back when a later step fails. The scheduler works after this
    returns.

    :param template: after the schema; a JSON text is taken as well
    :returns: in status Creating, with its members
    :raises ZunException: with a status below 500 for everything that the user can change
    """
    template = templates.parse(template)
    spec = templates.spec_of(template)
    containers, init = templates.members(spec)
    volumes = templates.volumes(spec)
    capsule = _capsule(context, template, spec)
    _add_members(context, capsule, containers, init, spec)
    disks = _disks(context, dict(zip(_uuids(capsule), [*init, *containers], strict=True)),
                   volumes)
    reserve = quotas.reservation(context, context.project_id, _deltas(capsule))
    networks = attachments.resolve(context, [])
    with contextlib.ExitStack() as undo:
        storage.make(context, disks, undo)
        mounted = storage.rows(context, disks)
        asked = placing.request(
            context, networks, storage.requested(mounted), run=False,
            availability_zone=template.get('availabilityZone'), hints={})
        capsule.create(context, request=asked, action=placing.ACTION, reserve=reserve,
                       mounted=mounted, reap_after=CONF.scheduler.reap_after)
        undo.pop_all()
    placing.dispatch(context, capsule, asked)
    return capsule


def _uuids(capsule: 'objects.Capsule') -> list[str]:
    return [member.uuid for member in (*capsule.init_containers, *capsule.containers)]


def _capsule(context: Context, template: dict[str, ty.Any], spec: Spec) -> 'objects.Capsule':
    metadata = template.get('metadata') or {}
    own, _of_init = templates.restart_policies(spec)
    cpu, memory = templates.amounts(*templates.members(spec))
    return objects.Capsule(
        context, uuid=uuidutils.generate_uuid(), name=metadata.get('name'),
        project_id=context.project_id, user_id=context.user_id, status=states.CREATING, cpu=cpu,
        memory=str(memory), restart_policy=own, image=CONF.sandbox_image,
        image_driver=CONF.sandbox_image_driver, labels=normalise.labels(metadata.get('labels')),
        annotations=metadata.get('annotations'))


def _add_members(context: Context, capsule: 'objects.Capsule', containers: list[Spec],
                 init: list[Spec], spec: Spec) -> None:
    own, of_init = templates.restart_policies(spec)
    may_choose = policy.allowed(context, _PULL_POLICY)
    title = capsule.name or capsule.uuid
    capsule.init_containers = [
        _member(context, objects.CapsuleInitContainer, member, title, of_init, may_choose)
        for member in init]
    capsule.containers = [
        _member(context, objects.CapsuleContainer, member, title, own, may_choose)
        for member in containers]


def _member(context: Context, kind: type[Member], spec: Spec, title: str,
            restart_policy: dict[str, str], may_choose: bool) -> Member:
    cpu, memory = templates.requests(spec)
    pull = normalise.pull_policy(spec.get('image_pull_policy')) if may_choose else None
    return kind(
        context, uuid=uuidutils.generate_uuid(), name=naming.member_name(title),
        project_id=context.project_id, user_id=context.user_id, status=states.CREATING,
        image=spec['image'], image_pull_policy=pull or 'always', cpu=cpu,
        memory=None if memory is None else str(memory), command=templates.command(spec),
        environment=spec.get('environment') or {},
        workdir=normalise.workdir(spec.get('workdir')),
        interactive=bool(spec.get('interactive')), tty=bool(spec.get('tty')),
        exposed_ports=templates.exposed_ports(spec), restart_policy=restart_policy)


def _deltas(capsule: 'objects.Capsule') -> dict[str, float]:
    """A capsule counts as one container with the amounts of its members."""
    if not CONF.quota.count_capsules:
        return {}
    return {'containers': 1, 'cpu': capsule.cpu, 'memory': int(capsule.memory), 'disk': 0}


def _disks(context: Context, members: dict[str, Spec],
           volumes: list[Spec]) -> list[storage.Disk]:
    """The volumes of a capsule with the places where its members mount them.

    :param members: by uuid
    :raises Invalid: a volume that no member mounts
    """
    places: dict[str, list[tuple[str, str]]] = {volume['name']: [] for volume in volumes}
    for uuid, member in members.items():
        for mount in member.get('volumeMounts') or ():
            if mount['name'] in places:
                places[mount['name']].append((uuid, mounts.destination(mount['mountPath'])))
            else:
                LOG.info('A capsule mounts %s, which is none of its volumes', mount['name'])
    if not all(places.values()):
        raise exception.Invalid('volume mount parameters is invalid.')
    return [_disk(context, volume['cinder'], places[volume['name']]) for volume in volumes]


def _disk(context: Context, cinder: Spec, places: list[tuple[str, str]]) -> storage.Disk:
    if cinder.get('volumeID'):
        return storage.Disk(places, cinder_id=storage.existing(context, cinder['volumeID']))
    return storage.Disk(places, size=mounts.size(cinder['size']),
                        auto_remove=bool(cinder.get('autoRemove')))


def delete(context: Context, capsule: 'objects.Capsule') -> None:
    """Delete a capsule in whatever state. One without a host is gone at once.

    :raises ContainerHostNotUp: its node is down
    """
    if not capsule.host:
        removal.remove(context, capsule, members=_uuids(capsule))
        return
    if not services.host_is_up(context, capsule.host):
        raise exception.ContainerHostNotUp(container=capsule.uuid)
    objects.ContainerRequest.record(
        context, capsule.uuid, 'delete', {'force': False, 'stop': False},
        status=states.DELETING, task_state=states.CONTAINER_DELETING, action='delete')
    actions.tell(context, capsule, 'delete', {'force': False, 'stop': False})
