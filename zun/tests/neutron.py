# SPDX-License-Identifier: Apache-2.0
"""A Neutron small enough for tests: real HTTP, rows in memory.

The token ``user:<project>`` sees what that project sees; ``service`` sees everything.
"""

import http.server
import json
import threading
import typing as ty
import urllib.parse

import fixtures
from keystoneauth1 import adapter
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint

from zun.common import rest
from zun.network import neutron

Item = dict[str, ty.Any]
SERVICE = 'service'
_SINGULAR = {'networks': 'network', 'subnets': 'subnet', 'ports': 'port',
             'security-groups': 'security_group'}


class Server(fixtures.Fixture):
    """
    :ivar store: kind -> id -> row
    :ivar seen: (method, path, token) of the requests, in order
    :ivar faults: (method, part of the path) -> status to answer, once
    """

    def _setUp(self) -> None:  # noqa: N802
        self.store: dict[str, dict[str, Item]] = {kind: {} for kind in _SINGULAR}
        self.seen: list[tuple[str, str, str | None]] = []
        self.faults: dict[tuple[str, str], int] = {}
        self.before_update: ty.Callable[[Item], None] | None = None
        handler = type('Handler', (_Handler,), {'fixture': self})
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
        self._server.daemon_threads = True
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.addCleanup(thread.join, 5)
        self.addCleanup(self._server.server_close)
        self.addCleanup(self._server.shutdown)
        self.url = f'http://127.0.0.1:{self._server.server_port}'

    def add(self, kind: str, ident: str, **values: ty.Any) -> Item:
        """A row; of a port with a revision, as Neutron gives it."""
        row = {'id': ident, 'name': ident, **values}
        if kind == 'ports':
            row = {'device_id': '', 'status': 'DOWN', 'binding:vif_type': 'unbound',
                   'revision_number': 1, 'tags': [], **row}
        if kind == 'networks':
            row = {'shared': False, 'router:external': False, 'subnets': ['s'],
                   'created_at': '2026-01-01T00:00:00Z', **row}
        self.store[kind][ident] = row
        return row

    def client(self, context: ty.Any = None) -> neutron.Neutron:
        """A client of a user, or of the service."""
        token = SERVICE if context is None else f'user:{context.project_id}'

        def connect() -> adapter.Adapter:
            return adapter.Adapter(
                ks_session.Session(auth=token_endpoint.Token(self.url, token)),
                service_type='network', raise_exc=False, connect_retries=0)
        return neutron.Neutron(rest.Rest('network service', connect, '/v2.0'))


class _Handler(http.server.BaseHTTPRequestHandler):
    fixture: Server

    def log_message(self, *args: ty.Any) -> None:
        """Nothing on the console."""

    def _answer(self, status: int, body: ty.Any = None) -> None:
        text = b'' if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _serve(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        length = int(self.headers.get('Content-Length') or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        self.fixture.seen.append((self.command, url.path, self.headers.get('X-Auth-Token')))
        for (method, part), status in list(self.fixture.faults.items()):
            if method == self.command and part in url.path:
                del self.fixture.faults[method, part]
                self._answer(status, {'NeutronError': {'type': 'Planned', 'message': 'planned'}})
                return
        _, _version, kind, *ident = url.path.split('/')
        if ident:
            self._one(kind, ident[0], body)
        else:
            query = dict(urllib.parse.parse_qsl(url.query))
            self._answer(200, {kind.replace('-', '_'): [
                row for row in self.fixture.store[kind].values()
                if self._visible(row) and _matches(row, query)]})

    def _one(self, kind: str, ident: str, body: Item) -> None:
        row = self.fixture.store[kind].get(ident)
        if row is None or not self._visible(row):
            self._answer(404, {'NeutronError': {'message': 'gone'}})
        elif self.command == 'DELETE':
            del self.fixture.store[kind][ident]
            self._answer(204)
        elif self.command == 'PUT':
            self._update(kind, row, body)
        else:
            self._answer(200, {_SINGULAR[kind]: row})

    def _update(self, kind: str, row: Item, body: Item) -> None:
        if self.fixture.before_update:
            self.fixture.before_update(row)
        wanted = self.headers.get('If-Match')
        if wanted and wanted != f'revision_number={row["revision_number"]}':
            self._answer(412, {'NeutronError': {'type': 'RevisionNumberConstraintFailed',
                                                'message': 'changed'}})
            return
        row.update(body[_SINGULAR[kind]])
        row['revision_number'] += 1
        self._answer(200, {_SINGULAR[kind]: row})

    def _visible(self, row: Item) -> bool:
        token = self.headers.get('X-Auth-Token')
        if token == SERVICE or row.get('shared') or row.get('router:external'):
            return True
        return row.get('anyone') or token == f'user:{row.get("project_id")}'

    do_GET = do_PUT = do_DELETE = _serve  # noqa: N815


def _matches(row: Item, query: dict[str, str]) -> bool:
    return all(str(row.get(key)) == value for key, value in query.items())
