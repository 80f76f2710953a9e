# SPDX-License-Identifier: Apache-2.0
"""Options of interactive consoles: the public proxy and the node's stream endpoint."""

from oslo_config import cfg

PROXY_OPTS: list[cfg.Opt] = [
    cfg.URIOpt(
        'base_url',
        default='ws://$wsproxy_host:$wsproxy_port/',
        schemes=['ws', 'wss'],
        help='URL of the proxy as users reach it, ws:// or wss://. Its scheme also decides which '
        'Origin is accepted: http for ws, https for wss.',
    ),
    cfg.StrOpt('wsproxy_host', default='$my_ip', help='Address that zun-wsproxy listens on.'),
    cfg.PortOpt('wsproxy_port', default=6784, help='Port that zun-wsproxy listens on.'),
    cfg.ListOpt(
        'allowed_origins',
        default=[],
        help="Host names, besides the proxy's own, that may appear in an Origin header.",
    ),
    cfg.BoolOpt('ssl_only', help='Refuse connections without TLS.'),
    cfg.StrOpt('cert', default='', help='File with the certificate of the proxy, PEM.'),
    cfg.StrOpt('key', default='', help='File with the key of the certificate, PEM.'),
    cfg.IntOpt(
        'idle_timeout',
        default=900,
        min=0,
        help='Seconds without data in either direction after which a session is closed. 0: never.',
    ),
    cfg.IntOpt(
        'max_session',
        default=0,
        min=0,
        help='Seconds after which a session is closed. 0: never.',
    ),
]

NODE_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enabled',
        default=True,
        help='Offer interactive sessions. It also needs certificates, or a unix listen_address.',
    ),
    cfg.StrOpt(
        'listen_address',
        default='$my_ip',
        help='Address on which zun-compute serves streams to the proxy, or unix:<path> when the '
        'proxy runs on the same host.',
    ),
    cfg.PortOpt(
        'listen_port',
        default=6785,
        help='Port on which zun-compute serves streams to the proxy.',
    ),
    cfg.StrOpt(
        'node_address',
        help='Name or address of this node as the proxy reaches it. Unset: $my_ip.',
    ),
    cfg.StrOpt('cert_file', help="File with the certificate of the node's endpoint, PEM."),
    cfg.StrOpt('key_file', help='File with the key of that certificate, PEM.'),
    cfg.StrOpt(
        'ca_file',
        help='File with the authority that signed the certificates of nodes and proxies, PEM.',
    ),
    cfg.ListOpt(
        'allowed_client_names',
        default=['zun-wsproxy'],
        help="Names of which a proxy's certificate must bear one.",
    ),
    cfg.IntOpt(
        'token_ttl',
        default=600,
        min=1,
        help='Seconds in which a client must connect with its ticket.',
    ),
    cfg.StrOpt(
        'proxy_cert_file',
        help='File with the certificate that zun-wsproxy shows to nodes, PEM.',
    ),
    cfg.StrOpt('proxy_key_file', help='File with the key of that certificate, PEM.'),
]

GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (cfg.OptGroup('websocket_proxy', title='Console proxy'), PROXY_OPTS),
    (cfg.OptGroup('console', title='Console streams of a node'), NODE_OPTS),
]
