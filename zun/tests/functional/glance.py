# SPDX-License-Identifier: Apache-2.0
"""The part of the Image API v2 that Zun uses, on loopback, with its data in memory."""

import collections.abc
import datetime
import hashlib
import http.server
import json
import threading
import typing as ty
import urllib.parse

import fixtures
from oslo_utils import uuidutils

from zun.common import clients
import zun.conf

CONF = zun.conf.CONF
_OURS = ('limit',)

Json = dict[str, ty.Any]


class Glance(fixtures.Fixture):
    """
    :ivar url: of its endpoint
    :ivar images: id -> record, as the API shows it
    :ivar data: id -> bytes
    :ivar members: (image, project)
    :ivar fault: (method, path) -> a status to answer instead, or None
    :ivar cut: bytes after which a download ends; None: never
    """

    def _setUp(self) -> None:  # noqa: N802
        self.images: dict[str, Json] = {}
        self.data: dict[str, bytes] = {}
        self.members: set[tuple[str, str]] = set()
        self.fault: collections.abc.Callable[[str, str], int | None] = lambda *_args: None
        self.cut: int | None = None
        self.asked: list[tuple[str, str]] = []
        server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), type('Handler', (_Handler,), {'glance': self}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f'http://127.0.0.1:{server.server_port}'
        CONF.set_override('endpoint_override', self.url, 'glance_client')
        CONF.set_override('auth_type', 'none', 'keystone_auth')
        self.addCleanup(CONF.clear_override, 'endpoint_override', 'glance_client')
        self.addCleanup(CONF.clear_override, 'auth_type', 'keystone_auth')
        for cached in (clients.session, clients.service_auth):
            cached.cache_clear()
            self.addCleanup(cached.cache_clear)

    def record(self, **values: ty.Any) -> str:
        """An image without data; its id."""
        ident = uuidutils.generate_uuid()
        self.images[ident] = {
            'id': ident, 'name': None, 'status': 'queued', 'visibility': 'private', 'tags': [],
            'owner': 'project', 'container_format': 'docker', 'disk_format': 'raw', 'size': None,
            'created_at': datetime.datetime.now(datetime.UTC).isoformat(), **values}
        return ident

    def add(self, data: bytes, **values: ty.Any) -> str:
        """An image with data; its id."""
        ident = self.record()
        self.fill(ident, data)
        self.images[ident].update(values)
        return ident

    def fill(self, ident: str, data: bytes) -> None:
        self.data[ident] = data
        self.images[ident].update(
            status='active', size=len(data), checksum=hashlib.md5(
                data, usedforsecurity=False).hexdigest(),
            os_hash_algo='sha512', os_hash_value=hashlib.sha512(data).hexdigest())

    def downloads(self) -> int:
        return sum(1 for method, path in self.asked
                   if method == 'GET' and path.endswith('/file'))

    def chosen(self, query: dict[str, str]) -> list[Json]:
        """The images that a query asks for."""
        def fits(image: Json, name: str, value: str) -> bool:
            if name == 'tag':
                return value in image['tags']
            if value.startswith('in:'):
                return image.get(name) in value[3:].split(',')
            return image.get(name) == value
        return [image for image in self.images.values() if all(
            fits(image, *item) for item in query.items() if item[0] not in _OURS)]


class _Handler(http.server.BaseHTTPRequestHandler):
    glance: Glance
    protocol_version = 'HTTP/1.1'

    def _serve(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        self.glance.asked.append((self.command, url.path))
        status = self.glance.fault(self.command, url.path)
        if status is not None:
            self.close_connection = True
            self._answer(status, {'message': 'as planned'})
            return
        parts = url.path.split('/')[3:]
        if not parts:
            self._answer(200, {'images': self.glance.chosen(
                dict(urllib.parse.parse_qsl(url.query)))})
        elif parts[0] not in self.glance.images:
            self._answer(404, {})
        elif parts[1:2] == ['members']:
            self._answer(200 if (parts[0], parts[2]) in self.glance.members else 404, {})
        elif parts[1:] == ['file']:
            self._file(parts[0])
        elif self.command == 'DELETE':
            del self.glance.images[parts[0]]
            self._answer(204, None)
        else:
            self._answer(200, self.glance.images[parts[0]])

    do_GET = do_PUT = do_DELETE = _serve  # noqa: N815

    def _file(self, ident: str) -> None:
        if self.command == 'PUT':
            if self.glance.images[ident]['status'] != 'queued':
                self.close_connection = True
                self._answer(409, {'message': 'not queued'})
                return
            self.glance.images[ident]['status'] = 'saving'
            self.glance.fill(ident, self._received())
            self._answer(204, None)
            return
        data = self.glance.data[ident]
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data[:self.glance.cut])
        self.close_connection = self.glance.cut is not None

    def _received(self) -> bytes:
        data = bytearray()
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(data)

    def _answer(self, status: int, body: Json | None) -> None:
        text = b'' if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        if self.close_connection:
            self.send_header('Connection', 'close')
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_args: ty.Any) -> None:
        """Nothing is printed."""
