# SPDX-License-Identifier: Apache-2.0
"""An image registry in this process, whose faults are chosen by the name of the image.

``good`` can be pulled. ``corrupt`` has a broken layer, ``stalled`` never ends its layer,
``limited`` answers 429, and any other name 404.
"""

import base64
import gzip
import hashlib
import http.server
import json
import threading
import typing as ty

import fixtures

from zun.tests.functional import engine

USER, PASSWORD = 'puller', 'pa55'
_LOGIN = 'Basic ' + base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'


def _digest(data: bytes) -> str:
    return f'sha256:{hashlib.sha256(data).hexdigest()}'


class _Image:
    """One layer, its configuration and its manifest."""

    def __init__(self, name: str) -> None:
        content = engine.tar({'hello': name.encode(), 'ballast': bytes(100000)})
        self.layer = gzip.compress(content, mtime=0)  # made anew for each request
        self.config = json.dumps({
            'architecture': 'amd64', 'os': 'linux', 'config': {'Cmd': ['/hello']},
            'rootfs': {'type': 'layers', 'diff_ids': [_digest(content)]}}).encode()
        self.manifest = json.dumps({
            'schemaVersion': 2, 'mediaType': _MANIFEST,
            'config': {'mediaType': 'application/vnd.docker.container.image.v1+json',
                       'size': len(self.config), 'digest': _digest(self.config)},
            'layers': [{'mediaType': 'application/vnd.docker.image.rootfs.diff.tar.gzip',
                        'size': len(self.layer), 'digest': _digest(self.layer)}]}).encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server: 'ty.Any'

    def do_GET(self) -> None:
        version, *parts = self.path.strip('/').split('/')
        if version != 'v2':
            self._error(404, 'UNSUPPORTED')
            return
        if self.server.locked and self.headers.get('Authorization') != _LOGIN:
            self._error(401, 'UNAUTHORIZED', ('WWW-Authenticate', 'Basic realm="test"'))
            return
        if not parts:
            self._answer(200, b'{}')
            return
        name, kind, reference = parts
        if name == 'limited':
            self._error(429, 'TOOMANYREQUESTS')
        elif name not in ('good', 'corrupt', 'stalled'):
            self._error(404, 'MANIFEST_UNKNOWN')
        elif kind == 'manifests':
            self._manifest(_Image(name), reference)
        else:
            self._blob(name, reference)

    do_HEAD = do_GET  # noqa: N815

    def _manifest(self, image: _Image, reference: str) -> None:
        digest = _digest(image.manifest)
        if reference in ('latest', digest):
            self._answer(200, image.manifest, ('Docker-Content-Digest', digest), kind=_MANIFEST)
        else:
            self._error(404, 'MANIFEST_UNKNOWN')

    def _blob(self, name: str, reference: str) -> None:
        image = _Image(name)
        if reference == _digest(image.config):
            self._answer(200, image.config, kind='application/octet-stream')
            return
        layer = image.layer
        if name == 'corrupt':
            layer = layer[:100] + bytes(10) + layer[110:]
        if name == 'stalled':
            self._headers(200, len(layer), 'application/octet-stream')
            self.wfile.write(layer[:100])
            self.server.released.wait(60)
            self.close_connection = True
            return
        self._answer(200, layer, kind='application/octet-stream')

    def _error(self, status: int, code: str, *headers: tuple[str, str]) -> None:
        body = json.dumps({'errors': [{'code': code, 'message': code.lower()}]}).encode()
        self._answer(status, body, *headers)

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str],
                kind: str = 'application/json') -> None:
        self._headers(status, len(body), kind, *headers)
        if self.command != 'HEAD':
            self.wfile.write(body)

    def _headers(self, status: int, length: int, kind: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (('Content-Type', kind), ('Content-Length', str(length)),
                            ('Docker-Distribution-API-Version', 'registry/2.0'), *headers):
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: ty.Any) -> None:
        pass


class Registry(fixtures.Fixture):
    """A registry on the loopback address, which engines talk to without TLS.

    :param locked: whether it asks for USER and PASSWORD
    :ivar domain: host and port
    """

    def __init__(self, locked: bool = False) -> None:
        super().__init__()
        self._locked = locked

    def _setUp(self) -> None:  # noqa: N802
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
        server.released = threading.Event()
        server.locked = self._locked
        self.domain = f'127.0.0.1:{server.server_address[1]}'
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.released.set)

    @staticmethod
    def digest(name: str) -> str:
        """What an image can be pinned by."""
        return _digest(_Image(name).manifest)
