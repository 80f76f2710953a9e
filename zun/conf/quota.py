# SPDX-License-Identifier: Apache-2.0
"""Options of quotas: the limits of projects for which the database holds none."""

from oslo_config import cfg

GROUP = cfg.OptGroup('quota', title='Quotas', help='-1 means no limit, 0 forbids.')

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'driver',
        default='zun.common.quota.DbQuotaDriver',
        choices=[
            ('zun.common.quota.DbQuotaDriver', 'limits and use are in the database'),
            ('zun.common.quota.NoopQuotaDriver', 'no limits'),
        ],
        help='Where limits come from.',
    ),
    cfg.IntOpt('containers', default=40, min=-1, help='Containers of a project.'),
    cfg.IntOpt('cpu', default=20, min=-1, help='vCPUs of a project.'),
    cfg.IntOpt('memory', default=51200, min=-1, help='MiB of memory of a project.'),
    cfg.IntOpt('disk', default=100, min=-1, help='GiB of disk of a project.'),
    cfg.BoolOpt(
        'count_capsules',
        default=True,
        help='Count a capsule as one container, with the resources of its members.',
    ),
]
