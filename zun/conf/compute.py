# SPDX-License-Identifier: Apache-2.0
"""Options of the node agent."""

from oslo_config import cfg

GROUP = cfg.OptGroup('compute', title='Node agent')


def _ratios() -> list[cfg.Opt]:
    opts: list[cfg.Opt] = []
    for name, what, initial in (
        ('cpu', 'vCPUs', 16.0),
        ('ram', 'memory', 1.5),
        ('disk', 'disk', 1.0),
    ):
        opts += [
            cfg.FloatOpt(
                f'{name}_allocation_ratio',
                min=0.0,
                help=f'How many times the {what} of this node may be allocated. Unset or 0: the '
                f'ratio stored in the inventory stays, at first initial_{name}_allocation_ratio.',
            ),
            cfg.FloatOpt(
                f'initial_{name}_allocation_ratio',
                default=initial,
                min=0.0,
                help=f'Ratio of {what} that a new node starts with, while '
                f'{name}_allocation_ratio is unset.',
            ),
        ]
    return opts


INVENTORY_OPTS: list[cfg.Opt] = [
    *_ratios(),
    cfg.IntOpt('reserved_host_cpus', default=0, min=0, help='CPUs kept for the host itself.'),
    cfg.IntOpt(
        'reserved_host_memory_mb',
        default=512,
        min=0,
        help='MiB of memory kept for the host itself.',
    ),
    cfg.IntOpt(
        'reserved_host_disk_mb',
        default=0,
        min=0,
        help='MiB of disk kept for the host itself.',
    ),
    cfg.FloatOpt(
        'reserve_disk_for_image',
        default=0.2,
        min=0.0,
        max=1.0,
        help='Fraction of the disk kept for images.',
    ),
    cfg.BoolOpt(
        'enable_cpu_pinning',
        default=False,
        help='Let containers ask for CPUs of their own (cpu_policy dedicated).',
    ),
    cfg.BoolOpt(
        'host_shared_with_nova',
        default=False,
        help="nova-compute runs on this host too. Zun then allocates from Nova's resource provider "
        'and writes no inventory of its own.',
    ),
    cfg.IntOpt(
        'resource_provider_association_refresh',
        default=300,
        min=0,
        mutable=True,
        help="Seconds after which aggregates, traits and inventory of the node's provider are read "
        'again. 0: never.',
    ),
    cfg.BoolOpt(
        'claim',
        default=True,
        help='Check on the node, against rows it locks, that a container still fits before it is '
        'made. Off, two schedulers may overfill a node.',
    ),
]

CONTAINER_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'unique_container_name_scope',
        default='',
        choices=[
            ('', 'names need not be unique'),
            ('project', 'a name exists once in a project'),
            ('global', 'a name exists once in the cloud'),
        ],
        help='Where the name of a container must be unique. Case does not matter.',
    ),
    cfg.StrOpt(
        'cpu_limit_mode',
        default='quota',
        choices=[
            ('quota', 'a hard limit, and a weight against neighbours'),
            ('shares', 'a weight only: idle CPUs may be used by anybody'),
        ],
        help='How the vCPUs of a container limit it, from its create or the next change of its '
        'cpu on.',
    ),
    cfg.StrOpt(
        'default_image_pull_policy',
        default='always',
        choices=['always', 'ifnotpresent', 'never'],
        help='When to pull the image of a container that does not say.',
    ),
    cfg.BoolOpt(
        'remount_container_volume',
        default=True,
        help="Attach the volumes of this node's containers again when the agent starts.",
    ),
    cfg.BoolOpt(
        'resume_container_state',
        default=False,
        help='Start the containers that ran before the host went down when the agent starts.',
    ),
    cfg.IntOpt(
        'heal_max_attempts',
        default=5,
        min=0,
        help='Most repairs of one container with auto_heal in an hour. 0: none.',
    ),
    cfg.StrOpt(
        'orphan_policy',
        default='log',
        choices=[('log', 'name them in the log'), ('remove', 'stop and remove them')],
        help="What to do with engine containers that bear Zun's label but have no row.",
    ),
    cfg.IntOpt(
        'orphan_age',
        default=600,
        min=60,
        help='Age in seconds from which an engine container can be an orphan.',
    ),
]

IMAGE_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'image_gc',
        default=False,
        help='Remove images that Zun fetched to this host and that no container uses, by the '
        'rules of image_gc_high, image_gc_low and image_gc_max_age. Images that an administrator '
        'pulled through the API stay, and so does what was wanted in the last ten minutes.',
    ),
    cfg.IntOpt(
        'image_gc_high',
        default=85,
        min=0,
        max=100,
        help="Percentage of use of the engine's disk from which unused images are removed.",
    ),
    cfg.IntOpt(
        'image_gc_low',
        default=75,
        min=0,
        max=100,
        help="Percentage of use of the engine's disk down to which unused images are removed.",
    ),
    cfg.IntOpt(
        'image_gc_max_age',
        default=0,
        min=0,
        help='Seconds after its last use at which an unused image is removed. 0: never.',
    ),
]

POOL_OPTS: list[cfg.Opt] = [
    cfg.StrOpt('topic', default='zun-compute', help='RPC topic of the node agents.'),
    cfg.IntOpt(
        'rpc_workers',
        default=64,
        min=1,
        help='Messages handled at a time. Long work goes to the pools below.',
    ),
    cfg.IntOpt(
        'lifecycle_workers',
        default=16,
        min=1,
        help='Containers that are created, started, stopped or deleted at a time.',
    ),
    cfg.IntOpt(
        'lifecycle_backlog',
        default=500,
        min=1,
        help='Accepted operations that may wait for a lifecycle worker. Further ones stay in the '
        'database until there is room.',
    ),
    cfg.IntOpt(
        'image_pull_workers',
        default=4,
        min=1,
        help='Different images that are fetched, loaded or sent at a time. Who waits for one '
        'of them needs no worker.',
    ),
    cfg.IntOpt(
        'stream_workers',
        default=32,
        min=1,
        help='Logs, archives, statistics and executed commands that are served at a time.',
    ),
]

OPTS = [*INVENTORY_OPTS, *CONTAINER_OPTS, *IMAGE_OPTS, *POOL_OPTS]
