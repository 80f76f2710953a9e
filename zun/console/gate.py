# SPDX-License-Identifier: Apache-2.0
"""Who may knock: origins, forwarded headers, and a limit on failures. Decisions only."""

import collections
import dataclasses
import ipaddress
import typing as ty
import urllib.parse

from oslo_middleware import http_proxy_to_wsgi
from websockets import datastructures

import zun.conf

CONF = zun.conf.CONF
CONF.register_opts(http_proxy_to_wsgi.OPTS, group='oslo_middleware')


_WINDOW = 60.0
_MOST_ADDRESSES = 10000
_PLAIN = frozenset({'ws', 'http'})
_SECURE = frozenset({'wss', 'https'})


def _secure(scheme: str) -> bool | None:
    """None: neither of the two."""
    if scheme in _SECURE:
        return True
    return False if scheme in _PLAIN else None


def _split(url: str) -> tuple[bool | None, str]:
    """Whether a URL is secure, and its host in lower case; the port may be anything."""
    try:
        parts = urllib.parse.urlsplit(url)
        return _secure(parts.scheme), (parts.hostname or '').lower()
    except ValueError:
        return None, ''


@dataclasses.dataclass(frozen=True)
class Origins:
    """The pages that may open consoles: only what the configuration names.

    :ivar base_hosts: secure or not -> hosts of the base URLs of that kind
    :ivar others: hosts that may be used with any of these kinds
    """

    base_hosts: dict[bool, frozenset[str]]
    others: frozenset[str]

    @classmethod
    def configured(cls) -> 'Origins':
        options = CONF.websocket_proxy
        hosts: dict[bool, set[str]] = {}
        for url in [options.base_url, *options.additional_base_urls]:
            secure, host = _split(url)
            if secure is not None and host:
                hosts.setdefault(secure, set()).add(host)
        others = frozenset(name.strip().strip('[]').lower() for name in options.allowed_origins)
        return cls({kind: frozenset(names) for kind, names in hosts.items()}, others)

    def allow(self, origin: str | None, forwarded_proto: str | None) -> bool:
        """Whether a request may come from there.

        :param origin: None: not a browser
        :param forwarded_proto: what a trusted proxy says of the client's connection; it counts
            more than the scheme of the origin
        """
        secure, host = (None, '') if origin is None else _split(origin)
        if origin is not None and (secure is None or not host):
            return False
        if forwarded_proto is not None:
            secure = _secure(forwarded_proto)
            if secure not in self.base_hosts:
                return False
        if origin is None:
            return True
        assert secure is not None  # noqa: S101 - for the type checker
        return secure in self.base_hosts and (
            host in self.base_hosts[secure] or host in self.others)


class Client(ty.NamedTuple):
    """Who is at the other end.

    :ivar proto: how he reached the proxy in front, None without one
    """

    address: str
    proto: str | None


def _joined(headers: datastructures.Headers, name: str) -> str:
    return ', '.join(headers.get_all(name))


def client_of(headers: datastructures.Headers, peer: str) -> Client:
    """Address and scheme of a client.

    Forwarded headers count only with ``[oslo_middleware]enable_proxy_headers_parsing``.

    :param peer: address of the connection
    """
    if not CONF.oslo_middleware.enable_proxy_headers_parsing:
        return Client(peer, None)
    proto = _joined(headers, 'X-Forwarded-Proto')
    hops = [hop.strip() for hop in _joined(headers, 'X-Forwarded-For').split(',')]
    # The last one was written by the proxy that is trusted; earlier ones may be made up.
    return Client(_address(hops[-1]) or peer,
                  proto.split(',')[0].strip().lower() if proto else None)


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


class Failures:
    """Refused tickets by address in the last minute; the oldest addresses are forgotten."""

    def __init__(self) -> None:
        self._times: collections.OrderedDict[str, collections.deque[float]] = (
            collections.OrderedDict())

    def add(self, address: str, now: float) -> None:
        """
        :param now: monotonic
        """
        times = self._times.setdefault(address, collections.deque())
        self._times.move_to_end(address)
        times.append(now)
        limit = CONF.websocket_proxy.max_failures
        while len(times) > max(limit, 1):
            times.popleft()
        while len(self._times) > _MOST_ADDRESSES:
            self._times.popitem(last=False)

    def too_many(self, address: str, now: float) -> bool:
        """Whether an address has to wait."""
        limit = CONF.websocket_proxy.max_failures
        times = self._times.get(address)
        if not limit or times is None:
            return False
        while times and now - times[0] > _WINDOW:
            times.popleft()
        if not times:
            del self._times[address]
        return len(times) >= limit
