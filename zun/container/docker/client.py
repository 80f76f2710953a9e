# SPDX-License-Identifier: Apache-2.0
"""The connection to the engine: pooled, versioned, and with a time limit on every call.

The SDK brings the transports. Its calls are not used, as their time limits cannot be set one by
one and some have none.
"""

import collections.abc
import contextlib
import dataclasses
import http.client
import json
import socket
import ssl
import time
import typing as ty
import urllib.parse

import docker
from docker import transport
import requests
import requests.adapters

from zun.common import exception
import zun.conf
from zun.container.docker import disk
from zun.container.docker import errors
from zun.container.docker import host
from zun.container.docker import versions

CONF = zun.conf.CONF
_CONNECT_SECONDS = 10.0
_PING_SECONDS = 10.0
_MISSING = 404
_SCHEMES = ('unix://', 'tcp://', 'http://', 'https://')


@dataclasses.dataclass(frozen=True)
class Engine:
    """What was agreed with the engine that answered last.

    :ivar name: product and version, for the log
    :ivar api: version of the API in use
    :ivar os: operating system of its containers, as Go names it; empty: not known
    :ivar architecture: of its host, likewise
    """

    name: str
    api: str
    os: str = ''
    architecture: str = ''


class _UnixAdapter(transport.UnixHTTPAdapter):
    """One pool for all paths: the SDK's makes one per URL and closes the oldest while in use."""

    def get_connection(self, url: str, proxies: ty.Any = None) -> ty.Any:
        return super().get_connection('http+docker://localhost', proxies)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__('localhost', timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """Calls to the engine of ``[docker]/api_url``, from any number of threads.

    An error status raises errors.Refusal. What leaves the result of a call unknown, no answer in
    time or a broken connection, raises EngineUnavailable.

    :raises ConfigInvalid: the options of [docker] do not describe an engine
    """

    def __init__(self) -> None:
        self._url = CONF.docker.api_url
        if not self._url.startswith(_SCHEMES):
            raise exception.ConfigInvalid(error_msg=f'[docker]/api_url: {self._url!r}')
        try:
            self._session = docker.APIClient(
                base_url=self._url, version=versions.LOWEST, tls=_tls(),
                timeout=CONF.docker.default_timeout)
        except (docker.errors.DockerException, ValueError) as error:
            raise exception.ConfigInvalid(error_msg=f'[docker]: {error}') from error
        self._session.trust_env = False
        self._base = self._session.base_url
        self._session.mount(self._base, self._adapter())
        self._engine: Engine | None = None
        self._limits: host.Limits | None = None

    def _adapter(self) -> requests.adapters.BaseAdapter:
        threads = (CONF.compute.rpc_workers + CONF.compute.lifecycle_workers
                   + CONF.compute.image_pull_workers + CONF.compute.stream_workers)
        if self._url.startswith('unix:'):
            return _UnixAdapter(f'http+unix://{self._socket_path()}',
                                timeout=CONF.docker.default_timeout, max_pool_size=threads)
        return requests.adapters.HTTPAdapter(pool_connections=1, pool_maxsize=threads)

    def _socket_path(self) -> str:
        return '/' + self._url.removeprefix('unix:').lstrip('/')

    def engine(self) -> Engine:
        """Who answers and which API is spoken: asked once, and again after a broken connection.

        :raises ConfigInvalid: it has no API version in common with Zun
        """
        if self._engine is None:
            answer = _checked(self._send('GET', f'{self._base}/version', None)).json()
            api = versions.negotiate(
                answer.get('MinAPIVersion', versions.LOWEST), answer['ApiVersion'],
                CONF.docker.docker_remote_api_version)
            self._engine = Engine(f"Docker Engine {answer.get('Version')}", api,
                                  answer.get('Os', ''), answer.get('Arch', ''))
        return self._engine

    def ping(self) -> None:
        """See that it answers now, whatever is known of it.

        :raises EngineUnavailable: it does not
        """
        _checked(self._send('GET', f'{self._base}/_ping', _PING_SECONDS))

    def limits(self) -> host.Limits:
        """What bounds a container on this host: asked once, and again after a broken connection."""
        if self._limits is None:
            info = self.request('GET', '/info').json()
            quota = disk.is_possible(info) and disk.is_accepted(self)
            self._limits = host.limits(info, quota)
        return self._limits

    def path(self, path: str) -> str:
        """A path with the version in front."""
        return f'/v{self.engine().api}{path}'

    def request(self, method: str, path: str, timeout: float | None = None,
                **kwargs: ty.Any) -> requests.Response:
        """One call.

        :param timeout: seconds to wait for each part of the answer; None: the default
        :param kwargs: as of requests: params, json, data, headers, stream
        """
        return _checked(self._send(method, self._base + self.path(path), timeout, **kwargs))

    def remove(self, path: str) -> None:
        """Remove what is at a path; what is not there is success.

        :raises Refusal: it is in use
        """
        try:
            self.request('DELETE', path)
        except errors.Refusal as refusal:
            if refusal.status != _MISSING:
                raise

    def _send(self, method: str, url: str, timeout: float | None,
              **kwargs: ty.Any) -> requests.Response:
        seconds = timeout or CONF.docker.default_timeout
        tries = 2 if method == 'GET' else 1  # a pooled connection may be of an engine that left
        while True:
            tries -= 1
            try:
                return self._session.request(
                    method, url, timeout=(min(seconds, _CONNECT_SECONDS), seconds), **kwargs)
            except requests.Timeout as error:
                raise _unanswered(seconds) from error
            except requests.RequestException as error:
                self.forget()
                if not tries:
                    raise _broken(error) from error

    def forget(self) -> None:
        """The connection broke: what comes back may be another engine."""
        self._engine = self._limits = None

    def chunks(self, response: requests.Response,
               seconds: float) -> collections.abc.Iterator[bytes]:
        """The body of a streamed answer as it comes.

        Leaving early ends the transfer.

        :param seconds: for the whole body
        :raises EngineUnavailable: it is not complete by then
        """
        end = time.monotonic() + seconds
        with contextlib.closing(response):
            try:
                for chunk in response.iter_content(1 << 16):
                    yield chunk
                    if time.monotonic() > end:
                        raise _unanswered(seconds)
            except requests.RequestException as error:
                raise _broken(error) from error

    def connection(self, timeout: float) -> http.client.HTTPConnection:
        """A connection outside the pool, for one long stream.

        :param timeout: seconds to wait for each step; set it anew on ``sock``
        """
        if self._url.startswith('unix:'):
            return _UnixConnection(self._socket_path(), timeout)
        address = urllib.parse.urlsplit(self._base)
        if address.scheme == 'https':
            return http.client.HTTPSConnection(address.hostname or '', address.port,
                                               timeout=timeout, context=ssl_context())
        return http.client.HTTPConnection(address.hostname or '', address.port, timeout=timeout)


def break_off(response: requests.Response) -> None:
    """End the wait for the next part of a streamed answer, from another thread."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # it has ended already
        response.raw.shutdown()


def quote(word: str) -> str:
    """A name, id or reference as part of a path."""
    return urllib.parse.quote(word, safe='/:@')


def _checked(response: requests.Response) -> requests.Response:
    if response.status_code < 400:
        return response
    with contextlib.closing(response):
        try:
            body = response.content
        except requests.RequestException as error:
            raise _broken(error) from error
    raise errors.Refusal(response.status_code, error_text(body) or response.reason)


def error_text(body: bytes) -> str:
    """What an error answer says: the engine's own are JSON, those of a proxy are not."""
    try:
        return json.loads(body)['message']
    except (ValueError, KeyError, TypeError):
        return body.decode(errors='replace').strip()


def _unanswered(seconds: float) -> exception.EngineUnavailable:
    return exception.EngineUnavailable(error_msg=f'no answer within {seconds:g} seconds')


def _broken(error: Exception) -> exception.EngineUnavailable:
    return exception.EngineUnavailable(error_msg=f'connection lost or refused ({error})')


def _tls() -> docker.tls.TLSConfig | bool:
    options = CONF.docker
    if not (options.ca_file or options.cert_file or options.key_file):
        return False
    pair = (options.cert_file, options.key_file) if options.cert_file else None
    return docker.tls.TLSConfig(client_cert=pair, ca_cert=options.ca_file,
                                verify=not options.api_insecure)


def ssl_context() -> ssl.SSLContext:
    """What a connection of its own to an engine behind TLS needs, by the options of [docker]."""
    options = CONF.docker
    context = ssl.create_default_context(cafile=options.ca_file)
    if options.api_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if options.cert_file:
        context.load_cert_chain(options.cert_file, options.key_file)
    return context
