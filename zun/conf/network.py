# SPDX-License-Identifier: Apache-2.0
"""Options of networks: the driver, Neutron's switch, and bridges without Neutron."""

from oslo_config import cfg

NETWORK_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'driver',
        default='native',
        help='Network driver, a name in the entry-point group zun.network.driver: `native` for '
        'Neutron ports, `embedded` for bridges of one node without Neutron. `kuryr` and `cni` '
        'mean `native`.',
    ),
    cfg.IntOpt(
        'vif_plugging_timeout',
        default=60,
        min=0,
        deprecated_opts=[cfg.DeprecatedOpt('vif_active_timeout', group='cni_daemon')],
        help='Seconds to wait until a port is wired.',
    ),
    cfg.BoolOpt(
        'vif_plugging_is_fatal',
        default=True,
        help='Fail when a port is not wired in time. Off: go on with a warning.',
    ),
    cfg.StrOpt(
        'netns_mode',
        default='auto',
        choices=[
            ('auto', 'the runtime where the engine knows it, else a sandbox'),
            ('runtime', 'namespace handed to the container by the runtime shim'),
            ('sandbox', 'namespace held by a sandbox container'),
        ],
        help='Who holds the network namespace of a container.',
    ),
    cfg.StrOpt(
        'ovsdb_connection',
        default='unix:/var/run/openvswitch/db.sock',
        help='Connection to the Open vSwitch database of this host.',
    ),
    cfg.StrOpt(
        'tx_checksum',
        default='auto',
        choices=[
            ('auto', 'off on a userspace datapath, else on'),
            ('on', 'leave checksums to the device'),
            ('off', 'compute checksums in the namespace'),
        ],
        help='Transmit checksum offload of container interfaces.',
    ),
]

NEUTRON_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'ovs_bridge',
        default='br-int',
        help='Open vSwitch bridge of ports that do not name one.',
    ),
]

EMBEDDED_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'address_pool',
        default='10.240.0.0/16',
        help='IPv4 block that networks without a subnet of their own are cut from, as a CIDR.',
    ),
    cfg.IntOpt(
        'subnet_prefix',
        default=24,
        min=8,
        max=30,
        help='Prefix length of a network cut from address_pool.',
    ),
    cfg.IntOpt('mtu', default=1500, min=576, max=65535, help='MTU of networks, in bytes.'),
    cfg.BoolOpt(
        'icc',
        default=True,
        help='Let the containers of one network reach each other.',
    ),
    cfg.BoolOpt(
        'publish_exposed_ports',
        default=False,
        help='Publish exposed ports on publish_address, on ports that the engine chooses.',
    ),
    cfg.IPOpt(
        'publish_address',
        default='127.0.0.1',
        help='Address of the host on which exposed ports are published.',
    ),
    cfg.BoolOpt(
        'allow_multiple_hosts',
        default=False,
        help='Start although other nodes exist. Bridges of different nodes are not connected: '
        'containers of one network on two nodes do not reach each other.',
    ),
]

GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (cfg.OptGroup('network', title='Network driver'), NETWORK_OPTS),
    (cfg.OptGroup('neutron', title='Ports of Neutron on this host'), NEUTRON_OPTS),
    (cfg.OptGroup('embedded_network', title='Networks without Neutron'), EMBEDDED_OPTS),
]
