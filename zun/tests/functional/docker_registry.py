# SPDX-License-Identifier: Apache-2.0
"""The real registry on a loopback port, with a front that counts and can be told to fail."""

import collections.abc
import gzip
import hashlib
import http.client
import http.server
import json
import pathlib
import platform
import random
import shutil
import socket
import subprocess
import threading
import typing as ty
import unittest

import docker
from docker import errors as docker_errors
import fixtures
import requests

from zun.tests.functional import engine

HOST = '127.0.0.1'
#: Below the ports that the kernel gives to clients.
PORTS = range(15060, 15200)
USERNAME = 'puller'
PASSWORD = 'let-me-in'
_HTPASSWD = f'{USERNAME}:$2b$05$7eJqDwhLbUCWpWLeHuk/ge7j07VF3Ak623W0bh8p0744FfQnfNFNq\n'
_PROGRAM = 'docker-registry'
_CONFIG = """version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {directory}/data}}}}
http: {{addr: "{host}:{port}"}}
"""
_AUTH = 'auth: {{htpasswd: {{realm: test, path: {directory}/htpasswd}}}}\n'
_MACHINES = {'x86_64': 'amd64', 'aarch64': 'arm64'}
_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
_CONFIG_TYPE = 'application/vnd.docker.container.image.v1+json'
_LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip'
#: A link would do, but the archives of the tests hold files only.
_SHELL = b'#!/bin/busybox sh\nexec /bin/busybox sh "$@"\n'

#: Status, headers and body.
Answer = tuple[int, list[tuple[str, str]], bytes]
#: (method, path) -> what is answered instead of the registry; None: ask it.
Fault = collections.abc.Callable[[str, str], Answer | None]


def free_port() -> int:
    """A port that nobody listens on, and that hardly anybody else is about to take."""
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise AssertionError('no free port')


def _digest(data: bytes) -> str:
    return f'sha256:{hashlib.sha256(data).hexdigest()}'


def refusal(status: int, code: str) -> Answer:
    """An error as registries answer it."""
    body = json.dumps({'errors': [{'code': code, 'message': code.lower()}]}).encode()
    return status, [('Content-Type', 'application/json')], body


def temporarily(times: int, answer: Answer, what: str) -> Fault:
    """A fault of the first so many requests whose path holds a text."""
    left = [times]

    def fault(_method: str, path: str) -> Answer | None:
        if what not in path or not left[0]:
            return None
        left[0] -= 1
        return answer
    return fault


