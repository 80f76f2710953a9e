# SPDX-License-Identifier: Apache-2.0
"""Options of the CNI daemon of capsules."""

from oslo_config import cfg

GROUP = cfg.OptGroup('cni_daemon', title='CNI daemon')

OPTS: list[cfg.Opt] = [
    cfg.IPOpt(
        'cni_daemon_host',
        default='127.0.0.1',
        help='Address on which zun-cni-daemon answers health checks.',
    ),
    cfg.PortOpt(
        'cni_daemon_port',
        default=9036,
        help='Port on which zun-cni-daemon answers health checks.',
    ),
    cfg.IntOpt(
        'vif_active_timeout',
        default=60,
        min=0,
        help='Seconds to wait until a port is active. [network]vif_plugging_timeout falls back on '
        'it.',
    ),
    cfg.StrOpt(
        'zun_cni_config_file',
        default='/etc/cni/net.d/10-zun-cni.conf',
        help='CNI network configuration that capsules are attached with.',
    ),
]
