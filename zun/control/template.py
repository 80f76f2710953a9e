# SPDX-License-Identifier: Apache-2.0
"""Capsule templates: pure functions from what users write to members, volumes and amounts."""

import typing as ty

from oslo_serialization import jsonutils

from zun.common import exception
from zun.control import mounts
from zun.control import normalise

Spec = dict[str, ty.Any]

_KINDS = ('capsule', 'Capsule')
_RESTART_POLICIES = {'Always': 'always', 'OnFailure': 'on-failure', 'Never': 'no'}
_RENAMED = {'env': 'environment', 'workDir': 'workdir', 'imagePullPolicy': 'image_pull_policy',
            'stdin': 'interactive'}
#: Init containers of a capsule that always restarts have to end some time.
_INIT_POLICY = {'Name': 'on-failure', 'MaximumRetryCount': '10'}


def parse(template: dict[str, ty.Any] | str) -> dict[str, ty.Any]:
    """A template given as an object or as a JSON text of it.

    :raises FailedParseStringToJson: the text is no JSON
    :raises InvalidCapsuleTemplate: it is no template of a capsule
    """
    if isinstance(template, str):
        try:
            template = jsonutils.loads(template)
        except ValueError:
            raise exception.FailedParseStringToJson() from None
    if not isinstance(template, dict) or template.get('kind') not in _KINDS:
        raise _invalid('kind fields need to be set as capsule or Capsule')
    return template


def spec_of(template: dict[str, ty.Any]) -> Spec:
    """The ``spec`` of a template, its restart policy in our words under ``restart_policy``.

    :raises InvalidCapsuleTemplate: there is no spec, or no list of containers in it
    """
    found = template.get('spec')
    if found is None:
        raise _invalid('No Spec found')
    if not isinstance(found, dict) or found.get('containers') is None:
        raise _invalid('No valid containers field')
    spec = {key: value for key, value in found.items() if key != 'restartPolicy'}
    policy = found.get('restartPolicy') or template.get('restartPolicy')
    if policy:
        spec['restart_policy'] = _RESTART_POLICIES[policy]
    return spec


def members(spec: Spec) -> tuple[list[Spec], list[Spec]]:
    """Containers and init containers, their members under our names.

    :raises InvalidCapsuleTemplate: there is no container, or one without an image
    """
    if not spec.get('containers'):
        raise _invalid('Capsule need to have one container at least')
    return _members(spec['containers']), _members(spec.get('initContainers') or [])


def _members(given: ty.Any) -> list[Spec]:
    if not isinstance(given, list):
        raise _invalid('Containers are a list')
    for item in given:
        if not isinstance(item, dict) or not item.get('image'):
            raise _invalid('Container image is needed')
    return [{_RENAMED.get(key, key): value for key, value in item.items()} for item in given]


def volumes(spec: Spec) -> list[Spec]:
    """The volumes of a capsule.

    :raises InvalidCapsuleTemplate: one without name, or not exactly one of volume and size
    """
    given = spec.get('volumes') or []
    for volume in given:
        if not volume.get('name'):
            raise _invalid('Volume name is needed')
        cinder = volume.get('cinder')
        if not cinder:
            raise _invalid('Zun now Only support Cinder volume driver')
        if cinder.get('volumeID') and cinder.get('size') is not None:
            raise _invalid('Volume size and uuid could not be set at the same time')
        if not cinder.get('volumeID'):
            _check_size(cinder.get('size'))
    return list(given)


def _check_size(size: ty.Any) -> None:
    if size is None:
        raise _invalid('Volume size is needed')
    try:
        mounts.size(size)
    except exception.InvalidValue as error:
        raise _invalid(error.message) from None


def requests(member: Spec) -> tuple[float | None, int | None]:
    """vCPUs and MiB that a member asks for."""
    asked = (member.get('resources') or {}).get('requests') or {}
    memory = normalise.memory(asked.get('memory'), None)
    return normalise.cpu(asked.get('cpu'), None), None if memory is None else int(memory)


def amounts(containers: ty.Sequence[Spec], init: ty.Sequence[Spec]) -> tuple[float, int]:
    """vCPUs and MiB of a capsule: containers run together, init containers one at a time."""
    together = [requests(member) for member in containers]
    alone = [requests(member) for member in init]
    cpu = max(sum(cpu or 0.0 for cpu, _ in together), *(cpu or 0.0 for cpu, _ in alone), 0.0)
    memory = max(sum(memory or 0 for _, memory in together),
                 *(memory or 0 for _, memory in alone), 0)
    return cpu, memory


def restart_policies(spec: Spec) -> tuple[dict[str, str], dict[str, str]]:
    """The restart policy of the capsule and its containers, and that of its init containers."""
    name = spec.get('restart_policy') or 'always'
    own = {'Name': name, 'MaximumRetryCount': '0'}
    return own, dict(_INIT_POLICY) if name == 'always' else dict(own)


def command(member: Spec) -> list[str]:
    """Command and arguments in one."""
    return normalise.texts([*(member.get('command') or ()), *(member.get('args') or ())])


def exposed_ports(member: Spec) -> dict[str, ty.Any]:
    """The ports of a member: ``{"80/tcp": {}}``.

    :raises InvalidValue: not a port
    """
    return normalise.exposed_ports({
        f"{port['containerPort']}/{(port.get('protocol') or 'tcp').lower()}": {}
        for port in member.get('ports') or ()})


def _invalid(detail: str) -> exception.InvalidCapsuleTemplate:
    return exception.InvalidCapsuleTemplate(detail=detail)
