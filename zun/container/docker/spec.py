# SPDX-License-Identifier: Apache-2.0
"""A container as the parameters of the engine's create and update."""

import collections.abc
import typing as ty

from zun.common import exception
from zun.common import units
import zun.conf
from zun.container import driver
from zun.container.docker import host
from zun.container.docker import state
from zun.container.docker import versions
from zun.network import driver as network_driver

if ty.TYPE_CHECKING:
    from zun import objects

CONF = zun.conf.CONF
_SECOND = 10 ** 9  # the engine counts nanoseconds
_VCPU = 10 ** 9
_MAC_PER_ENDPOINT = (1, 44)  # of the whole container before
_GATEWAY_BY_PRIORITY = (1, 48)
_KINDS = {'Capsule': 'sandbox', 'CapsuleContainer': 'member', 'CapsuleInitContainer': 'init'}

Parameters = dict[str, ty.Any]


def create(workload: driver.Workload, api: str, limits: host.Limits) -> Parameters:
    """Body of a create.

    :param api: the engine API's version
    :raises Invalid: it asks for what this engine cannot do
    """
    container = workload.container
    body = {
        'Image': workload.image,
        'Cmd': list(_value(container, 'command') or ()),
        'Entrypoint': list(_value(container, 'entrypoint') or ()),
        'Env': [f'{key}={value}'
                for key, value in (_value(container, 'environment') or {}).items()],
        'WorkingDir': _value(container, 'workdir'),
        'Hostname': _value(container, 'hostname'),
        'Tty': bool(_value(container, 'tty')),
        # without StdinOnce, or the first client that detaches would end the container
        'OpenStdin': bool(_value(container, 'interactive')),
        'Labels': _labels(workload),
        'ExposedPorts': {port: {} for port in _value(container, 'exposed_ports') or {}},
        'Healthcheck': _healthcheck(_value(container, 'healthcheck') or {}),
    }
    wired = _wired(workload)
    body['HostConfig'] = _present({
        'NetworkMode': wired[0].engine_network if wired else 'none',
        **_host_config(workload, limits)})
    if wired:
        first = endpoint(wired[0], api)
        if versions.numbers(api) >= _GATEWAY_BY_PRIORITY:
            first['GwPriority'] = 1  # or the default route goes by the networks' names
        body['NetworkingConfig'] = {'EndpointsConfig': {wired[0].engine_network: first}}
        if versions.numbers(api) < _MAC_PER_ENDPOINT:
            body['MacAddress'] = wired[0].mac
    return _present(body)


def further_networks(workload: driver.Workload) -> list[network_driver.Attachment]:
    """The engine's networks to connect to after the create, which takes one only."""
    return _wired(workload)[1:]


def endpoint(attachment: network_driver.Attachment, api: str) -> Parameters:
    """One interface: EndpointSettings of the engine."""
    return _present({
        'IPAMConfig': _present({'IPv4Address': attachment.address(4),
                                'IPv6Address': attachment.address(6)}),
        'Aliases': list(attachment.aliases),
        'MacAddress': attachment.mac if versions.numbers(api) >= _MAC_PER_ENDPOINT else None,
    })


def update(cpu: float, memory: int, limits: host.Limits) -> Parameters:
    """Body of an update: cpu in vCPU, memory in MiB; 0 leaves a limit as it is."""
    body = {**_memory(memory), **_shares(cpu)}
    if cpu:
        # all of the host's CPUs for none, as leaving it out would keep the old limit
        most = cpu if CONF.compute.cpu_limit_mode == 'quota' else limits.cpus
        body['NanoCpus'] = round(min(most, limits.cpus) * _VCPU)
    return body


def _host_config(workload: driver.Workload, limits: host.Limits) -> Parameters:
    container, options = workload.container, CONF.docker
    privileged = bool(_value(container, 'privileged'))
    return {
        'Privileged': privileged,
        'Runtime': _value(container, 'runtime') or CONF.container_runtime,
        'RestartPolicy': _restart_policy(_value(container, 'restart_policy') or {}),
        'Mounts': [_mount(mount) for mount in workload.mounts],
        'StorageOpt': _disk(_value(container, 'disk') or 0, limits),
        'PortBindings': _published(workload),
        'LogConfig': {'Type': options.log_driver, 'Config': dict(options.log_opts)},
        'PidsLimit': options.pids_limit,
        'SecurityOpt': ['no-new-privileges']
                       if options.no_new_privileges and not privileged else [],
        'Init': options.init_default,
        'CgroupParent': options.cgroup_parent,
        'CapDrop': [] if privileged else options.cap_drop,
        'ReadonlyRootfs': options.read_only_rootfs and not privileged,
        'Ulimits': [_ulimit(text) for text in options.ulimits],
        'Sysctls': options.sysctls,
        'ShmSize': options.shm_size * units.MIB,
        'UsernsMode': options.userns_mode,
        'Devices': [{'PathOnHost': path, 'PathInContainer': path, 'CgroupPermissions': 'rwm'}
                    for path in options.devices],
        **_memory(units.memory_mib(_value(container, 'memory'))),
        **_cpu(_value(container, 'cpu') or 0.0, limits),
        **_pinning(_value(container, 'cpuset'), workload.cpus),
    }


