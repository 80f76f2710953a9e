# SPDX-License-Identifier: Apache-2.0
"""Options of the REST API."""

from oslo_config import cfg

GROUP = cfg.OptGroup('api', title='REST API')

OPTS: list[cfg.Opt] = [
    cfg.IPOpt(
        'host_ip',
        default='$my_ip',
        help='Address that the stand-alone server zun-api listens on.',
    ),
    cfg.PortOpt(
        'port',
        default=9517,
        help='Port that the stand-alone server zun-api listens on.',
    ),
    cfg.IntOpt(
        'workers',
        min=0,
        help='Processes of the stand-alone server. Unset or 0: one for each CPU.',
    ),
    cfg.IntOpt(
        'threads',
        default=16,
        min=1,
        help='Requests that one process of the stand-alone server answers at a time.',
    ),
    cfg.IntOpt(
        'max_archives',
        default=8,
        min=1,
        help='Archives that one process copies into and out of containers at a time. Further '
        'requests for that are answered with 503.',
    ),
    cfg.BoolOpt(
        'enable_ssl_api',
        default=False,
        help='Serve TLS from the stand-alone server, with the files named in [ssl].',
    ),
    cfg.StrOpt(
        'api_paste_config',
        default='api-paste.ini',
        help='Paste file of the WSGI pipeline. A relative name is searched in the configuration '
        'directories.',
    ),
    cfg.StrOpt(
        'auth_strategy',
        default='keystone',
        choices=[
            ('keystone', 'validate tokens with Keystone ([keystone_authtoken])'),
            ('http_basic', 'check user and password against http_basic_auth_user_file'),
        ],
        help='How requests are authenticated.',
    ),
    cfg.StrOpt(
        'http_basic_auth_user_file',
        default='/etc/zun/htpasswd',
        help='Users and bcrypt hashes, in Apache htpasswd format, for auth_strategy http_basic.',
    ),
    cfg.IntOpt(
        'max_limit',
        default=1000,
        min=1,
        help='Most items in one page of a list, and the size of a page when the client names none.',
    ),
    cfg.BoolOpt(
        'enable_image_validation',
        default=False,
        help='Search for the image before a container is created, and refuse the request when '
        'there is none or more than one.',
    ),
]
