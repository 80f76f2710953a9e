# SPDX-License-Identifier: Apache-2.0
"""Sends archives of so many MiB through the application and back, so many at a time.

    python -m zun.tests.functional.api.archives MIB COUNT VERSION

It prints by how many KiB the memory of the process has grown at most. The nodes are in the process
too, and keep their files on disk.
"""

import base64
import collections
import collections.abc
import concurrent.futures
import hashlib
import itertools
import json
import os
import resource
import sys
import tempfile
import typing as ty

from oslo_middleware import request_id
from oslo_utils import uuidutils

from zun import objects
from zun.api import app
from zun.common import config
from zun.common import context as zun_context
import zun.conf
from zun.control import clients
from zun.rpc import compute as rpc_compute
from zun.rpc import parcels
from zun.tests import database

CONF = zun.conf.CONF
_CHUNK = 1 << 16
_HOST = 'node'


class _Nodes(rpc_compute.Client):
    """All nodes: what is put comes out again."""

    def __init__(self) -> None:
        self._files: dict[str, ty.IO[bytes]] = collections.defaultdict(tempfile.TemporaryFile)

    def _call(self, context: ty.Any, host: str | None, method: str, _extra_time: float = 0,
              **args: ty.Any) -> ty.Any:
        # As the bus does, twice.
        args = json.loads(json.loads(json.dumps(json.dumps(args))))
        file = self._files[args['container_uuid']]
        if 'put' in method:
            file.write(base64.b64decode(args['data']))
            return 'token'
        if method == 'container_get_archive':
            file.seek(0)
        data = file.read(parcels.PART)
        answer = {'data': base64.b64encode(data).decode(), 'stat': {'name': 'x'},
                  'parcel': 'token' if len(data) == parcels.PART else None}
        return json.loads(json.loads(json.dumps(json.dumps(answer))))


def _request(method: str, uuid: str, verb: str, version: str, body: ty.IO[bytes],
             size: int) -> dict[str, ty.Any]:
    return {
        'REQUEST_METHOD': method, 'PATH_INFO': f'/v1/containers/{uuid}/{verb}',
        'QUERY_STRING': 'path=/tmp', 'SCRIPT_NAME': '', 'SERVER_NAME': 'x', 'SERVER_PORT': '80',
        'SERVER_PROTOCOL': 'HTTP/1.1', 'wsgi.url_scheme': 'http', 'wsgi.input': body,
        'wsgi.errors': sys.stderr, 'wsgi.version': (1, 0), 'wsgi.multithread': True,
        'wsgi.multiprocess': False, 'wsgi.run_once': False,
        'CONTENT_TYPE': 'application/json', 'CONTENT_LENGTH': str(size),
        'HTTP_X_PROJECT_ID': 'project', 'HTTP_X_USER_ID': 'user', 'HTTP_X_ROLES': 'member',
        'HTTP_OPENSTACK_API_VERSION': f'container {version}'}


def _body(size: int, base64_text: bool) -> tuple[ty.IO[bytes], str]:
    """A request with random data, in a file, and the checksum of its text."""
    made, digest = tempfile.TemporaryFile(), hashlib.sha256()  # noqa: SIM115 - the caller's
    made.write(b'{"data": "')
    for _ in range(size):
        data = os.urandom((1 << 20) - 1)  # a multiple of 3
        text = base64.b64encode(data).decode() if base64_text else data.decode('latin-1')
        part = json.dumps(text)[1:-1].encode()
        digest.update(part)
        made.write(part)
    made.write(b'"}')
    return made, digest.hexdigest()


def _answer(wsgi: ty.Any, environ: dict[str, ty.Any]) -> collections.abc.Iterator[bytes]:
    def start(status: str, *_rest: ty.Any) -> None:
        if not status.startswith('200'):
            raise AssertionError(status)
    found = wsgi(environ, start)
    try:
        yield from found
    finally:
        if hasattr(found, 'close'):
            found.close()


def _there_and_back(wsgi: ty.Any, uuid: str, made: ty.IO[bytes], wanted: str,
                    version: str) -> None:
    size = made.tell()
    made.seek(0)
    collections.deque(_answer(wsgi, _request('POST', uuid, 'put_archive', version, made, size)), 0)
    with tempfile.TemporaryFile() as got:
        for chunk in _answer(wsgi, _request('GET', uuid, 'get_archive', version, got, 0)):
            for begin in range(0, len(chunk), _CHUNK):
                got.write(chunk[begin:begin + _CHUNK])
        length = got.tell() - len(b'{"data": "') - len(b'", "stat": {"name": "x"}}')
        got.seek(len(b'{"data": "'))
        digest = hashlib.sha256()
        for begin in range(0, length, _CHUNK):
            digest.update(got.read(min(_CHUNK, length - begin)))
    if digest.hexdigest() != wanted:
        raise AssertionError('The archive has changed on its way.')


def _container() -> str:
    context = zun_context.get_admin_context()
    container = objects.Container(
        context, uuid=uuidutils.generate_uuid(), project_id='project', user_id='user',
        image='x', status='Running', host=_HOST)
    container.create(context)
    return container.uuid


def _round(wsgi: ty.Any, size: int, count: int, version: str) -> None:
    made = [_body(size, version != '1.24') for _ in range(count)]
    uuids = [_container() for _ in range(count)]
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for _ in pool.map(_there_and_back, itertools.repeat(wsgi), uuids,
                          *zip(*made, strict=True), itertools.repeat(version)):
            pass


def main() -> None:
    size, count, version = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    config.parse_args([], program='archives', default_config_files=[])
    with database.SqliteDatabase():
        admin = zun_context.get_admin_context()
        objects.ZunService(admin, host=_HOST, binary='zun-compute').create(admin)
        clients.use(clients.Clients(compute=_Nodes(), scheduler=ty.cast(ty.Any, None),
                                    network=ty.cast(ty.Any, None), ledger=ty.cast(ty.Any, None)))
        wsgi = request_id.RequestId(app.make_app())
        _round(wsgi, 1, count, version)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _round(wsgi, size, count, version)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.stdout.write(f'{grown}\n')


if __name__ == '__main__':
    main()
