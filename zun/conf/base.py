# SPDX-License-Identifier: Apache-2.0
"""Options of [DEFAULT]: the identity of the host, drivers, defaults and bounds of resources."""

import os
import socket

from oslo_config import cfg
from oslo_utils import netutils

GROUP = cfg.OptGroup('DEFAULT')

DEFAULT_ENCRYPTION_KEY = 'notgood but just long enough i t'

HOST_OPTS: list[cfg.Opt] = [
    cfg.HostAddressOpt(
        'host',
        default=socket.gethostname(),
        sample_default='node1.example.org',
        help='Name of this node. It is the RPC server name, the name in the services and hosts '
        "lists, the binding host of network ports and the name of the node's resource "
        'provider. Changing it makes a new node: move or delete the containers first.',
    ),
    cfg.StrOpt(
        'my_ip',
        default=netutils.get_my_ipv4(),
        sample_default='192.0.2.20',
        help='Address of this host on the management network. Other options refer to it as $my_ip.',
    ),
    cfg.StrOpt(
        'my_block_storage_ip',
        default='$my_ip',
        help='Address of this host towards block storage; given to Cinder as the address that '
        'connects a volume.',
    ),
    cfg.StrOpt(
        'pybasedir',
        default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        sample_default='<directory of the installed package>',
        help='Directory of the installed zun package. Only of use inside other options.',
    ),
    cfg.StrOpt(
        'state_path',
        default='/var/lib/zun',
        help="Directory for the service's own files: image files, mount points of volumes, "
        'injected files. It must survive a reboot.',
    ),
    cfg.StrOpt(
        'rootwrap_config',
        default='/etc/zun/rootwrap.conf',
        help='Rootwrap configuration, given to `sudo zun-rootwrap` when a helper needs privileges.',
    ),
    cfg.StrOpt(
        'default_availability_zone',
        default='nova',
        help='Availability zone that this node reports, and the zone of services whose row names '
        'none.',
    ),
]

SERVICE_OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'report_interval',
        default=20,
        min=1,
        help='Seconds between two heartbeats of a service. Keep it well below service_down_time.',
    ),
    cfg.IntOpt(
        'service_down_time',
        default=180,
        min=1,
        help='Seconds without a heartbeat after which a service counts as down.',
    ),
    cfg.IntOpt(
        'periodic_interval_max',
        default=60,
        min=1,
        help='Longest sleep, in seconds, of the loop that runs periodic tasks.',
    ),
    cfg.IntOpt(
        'sync_container_state_interval',
        default=60,
        help='Seconds between two comparisons of all containers of this node with the engine. '
        '0 compares in every periodic loop, a negative value never. Engine events update '
        'states at once, independently of this.',
    ),
]

DRIVER_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'container_driver',
        default='docker',
        help='Driver that runs containers: a name in the entry-point group zun.container.driver. '
        'The import paths docker.driver.DockerDriver and '
        'zun.container.docker.driver.DockerDriver mean `docker`.',
    ),
    cfg.StrOpt(
        'capsule_driver',
        default='cri',
        help='Driver that runs capsules: a name in the entry-point group zun.capsule.driver.',
    ),
    cfg.StrOpt(
        'container_runtime',
        default='runc',
        help='Engine runtime of containers that ask for none.',
    ),
    cfg.ListOpt(
        'image_driver_list',
        default=['glance', 'docker'],
        help='Enabled image drivers, names in the entry-point group zun.image.driver. The API '
        'accepts only these as image_driver.',
    ),
    cfg.StrOpt(
        'default_image_driver',
        default='docker',
        help='Image driver of containers that ask for none, and of image pulls.',
    ),
    cfg.StrOpt(
        'sandbox_image',
        default='kubernetes/pause',
        help='Image of the container that holds the network of a capsule.',
    ),
    cfg.StrOpt(
        'sandbox_image_driver',
        default='docker',
        help='Image driver that fetches sandbox_image.',
    ),
    cfg.StrOpt(
        'sandbox_image_pull_policy',
        default='ifnotpresent',
        help='When to pull sandbox_image: always, never or ifnotpresent.',
    ),
]

RESOURCE_OPTS: list[cfg.Opt] = [
    cfg.FloatOpt(
        'default_cpu',
        default=1.0,
        min=0,
        help='vCPUs of a container that asks for none. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'default_memory',
        default=512,
        min=0,
        help='MiB of memory of a container that asks for none. 0 sets no limit.',
    ),
    cfg.IntOpt(
        'default_memory_swap',
        default=-1,
        min=-1,
        help='MiB of memory and swap together of a container that limits its memory. '
        '-1 does not limit swap.',
    ),
    cfg.IntOpt(
        'default_disk',
        default=10,
        min=0,
        help='GiB of disk of a container that asks for none, on engines that can limit it; read by '
        'the node. It is allocated like a size that was asked for. 0 sets no limit.',
    ),
    cfg.FloatOpt(
        'minimum_cpus',
        default=0.1,
        min=0,
        help='Fewest vCPUs that a user may ask for.',
    ),
    cfg.FloatOpt(
        'maximum_cpus',
        default=16.0,
        min=0,
        help='Most vCPUs that a user may ask for.',
    ),
    cfg.IntOpt(
        'minimum_memory',
        default=4,
        min=0,
        help='Least memory, in MiB, that a user may ask for.',
    ),
    cfg.IntOpt(
        'maximum_memory',
        default=8192,
        min=0,
        help='Most memory, in MiB, that a user may ask for.',
    ),
    cfg.IntOpt(
        'minimum_disk',
        default=1,
        min=0,
        help='Least disk, in GiB, that a user may ask for.',
    ),
    cfg.IntOpt(
        'maximum_disk',
        default=160,
        min=0,
        help='Most disk, in GiB, that a user may ask for.',
    ),
    cfg.StrOpt(
        'default_schedule_zone',
        help='Availability zone required for containers whose user names none. Unset: any zone.',
    ),
    cfg.StrOpt(
        'floating_cpu_set',
        default='',
        help='CPUs that are never pinned, as a list of numbers and ranges such as `1-4,6`.',
    ),
]

SECRET_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'auth_encryption_key',
        default=DEFAULT_ENCRYPTION_KEY,
        secret=True,
        help='Key that encrypts secrets in the database, such as passwords of registries. Its '
        'first 32 characters are used. Several keys are separated by commas: the first '
        'encrypts, all decrypt. Every host needs the same. The default is public: set your own '
        'before a secret is stored.',
    ),
    cfg.BoolOpt(
        'allow_default_encryption_key',
        default=False,
        help='Accept secrets even though auth_encryption_key has its public default. For tests.',
    ),
]

OPTS = [*HOST_OPTS, *SERVICE_OPTS, *DRIVER_OPTS, *RESOURCE_OPTS, *SECRET_OPTS]
