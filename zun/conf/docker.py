# SPDX-License-Identifier: Apache-2.0
"""Options of the Docker engine."""

from oslo_config import cfg
from oslo_config import types

GROUP = cfg.OptGroup('docker', title='Docker engine')

MIB = 1024 * 1024

CONNECTION_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'api_url',
        default='unix:///var/run/docker.sock',
        help='Engine API, as unix:///path or tcp://address:port. Whoever reaches a TCP address '
        'without TLS is root on the host.',
    ),
    cfg.StrOpt(
        'docker_remote_api_version',
        help='Highest version of the engine API to use. Unset: the highest that both the engine '
        'and Zun know. A version that the engine no longer has is raised to its lowest.',
    ),
    cfg.BoolOpt(
        'api_insecure',
        default=False,
        help='Do not verify the certificate of an engine on TCP.',
    ),
    cfg.StrOpt('ca_file', help="File with the authority of the engine's certificate, PEM."),
    cfg.StrOpt('cert_file', help='File with the client certificate for the engine, PEM.'),
    cfg.StrOpt('key_file', help='File with the key of the client certificate, PEM.'),
]

TIMEOUT_OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'default_timeout',
        default=60,
        min=1,
        help='Seconds to wait for an answer of the engine when no other option says.',
    ),
    cfg.IntOpt(
        'create_timeout',
        default=60,
        min=1,
        help='Seconds to wait while the engine creates a container.',
    ),
    cfg.IntOpt(
        'stop_grace_margin',
        default=30,
        min=1,
        help='Seconds to wait for the answer to a stop beyond the time that the container itself '
        'is given.',
    ),
    cfg.IntOpt(
        'commit_timeout',
        default=600,
        min=1,
        help='Seconds to wait while the engine makes an image of a container.',
    ),
    cfg.IntOpt('pull_timeout', default=1800, min=1, help='Seconds that one pull may take.'),
    cfg.IntOpt(
        'pull_idle_timeout',
        default=120,
        min=1,
        help='Seconds without progress after which a pull is given up.',
    ),
    cfg.IntOpt(
        'execute_timeout',
        default=5,
        min=1,
        help='Seconds that a non-interactive command may run inside a container. Then it is '
        'killed and the user is told the limit.',
    ),
]

CONTAINER_OPTS: list[cfg.Opt] = [
    cfg.StrOpt('log_driver', default='json-file', help='Log driver of containers.'),
    cfg.DictOpt(
        'log_opts',
        default={'max-size': '10m', 'max-file': '3'},
        help='Options of the log driver, as key:value pairs.',
    ),
    cfg.IntOpt(
        'pids_limit',
        default=4096,
        min=0,
        help='Most processes and threads in one container. 0: no limit.',
    ),
    cfg.BoolOpt(
        'no_new_privileges',
        default=True,
        help='Keep the processes of unprivileged containers from gaining privileges, for example '
        'through setuid programs.',
    ),
    cfg.BoolOpt(
        'init_default',
        default=False,
        help='Run an init as the first process of each container. It passes signals on and reaps '
        'zombies.',
    ),
    cfg.StrOpt(
        'cgroup_parent',
        default='',
        help="Parent cgroup of containers. Empty: the engine's default.",
    ),
    cfg.ListOpt(
        'cap_drop',
        default=[],
        help='Capabilities that unprivileged containers do without, as NET_RAW, or ALL.',
    ),
    cfg.BoolOpt(
        'read_only_rootfs',
        default=False,
        help='Keep unprivileged containers from writing outside of their volumes.',
    ),
    cfg.ListOpt(
        'ulimits',
        item_type=types.String(regex=r'^[a-z]+=-?[0-9]+(:-?[0-9]+)?$'),
        default=[],
        help='Limits of the processes in a container, as nofile=1024:4096 for a soft and a hard '
        'one, or nproc=512 for both.',
    ),
    cfg.DictOpt(
        'sysctls',
        default={},
        help='Kernel parameters of the namespaces of a container, as '
        'net.ipv4.ip_unprivileged_port_start:0.',
    ),
    cfg.IntOpt(
        'shm_size',
        default=0,
        min=0,
        help="MiB of shared memory in /dev/shm. 0: the engine's default.",
    ),
    cfg.StrOpt(
        'userns_mode',
        default='',
        choices=['', 'host'],
        help='User namespace of containers on an engine that maps users. Empty: as the engine '
        'does it; host: none.',
    ),
    cfg.ListOpt(
        'devices',
        default=[],
        help='Devices of the host, as /dev/fuse, that every container may use under the same '
        'name.',
    ),
]

LIMIT_OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'max_log_bytes',
        default=10 * MIB,
        min=1024,
        help='Most bytes of log in one answer. The newest are kept, and a line in front tells '
        'when there were more.',
    ),
    cfg.IntOpt(
        'max_exec_output_bytes',
        default=MIB,
        min=1024,
        help='Most bytes of output of a non-interactive command in one answer.',
    ),
    cfg.IntOpt(
        'max_archive_bytes',
        default=16 * MIB,
        min=1024,
        help='Most bytes of an archive that is copied into or out of a container.',
    ),
]

REGISTRY_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'default_registry',
        regex=r'^((localhost|[^/]*[.:][^/]*)(/.*)?)?$',
        help='Registry of images whose name has no domain: a host with a dot or a port, or '
        "localhost. Unset: the engine's default.",
    ),
    cfg.StrOpt('default_registry_username', help='User of default_registry.'),
    cfg.StrOpt('default_registry_password', secret=True, help='Password for default_registry.'),
]

OPTS = [*CONNECTION_OPTS, *TIMEOUT_OPTS, *CONTAINER_OPTS, *LIMIT_OPTS, *REGISTRY_OPTS]
