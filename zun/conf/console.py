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
    cfg.ListOpt(
        'additional_base_urls',
        default=[],
        help='Further URLs, ws:// or wss://, under which users reach the proxy. Pages and clients '
        'of their hosts are accepted as those of base_url are.',
    ),
    cfg.StrOpt('wsproxy_host', default='$my_ip', help='Address that zun-wsproxy listens on.'),
    cfg.PortOpt('wsproxy_port', default=6784, help='Port that zun-wsproxy listens on.'),
    cfg.ListOpt(
        'allowed_origins',
        default=[],
        help='Host names, besides those of base_url and additional_base_urls, that may appear in '
        'an Origin header: those of dashboards.',
    ),
    cfg.BoolOpt(
        'ssl_only',
        help='Do not start without a certificate. With one, only TLS is spoken in any case.',
    ),
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
    cfg.IntOpt(
        'max_sessions',
        default=1000,
        min=1,
        help='Most sessions at a time. Further clients get 503, and keep their ticket.',
    ),
    cfg.IntOpt(
        'max_failures',
        default=20,
        min=0,
        help='Refused tickets from one address in a minute, after which the address gets 429. '
        '0: no limit.',
    ),
    cfg.FloatOpt(
        'ping_interval',
        default=30,
        min=0.1,
        help='Seconds between two WebSocket pings of a client.',
    ),
    cfg.FloatOpt(
        'ping_timeout',
        default=30,
        min=0.1,
        help='Seconds in which a client must show that it lives after a ping.',
    ),
    cfg.BoolOpt(
        'terminal',
        default=True,
        help='Serve a page with a terminal, for users who have nothing but a browser.',
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
    cfg.IntOpt(
        'max_sessions',
        default=500,
        min=1,
        help='Most sessions on this node at a time.',
    ),
    cfg.IntOpt(
        'max_sessions_per_container',
        default=20,
        min=1,
        help='Most sessions of one container at a time.',
    ),
]

GROUPS: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = [
    (cfg.OptGroup('websocket_proxy', title='Console proxy'), PROXY_OPTS),
    (cfg.OptGroup('console', title='Console streams of a node'), NODE_OPTS),
]