class Registry(fixtures.Fixture):
    """A registry of its own; what the engine pulled from it is removed after the test.

    :param login: it wants USERNAME and PASSWORD
    :ivar address: host and port, as in the names of its images
    :ivar requests: (method, path) of all that came
    :ivar fault: asked before each request reaches the registry
    """

    def __init__(self, login: bool = False) -> None:
        super().__init__()
        self.login = login
        self.requests: list[tuple[str, str]] = []
        self.fault: Fault = lambda method, path: None

    def _setUp(self) -> None:  # noqa: N802
        if shutil.which(_PROGRAM) is None:
            raise unittest.SkipTest(f'no {_PROGRAM}')
        self._serve()
        front = http.server.ThreadingHTTPServer((HOST, free_port()), _front(self))
        front.daemon_threads = True
        threading.Thread(target=front.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(front.server_close)
        self.addCleanup(front.shutdown)
        self.address = f'{HOST}:{front.server_port}'
        self.addCleanup(self._forget)

    def _serve(self) -> None:
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.port = free_port()
        text = _CONFIG + (_AUTH if self.login else '')
        (directory / 'config.yml').write_text(
            text.format(directory=directory, host=HOST, port=self.port))
        (directory / 'htpasswd').write_text(_HTPASSWD)
        with open(directory / 'log', 'wb') as log:
            process = subprocess.Popen([_PROGRAM, 'serve', directory / 'config.yml'],
                                       stdout=log, stderr=log)
        self.addCleanup(process.wait, 10)
        self.addCleanup(process.terminate)
        engine.wait_for('the registry', self._answers)

    def _answers(self) -> bool:
        try:
            return self._request('GET', '/v2/').ok
        except requests.ConnectionError:
            return False

    def _forget(self) -> None:
        client = docker.APIClient(base_url=engine.URL, version='auto', timeout=60)
        try:
            for image in client.images():
                names = [*(image['RepoTags'] or ()), *(image['RepoDigests'] or ())]
                for name in names:
                    if name.startswith(f'{self.address}/'):
                        _remove(client, name)
        finally:
            client.close()

    def _request(self, method: str, path: str, **kwargs: ty.Any) -> requests.Response:
        auth = (USERNAME, PASSWORD) if self.login else None
        return requests.request(method, f'http://{HOST}:{self.port}{path}', auth=auth,
                                timeout=30, **kwargs)

    def name(self, repository: str) -> str:
        """Name of an image as the engine pulls it."""
        return f'{self.address}/{repository}'

    def push(self, repository: str, tag: str = 'latest', text: str = '',
             architecture: str | None = None) -> str:
        """Put a busybox image there; the digest of its manifest.

        :param text: of /text in the image: other texts make other images
        :param architecture: that the image says it is for; None: that of this machine
        """
        with open(engine.BUSYBOX, 'rb') as program:
            layer = engine.tar({'bin/busybox': program.read(), 'bin/sh': _SHELL,
                                'text': text.encode()})
        config = json.dumps({
            'architecture': architecture or _MACHINES[platform.machine()], 'os': 'linux',
            'config': {'Cmd': ['/bin/busybox', 'sleep', '1000']},
            'rootfs': {'type': 'layers', 'diff_ids': [_digest(layer)]}}).encode()
        manifest = json.dumps({
            'schemaVersion': 2, 'mediaType': _MANIFEST,
            'config': self._blob(repository, config, _CONFIG_TYPE),
            'layers': [self._blob(repository, gzip.compress(layer, mtime=0), _LAYER)]}).encode()
        self._request('PUT', f'/v2/{repository}/manifests/{tag}', data=manifest,
                      headers={'Content-Type': _MANIFEST}).raise_for_status()
        return _digest(manifest)

    def _blob(self, repository: str, data: bytes, kind: str) -> dict[str, ty.Any]:
        begun = self._request('POST', f'/v2/{repository}/blobs/uploads/')
        begun.raise_for_status()
        place = begun.headers['Location'].partition(f':{self.port}')[2]
        self._request('PUT', f'{place}&digest={_digest(data)}', data=data).raise_for_status()
        return {'mediaType': kind, 'size': len(data), 'digest': _digest(data)}

    def pulls(self, repository: str, version: str = 'latest') -> int:
        """How often an engine asked which manifest a tag has; each pull asks once."""
        path = f'/v2/{repository}/manifests/{version}'
        return sum(1 for _, asked in self.requests if asked == path)


def _remove(client: docker.APIClient, name: str) -> None:
    try:
        client.remove_image(name, force=True)
    except docker_errors.NotFound:  # the last tag took the digest along
        return


def _front(registry: Registry) -> type[http.server.BaseHTTPRequestHandler]:
    class Front(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def _answer(self) -> None:
            registry.requests.append((self.command, self.path))
            status, headers, body = registry.fault(self.command, self.path) or self._ask()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if not any(name.lower() == 'content-length' for name, _ in headers):
                self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            if self.command != 'HEAD':
                self.wfile.write(body)

        do_GET = do_HEAD = _answer  # noqa: N815

        def _ask(self) -> Answer:
            connection = http.client.HTTPConnection(HOST, registry.port, timeout=30)
            try:
                connection.putrequest(self.command, self.path, skip_host=True,
                                      skip_accept_encoding=True)
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders()
                answer = connection.getresponse()
                headers = [(name, value) for name, value in answer.getheaders()
                           if name.lower() not in ('transfer-encoding', 'connection', 'date')]
                return answer.status, headers, answer.read()
            finally:
                connection.close()

        def log_message(self, *_args: ty.Any) -> None:
            """Nothing is printed."""

    return Front
