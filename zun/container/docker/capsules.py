# SPDX-License-Identifier: Apache-2.0
"""Sandbox and members of a capsule, as parameters of the engine's create."""

import typing as ty

from zun.common import units
from zun.container import driver
from zun.container.docker import client
from zun.container.docker import containers
from zun.container.docker import errors
from zun.container.docker import images
from zun.container.docker import pause
from zun.container.docker import spec

#: The program in it needs next to nothing.
_MEMORY = 16 * units.MIB
_PIDS = 8
#: What the engine refuses, or ignores, of a container that lives in another's network.
_OF_SANDBOX = ('Hostname', 'ExposedPorts', 'NetworkingConfig', 'MacAddress')
_SHARED = ('NetworkMode', 'IpcMode')
#: Of namespaces and ports that a member has from its sandbox.
_BY_SANDBOX = ('PortBindings', 'Sysctls', 'ShmSize')


def sandbox(body: spec.Parameters) -> spec.Parameters:
    """The sandbox, from the body of a plain container with the capsule's networks and ports.

    The agent restarts it, together with its members: the engine would leave these in the dead
    network of the old one.
    """
    limits = ('NanoCpus', 'CpuShares', 'RestartPolicy', 'CgroupParent', 'Ulimits', 'Devices')
    kept = {key: value for key, value in body['HostConfig'].items() if key not in limits}
    return {**body, 'HostConfig': {
        **kept, 'IpcMode': 'shareable', 'ReadonlyRootfs': True, 'CapDrop': ['ALL'],
        'SecurityOpt': ['no-new-privileges'], 'PidsLimit': _PIDS, 'Memory': _MEMORY,
        'MemorySwap': _MEMORY}}


def member(body: spec.Parameters, sandbox_id: str) -> spec.Parameters:
    """A member, from the body of a plain container.

    :param sandbox_id: the engine's
    """
    shared = dict.fromkeys(_SHARED, f'container:{sandbox_id}')
    own = {key: value for key, value in body.items() if key not in _OF_SANDBOX}
    host = {key: value for key, value in body['HostConfig'].items() if key not in _BY_SANDBOX}
    return {**own, 'HostConfig': {**host, **shared}}


def create_sandbox(engine: client.Client, workload: driver.Workload) -> None:
    """Make it and connect its networks; one of the same operation is adopted."""
    body = spec.create(workload, engine.engine().api, engine.limits())
    containers.create(engine, workload, sandbox(body))


def create_member(engine: client.Client, workload: driver.Workload, sandbox_name: str) -> None:
    """
    :raises Refusal: there is no sandbox of that name
    """
    sandbox_id = containers.inspect(engine, sandbox_name)['Id']
    body = spec.create(workload, engine.engine().api, engine.limits())
    containers.create(engine, workload, member(body, sandbox_id))


def pause_image(engine: client.Client) -> str | None:
    """Id of the built-in image, brought into the engine on first use."""
    name = f'{pause.NAME}:{pause.TAG}'
    found = images.find(engine, name)
    if found is not None:
        return found
    layer = pause.archive()
    if layer is None:
        return None
    params: dict[str, ty.Any] = {
        'fromSrc': '-', 'repo': pause.NAME, 'tag': pause.TAG,
        'changes': f'ENTRYPOINT ["{pause.PROGRAM}"]'}
    answer = engine.request('POST', '/images/create', params=params, data=layer,
                            headers={'Content-Type': 'application/x-tar'})
    imported = images.find(engine, name)
    if imported is None:
        raise errors.Refusal(500, f'import of {name}: {answer.text.strip()}')
    return imported