def _value(container: 'objects.Container', field: str) -> ty.Any:
    """A field, None where the object was made without it."""
    return getattr(container, field) if container.obj_attr_is_set(field) else None


def _present(values: Parameters) -> Parameters:
    """Without what is empty: the engine then applies the image's or its own default."""
    return {key: value for key, value in values.items() if value}


def _labels(workload: driver.Workload) -> dict[str, str]:
    container = workload.container
    return {
        **(_value(container, 'labels') or {}),
        state.LABEL_UUID: container.uuid,
        state.LABEL_KIND: _KINDS.get(container.obj_name(), 'container'),
        state.LABEL_HOST: CONF.host,
        state.LABEL_PROJECT: _value(container, 'project_id') or '',
        state.LABEL_GENERATION: str(workload.generation),
        state.LABEL_OPERATION: workload.operation,
        state.LABEL_IMAGE: _value(container, 'image') or '',
    }


def _healthcheck(check: Parameters) -> Parameters:
    """Seconds become nanoseconds; without a command there is no check."""
    if not check.get('test'):
        return {}
    return _present({
        'Test': ['CMD-SHELL', check['test']],
        'Interval': int(check.get('interval') or 0) * _SECOND,
        'Timeout': int(check.get('timeout') or 0) * _SECOND,
        'Retries': int(check.get('retries') or 0),
        'StartPeriod': int(check.get('start_period') or 0) * _SECOND,
    })


def _restart_policy(policy: dict[str, str]) -> Parameters:
    """``always`` would have a restart of the engine start what its user has stopped."""
    name = policy.get('Name')
    return _present({'Name': 'unless-stopped' if name == 'always' else name,
                     'MaximumRetryCount': int(policy.get('MaximumRetryCount') or 0)})


def _mount(mount: driver.Mount) -> Parameters:
    """A source that is missing is an error, where the older Binds make an empty directory."""
    return {'Type': 'bind', 'Source': mount.source, 'Target': mount.destination,
            'ReadOnly': mount.read_only, 'BindOptions': {'Propagation': 'private'}}


def _ulimit(text: str) -> Parameters:
    """
    :param text: name=soft, or name=soft:hard
    """
    name, _, values = text.partition('=')
    soft, _, hard = values.partition(':')
    return {'Name': name, 'Soft': int(soft), 'Hard': int(hard or soft)}


def _disk(gib: int, limits: host.Limits) -> Parameters:
    if gib and not limits.disk_quota:
        raise exception.Invalid('Your host does not support disk quota feature.')
    return {'size': f'{gib}G'} if gib else {}


def _published(workload: driver.Workload) -> Parameters:
    options = CONF.embedded_network
    if not options.publish_exposed_ports or not _wired(workload):
        return {}
    return {port: [{'HostIp': str(options.publish_address), 'HostPort': ''}]
            for port in _value(workload.container, 'exposed_ports') or {}}


def _memory(mib: int) -> Parameters:
    """Memory, and memory with swap: always both, as the engine checks the pair."""
    if not mib:
        return {}
    swap = CONF.default_memory_swap
    return {'Memory': mib * units.MIB,
            'MemorySwap': (mib + swap) * units.MIB if swap >= 0 else -1}


def _shares(cpu: float) -> Parameters:
    return {'CpuShares': max(2, int(1024 * cpu))} if cpu else {}


def _cpu(cpu: float, limits: host.Limits) -> Parameters:
    """A weight, and a hard limit where that is less than the whole host: more is refused."""
    body = _shares(cpu)
    if 0 < cpu < limits.cpus and CONF.compute.cpu_limit_mode == 'quota':
        body['NanoCpus'] = round(cpu * _VCPU)
    return body


def _pinning(cpuset: 'objects.Cpuset | None',
             others: collections.abc.Collection[int]) -> Parameters:
    if not cpuset or not cpuset.cpuset_cpus:
        return _present(confinement(others))
    return {**confinement(cpuset.cpuset_cpus),
            'CpusetMems': ','.join(map(str, sorted(cpuset.cpuset_mems or ())))}


def confinement(cpus: collections.abc.Collection[int]) -> Parameters:
    """Body of an update to some CPUs."""
    return {'CpusetCpus': ','.join(map(str, sorted(cpus)))}


def _wired(workload: driver.Workload) -> list[network_driver.Attachment]:
    return [attachment for attachment in workload.attachments if attachment.engine_network]
