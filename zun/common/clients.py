# SPDX-License-Identifier: Apache-2.0
"""Sessions towards the neighbours: the one place where they are built.

Each option group of a neighbour (``neutron_client``, ``placement_client`` ...) has its own session,
with its own CA file and time limits, and the service user's credentials of ``[keystone_auth]``.
"""

import functools
import typing as ty

from keystoneauth1 import adapter
from keystoneauth1 import loading
from keystoneauth1 import service_token
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
import requests

from zun.common import context as zun_context
import zun.conf

CONF = zun.conf.CONF
AUTH_GROUP = 'keystone_auth'
SERVICE_GROUP = 'service_user'
#: endpoint_type as deployments write it -> interface of keystoneauth
_INTERFACES = {'publicURL': 'public', 'internalURL': 'internal', 'adminURL': 'admin'}


class _TimedTransport(ks_session.TCPKeepAliveAdapter):
    """Separate limits for connecting and for reading; keystoneauth knows only one."""

    def __init__(self, connect: float, read: float) -> None:
        self._limits = (connect, read)
        super().__init__(pool_maxsize=32)

    def send(self, request: ty.Any, *args: ty.Any, **kwargs: ty.Any) -> ty.Any:
        return super().send(request, *args, **{**kwargs, 'timeout': self._limits})


@functools.cache
def service_auth(group: str = AUTH_GROUP) -> ty.Any:
    """The auth plugin of a service user; its token is shared by all sessions of the process."""
    return loading.load_auth_from_conf_options(CONF, group)


@functools.cache
def session(group: str) -> ks_session.Session:
    """The session of one neighbour.

    :param group: name of its option group
    """
    options = CONF[group]
    verify: bool | str = not options.insecure
    if verify and (options.ca_file or CONF[AUTH_GROUP].cafile):
        verify = options.ca_file or CONF[AUTH_GROUP].cafile
    cert = (options.cert_file, options.key_file) if options.cert_file else None
    transport = requests.Session()
    for scheme in ('http://', 'https://'):
        transport.mount(scheme, _TimedTransport(options.connect_timeout, options.read_timeout))
    return ks_session.Session(auth=service_auth(), session=transport, verify=verify, cert=cert)


def interfaces(group: str) -> list[str]:
    """Interfaces to look for in the catalogue; an explicit endpoint_type wins."""
    options = CONF[group]
    if options.endpoint_type:
        return [_INTERFACES.get(options.endpoint_type, options.endpoint_type)]
    return options.valid_interfaces


def rest(group: str, service_type: str, **kwargs: ty.Any) -> adapter.Adapter:
    """A REST adapter that hands every status to its caller instead of raising.

    Time limits: ``[<group>]/connect_timeout`` and ``read_timeout`` seconds.
    """
    options = CONF[group]
    where = {'endpoint_override': options.endpoint_override, **kwargs}
    return adapter.Adapter(session(group), service_type=service_type,
                           interface=interfaces(group), region_name=options.region_name,
                           raise_exc=False, connect_retries=0, **where)


def rest_of_user(context: zun_context.RequestContext, group: str, service_type: str,
                 **kwargs: ty.Any) -> adapter.Adapter:
    """Like :func:`rest`, with the user's own token, inside one API request.

    With ``[service_user]/send_service_user_token`` a token of that user goes along.
    The catalogue is the service user's: Keystone is not asked again for each request.
    """
    endpoint = rest(group, service_type).get_endpoint()
    auth: ty.Any = token_endpoint.Token(endpoint, context.auth_token)
    if CONF[SERVICE_GROUP].send_service_user_token:
        auth = service_token.ServiceTokenAuthWrapper(auth, service_auth(SERVICE_GROUP))
    return rest(group, service_type, auth=auth, **kwargs)
