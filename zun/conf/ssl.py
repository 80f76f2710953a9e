# SPDX-License-Identifier: Apache-2.0
"""Options of TLS in the stand-alone API server, used with [api]enable_ssl_api."""

from oslo_config import cfg

GROUP = cfg.OptGroup('ssl', title='TLS of the stand-alone API server')

OPTS: list[cfg.Opt] = [
    cfg.StrOpt('cert_file', help='File with the certificate of the server, PEM.'),
    cfg.StrOpt('key_file', help='File with the key of the certificate, PEM.'),
    cfg.StrOpt(
        'ca_file',
        help="File with the authority that clients' certificates must come from, PEM. Unset: no "
        'client certificate is asked for.',
    ),
    cfg.StrOpt('ciphers', help="Ciphers to offer, in OpenSSL notation. Unset: OpenSSL's choice."),
]
