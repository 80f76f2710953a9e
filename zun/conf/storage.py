# SPDX-License-Identifier: Apache-2.0
"""Options of volumes, image files and PCI devices."""

from oslo_config import cfg

VOLUME_OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'driver_list',
        default=['cinder', 'local'],
        help='Enabled volume drivers, names in the entry-point group zun.volume.driver.',
    ),
    cfg.StrOpt(
        'volume_dir',
        default='$state_path/mnt',
        help='Directory under which volumes are mounted and injected files are kept.',
    ),
    cfg.StrOpt('fstype', default='ext4', help='File system made on a volume that has none.'),
    cfg.BoolOpt('use_multipath', default=False, help='Attach volumes by several paths.'),
    cfg.IntOpt(
        'timeout_wait_volume_available',
        default=60,
        min=1,
        help='Seconds to wait until a volume is available.',
    ),
    cfg.IntOpt(
        'timeout_wait_volume_deleted',
        default=60,
        min=1,
        help='Seconds to wait until a volume is deleted.',
    ),
    cfg.IntOpt(
        'max_injected_file_size',
        default=65536,
        min=0,
        help='Most bytes in one file that a user injects into a container.',
    ),
]

GLANCE_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'images_directory',
        default='$state_path/images',
        help='Directory for image files of Glance on their way into the engine. A file is removed '
        'once it is loaded.',
    ),
    cfg.IntOpt(
        'max_image_size',
        default=20,
        min=0,
        help='Largest image, in GiB, that is loaded from Glance or committed to it. 0: any.',
    ),
]

PCI_OPTS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        'passthrough_whitelist',
        default=[],
        help='Devices that may be given to containers, as a JSON object or a list of objects with '
        'vendor_id, product_id, address or devname, and tags. May be given several times.',
    ),
]

GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (cfg.OptGroup('volume', title='Volumes'), VOLUME_OPTS),
    (cfg.OptGroup('glance', title='Images of Glance'), GLANCE_OPTS),
    (cfg.OptGroup('pci', title='PCI devices'), PCI_OPTS),
]
