# SPDX-License-Identifier: Apache-2.0
"""What every command of the client's plug-in answers, in an order in which they make sense."""

import dataclasses

_FOREVER = "'trap \"exit 0\" TERM; while :; do sleep 0.1; done'"


@dataclasses.dataclass(frozen=True)
class Step:
    """One command.

    :ivar line: behind ``openstack``; braces are filled in
    :ivar says: regular expression that is found in what it prints
    :ivar exit: exit status
    :ivar admin: sent by an administrator
    :ivar sends: what is typed into a console
    :ivar then: container or capsule, and the status it has to reach afterwards; None: it is gone
    :ivar note: why it does not simply do what it is called
    """

    line: str
    says: str = ''
    exit: int = 0
    admin: bool = False
    sends: str = ''
    then: tuple[str, str | None] | None = None
    note: str = ''


_OLD = '--os-container-api-version 1.14 '
_TYPED = 'echo $((40 + 2))\n'
_NO_GROUPS = 'the lab has no Neutron behind its containers'
_FLOATING = 'the client asks Neutron, which knows no such address'

STEPS = (
    Step('appcontainer run --name {name} --cpu 0.1 --memory 64 --label a=b --environment X=y '
         f'--wait {{image}} sh -c {_FOREVER}', r'status +\| Running'),
    Step('appcontainer create --name {name}-2 --cpu 0.1 --memory 64 --interactive {image} sh',
         r'status +\| Creating', then=('{name}-2', 'Created')),
    Step('appcontainer list', '{name}.*Running'),
    Step('appcontainer show {name}', "environment +.*'X': 'y'"),
    Step('appcontainer exec {name} echo hello', '^hello'),
    Step('appcontainer exec --interactive {name} sh', '^42', sends=_TYPED),
    Step('appcontainer start {name}-2', 'accepted', then=('{name}-2', 'Running')),
    Step('appcontainer attach {name}-2', '^42', sends=_TYPED),
    Step('appcontainer logs {name}'),
    Step('appcontainer top {name}', 'unsupported operand', 1,
         note='python-zunclient 5.5 fails when it prints the answer'),
    Step('appcontainer stats {name}', r'MEM LIMIT\(MiB\) +\| 64'),
    Step('appcontainer set {name} --memory 128', r'memory +\| 128'),
    Step('appcontainer commit {name} snapshot', 'no image service.*HTTP 501',
         note='the lab has no Glance'),
    Step('appcontainer network list {name}', 'Invalid formatter', 1,
         note='python-zunclient 5.5 fails when it prints the answer'),
    Step('appcontainer network detach {name} --network default', 'accepted',
         then=('{name}', 'Running')),
    Step('appcontainer network attach {name} --network default', 'accepted',
         then=('{name}', 'Running')),
    Step('appcontainer add security group {name} default', 'HTTP 406',
         note='only up to 1.14; later, groups belong to ports'),
    Step('appcontainer remove security group {name} default', 'HTTP 406',
         note='only up to 1.14; later, groups belong to ports'),
    Step(_OLD + 'appcontainer add security group {name} default', 'HTTP 400', note=_NO_GROUPS),
    Step(_OLD + 'appcontainer remove security group {name} default', 'HTTP 400',
         note=_NO_GROUPS),
    Step('appcontainer add floating ip {name} 192.0.2.9', 'No FloatingIP found', 1,
         note=_FLOATING),
    Step('appcontainer remove floating ip 192.0.2.9', 'No FloatingIP found', 1, note=_FLOATING),
    Step('appcontainer cp {files}/sent {name}:/tmp'),
    Step('appcontainer cp {name}:/tmp/sent {files}/received'),
    Step('appcontainer pause {name}', 'accepted', then=('{name}', 'Paused')),
    Step('appcontainer unpause {name}', 'accepted', then=('{name}', 'Running')),
    Step('appcontainer restart {name} --timeout 5', 'accepted', then=('{name}', 'Running')),
    Step('appcontainer stop {name} --timeout 5', 'accepted', then=('{name}', 'Stopped')),
    Step('appcontainer start {name}', 'accepted', then=('{name}', 'Running')),
    Step('appcontainer kill {name}', 'accepted', then=('{name}', 'Stopped')),
    Step('appcontainer rebuild {name} --wait', 'success'),
    Step('appcontainer action list {name}', 'rebuild'),
    Step('appcontainer action show {name} {request}', 'compute__do_container_create'),
    Step('appcontainer delete --stop {name} --wait', 'success'),
    Step('appcontainer delete --force {name}-2', 'accepted', admin=True, then=('{name}-2', None)),
    Step('appcontainer image pull {image} {host}', r'repo +\| .*/lab/busybox', admin=True),
    Step('appcontainer image list', '/lab/busybox', admin=True),
    Step('appcontainer image show {pulled}', r'tag +\| latest', admin=True),
    Step('appcontainer image delete {pulled}', 'accepted', admin=True),
    Step('appcontainer image search {registry}/busybox', 'HTTP 50[13]', 1,
         note="the lab's registry has no search"),
    Step('appcontainer host list', '{host}', admin=True),
    Step('appcontainer host show {host}', r'cpus +\| \d', admin=True),
    Step('appcontainer availability zone list', 'nova'),
    Step('appcontainer service list', 'zun-compute +.*up', admin=True),
    Step('appcontainer service disable {scheduler} zun-scheduler --reason why',
         r'Disabled Reason +\| why', admin=True),
    Step('appcontainer service enable {scheduler} zun-scheduler', r'Disabled +\| False',
         admin=True),
    Step('appcontainer service forcedown {scheduler} zun-scheduler', r'Forced_down +\| True',
         admin=True),
    Step('appcontainer service forcedown {scheduler} zun-scheduler --unset',
         r'Forced_down +\| False', admin=True),
    Step('appcontainer service delete nowhere zun-compute', 'HTTP 404', admin=True,
         note='there is no such service'),
    Step('appcontainer quota get {project}', r'containers +\| 40'),
    Step('appcontainer quota default {project}', r'containers +\| 40'),
    Step('appcontainer quota update --containers 41 {project}', r'containers +\| 41', admin=True),
    Step('appcontainer quota delete {project}', 'accepted', admin=True),
    Step('appcontainer quota class get default', r'containers +\| 40', admin=True),
    Step('appcontainer quota class update --cpu 20 default', r'cpu +\| 20', admin=True),
    Step('appcontainer registry create --name {name} --domain example.org --username u '
         '--password p', r'password +\| \*+'),
    Step('appcontainer registry list', '{name}'),
    Step('appcontainer registry show {name}', r'username +\| u'),
    Step('appcontainer registry update {name} --username v', r'username +\| v'),
    Step('appcontainer registry delete {name}', 'accepted'),
    Step('capsule create --file {files}/capsule.yaml', r'status +\| Creating',
         then=('{name}-pod', 'Running')),
    Step('capsule list', '{name}-pod'),
    Step('capsule show {name}-pod', r'status +\| Running'),
    Step('capsule delete {name}-pod', 'accepted', then=('{name}-pod', None)),
)
