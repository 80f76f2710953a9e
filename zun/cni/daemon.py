# SPDX-License-Identifier: Apache-2.0
"""The CNI daemon: a unix socket for zun-cni, and the TCP port that deployments watch.

It keeps no state and touches no interface: what a runtime asks is relayed to zun-compute, which
owns the networks of its host. While zun-compute serves no capsules of a CRI runtime the answer is
an error that the runtime may repeat.
"""

import http.client
import http.server
import json
import os
import socket
import socketserver
import struct
import threading
import typing as ty

from oslo_log import log as logging
from oslo_service import service

from zun.cni import plugin
import zun.conf

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Seconds for zun-compute: less than zun-cni waits.
DEADLINE = 140
_GONE = {'msg': 'replaced by the unix socket of zun-cni', 'code': plugin.OTHER}


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = DEADLINE

    def log_message(self, format: str, *args: ty.Any) -> None:
        LOG.debug(format, *args)

    def answer(self, status: int, body: dict[str, ty.Any] | None = None) -> None:
        text = json.dumps(body).encode() if body is not None else b''
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class HealthHandler(_Handler):
    """The TCP port: health only; the verbs of former daemons are gone."""

    def do_GET(self) -> None:
        if self.path == '/healthcheck':
            self.answer(200, {'status': 'ok'})
        else:
            self.answer(404, {'msg': 'not found'})

    def do_POST(self) -> None:
        gone = self.path in ('/addNetwork', '/delNetwork')
        self.answer(410 if gone else 404, _GONE if gone else {'msg': 'not found'})


class RelayHandler(_Handler):
    """The unix socket: root only, relayed to zun-compute."""

    def address_string(self) -> str:
        return 'zun-cni'

    def do_GET(self) -> None:
        self._relay()

    def do_POST(self) -> None:
        self._relay()

    def _relay(self) -> None:
        if _peer_uid(self.connection) not in (0, os.geteuid()):
            self.answer(403, {'code': plugin.OTHER, 'msg': 'only root may ask'})
            return
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        connection = plugin.UnixConnection(compute_socket(), DEADLINE)
        try:
            connection.request(self.command, self.path, body,
                               {'Content-Type': 'application/json'})
            found = connection.getresponse()
            text = found.read()
            self.answer(found.status, json.loads(text) if text else None)
        except (OSError, http.client.HTTPException):
            self.answer(503, {'code': plugin.AGAIN, 'msg': 'zun-compute serves no capsules here'})
        finally:
            connection.close()


def compute_socket() -> str:
    """Where zun-compute listens for this daemon."""
    return os.path.join(CONF.state_path, 'cni-compute.sock')


def _peer_uid(connection: socket.socket) -> int:
    size = struct.calcsize('3i')
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return struct.unpack('3i', credentials)[1]


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def server_bind(self) -> None:
        path = str(self.server_address)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        before = os.umask(0o177)
        try:
            super().server_bind()
        finally:
            os.umask(before)


class CniService(service.ServiceBase):
    def __init__(self) -> None:
        self._servers: list[socketserver.BaseServer] = []
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        address = (str(CONF.cni_daemon.cni_daemon_host), CONF.cni_daemon.cni_daemon_port)
        self._servers = [http.server.ThreadingHTTPServer(address, HealthHandler),
                         _UnixServer(plugin.SOCKET, RelayHandler)]
        self._threads = [threading.Thread(target=server.serve_forever, daemon=True)
                         for server in self._servers]
        for thread in self._threads:
            thread.start()
        LOG.info('Listening on %s and %s port %s', plugin.SOCKET, *address)

    def stop(self, graceful: bool = False) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()

    def reset(self) -> None:
        """Nothing is cached."""
