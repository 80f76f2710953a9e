# SPDX-License-Identifier: Apache-2.0
"""Options of the scheduler."""

from oslo_config import cfg

GROUP = cfg.OptGroup('scheduler', title='Scheduler')


def _multiplier(name: str, what: str, default: float) -> cfg.Opt:
    return cfg.FloatOpt(
        f'{name}_weight_multiplier',
        default=default,
        min=0.0,
        help=f'Weight of {what} in the choice of a host. 0 leaves it out.',
    )


OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'mode',
        default='auto',
        choices=[
            ('auto', "in zun-scheduler while one is up, else in the API's own process"),
            ('service', 'always in zun-scheduler'),
            ('local', "always in the API's own process"),
        ],
        help='Where hosts are chosen.',
    ),
    cfg.StrOpt(
        'driver',
        default='filter_scheduler',
        choices=[
            ('chance_scheduler', 'any host that is up'),
            ('fake_scheduler', 'no choice, for tests'),
            ('filter_scheduler', 'filters, then weights'),
        ],
        help='How a host is chosen.',
    ),
    cfg.StrOpt(
        'ledger',
        default='placement',
        help='Where capacity and allocations are kept, a name in the entry-point group '
        "zun.placement.ledger: `placement`, or `local` for the rows of Zun's own database. The "
        'API, the scheduler and all nodes must agree.',
    ),
    cfg.MultiStrOpt(
        'available_filters',
        default=['zun.scheduler.filters.all_filters'],
        help='Import paths of filter classes, or of functions that return some. May be given '
        'several times.',
    ),
    cfg.ListOpt(
        'enabled_filters',
        default=['AvailabilityZoneFilter', 'ComputeFilter', 'RuntimeFilter'],
        help='Names of the filters that a host must pass, in this order.',
    ),
    cfg.StrOpt(
        'host_weight_policy',
        default='spread',
        choices=[
            ('spread', 'prefer the emptiest host'),
            ('pack', 'prefer the fullest host that has room'),
        ],
        help='Which host is preferred. Hosts of equal weight are chosen at random.',
    ),
    _multiplier('cpu', 'the share of free vCPUs', 1.0),
    _multiplier('ram', 'the share of free memory', 1.0),
    _multiplier('disk', 'the share of free disk', 0.0),
    _multiplier('containers', 'the number of containers', 0.0),
    cfg.IntOpt(
        'max_attempts',
        default=3,
        min=1,
        help='Hosts that are tried for one container before it ends in Error.',
    ),
    cfg.IntOpt(
        'max_placement_results',
        default=1000,
        min=1,
        help='Most allocation candidates asked of Placement for one container.',
    ),
    cfg.ListOpt(
        'shard_aggregates',
        default=[],
        help='UUIDs of Placement aggregates that divide a large cloud. One is drawn for each '
        'container; the others follow when it has no room.',
    ),
    cfg.BoolOpt(
        'optimistic',
        default=False,
        help="Choose from Zun's own records and claim at once, without asking Placement for "
        'candidates. Placement is asked after max_attempts refusals, where the records show no '
        'room, with host_weight_policy `pack`, and while hosts have a part of their resources from '
        'other providers, such as shared disk.',
    ),
    cfg.IntOpt(
        'optimistic_above',
        default=64,
        min=0,
        help='Compute hosts above which the scheduler is optimistic in any case, as the time in '
        'which Placement builds candidates grows with their number. 0: never. The local ledger '
        'is asked in clouds of any size.',
    ),
    cfg.IntOpt(
        'workers',
        default=8,
        min=1,
        help='Containers that one process places at a time.',
    ),
    cfg.IntOpt(
        'reap_interval',
        default=30,
        min=0,
        help='Seconds between two searches for requests that no longer make progress. 0: never.',
    ),
    cfg.IntOpt(
        'reap_after',
        default=120,
        min=1,
        help='Seconds without progress after which a request is taken up again.',
    ),
]
