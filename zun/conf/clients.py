# SPDX-License-Identifier: Apache-2.0
"""Options of the clients of other OpenStack services, one group for each service."""

from oslo_config import cfg


def _options() -> list[cfg.Opt]:
    """Return new options that every client group has."""
    return [
        cfg.StrOpt(
            'region_name',
            help='Region of the service catalogue. Unset: the first region that has the service.',
        ),
        cfg.ListOpt(
            'valid_interfaces',
            default=['internal', 'public'],
            help='Interfaces of the service catalogue, the best first.',
        ),
        cfg.StrOpt(
            'endpoint_type',
            help='The one interface of the service catalogue to use: publicURL, internalURL or '
            'adminURL, or public, internal or admin. Unset: valid_interfaces.',
        ),
        cfg.StrOpt(
            'endpoint_override',
            help='URL of the service. Set: the service catalogue is not asked.',
        ),
        cfg.StrOpt('ca_file', help='File with the certificates of trusted authorities, PEM.'),
        cfg.StrOpt('cert_file', help='File with the client certificate, PEM.'),
        cfg.StrOpt('key_file', help='File with the key of the client certificate, PEM.'),
        cfg.BoolOpt(
            'insecure',
            default=False,
            help='Do not verify the certificate of the service.',
        ),
        cfg.FloatOpt(
            'connect_timeout',
            default=5,
            min=0.1,
            help='Seconds to wait for a connection.',
        ),
        cfg.FloatOpt(
            'read_timeout',
            default=30,
            min=0.1,
            help='Seconds to wait for the next bytes of an answer.',
        ),
    ]


GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (
        cfg.OptGroup('placement_client', title='Client of Placement'),
        [
            *_options(),
            cfg.IntOpt(
                'max_retries',
                default=3,
                min=0,
                help='Repetitions of a request that could not connect, and of a read that was '
                'answered with a 5xx status.',
            ),
            cfg.IntOpt(
                'audit_interval',
                default=600,
                min=0,
                help='Seconds between two comparisons of the allocations of one node with its '
                'containers. 0 turns the audit off.',
            ),
        ],
    ),
    (cfg.OptGroup('neutron_client', title='Client of Neutron'), _options()),
    (cfg.OptGroup('cinder_client', title='Client of Cinder'), _options()),
    (cfg.OptGroup('glance_client', title='Client of Glance'), _options()),
]
