# SPDX-License-Identifier: Apache-2.0
"""What the API alone can do: requests of many clients at a time, and their SQL statements."""

import collections.abc
import concurrent.futures
import contextlib
import http.client
import json
import os
import subprocess
import time
from urllib import parse
import uuid

import cloud
import figures
import observers
import pymysql

ROWS = 10_000
OWNED = 100
CLIENTS = 8
#: Requests, one after the other, whose statements are counted.
_ALONE = 20
_NAME = 'bench-api'
_LAB = os.path.join(os.path.dirname(__file__), '..', 'lab')
_COLUMNS = ('uuid', 'project_id', 'user_id', 'name', 'image', 'memory', 'cpu', 'status', 'host',
            'container_type', 'disk', 'command', 'environment', 'labels', 'ports', 'addresses',
            'created_at')
_NEWEST = {'OpenStack-API-Version': 'container 1.40', 'Content-Type': 'application/json'}

Request = tuple[str, str, bytes | None]


def _database() -> pymysql.Connection:
    return pymysql.connect(unix_socket=f'{os.environ["LAB_DIR"]}/run/mysql.sock', user='root',
                           database='zun', autocommit=True)


@contextlib.contextmanager
def rows(project: str) -> collections.abc.Iterator[list[str]]:
    """Containers that no host knows, of which a project owns one in a hundred; its uuids."""
    made = [(str(uuid.uuid4()), project if number % (ROWS // OWNED) == 0 else f'p{number % 50}',
             'bench', f'{_NAME}-{number}', 'busybox', '64', 0.1, 'Stopped', None, 0, 0,
             '["sleep", "1000"]', '{}', '{"a": "b"}', '[]', '{}', '2026-01-01 00:00:00')
            for number in range(ROWS)]
    with _database() as database, database.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO container ({", ".join(_COLUMNS)}) '
            f'VALUES ({", ".join(["%s"] * len(_COLUMNS))})', made)
        cursor.execute('ANALYZE TABLE container')
    try:
        yield [row[0] for row in made if row[1] == project]
    finally:
        remove()


def remove() -> None:
    """Delete everything of a run, whatever state it is in."""
    mine = f"SELECT uuid FROM container WHERE name LIKE '{_NAME}%'"
    with _database() as database, database.cursor() as cursor:
        for statement in (
                f'DELETE FROM container_actions WHERE container_uuid IN ({mine})',
                f"DELETE FROM container WHERE name LIKE '{_NAME}%'"):
            cursor.execute(statement)


class _Client:
    """One connection that is kept."""

    def __init__(self, token: str) -> None:
        where = parse.urlsplit(os.environ['LAB_CONTAINER_URL'])
        self._connection = http.client.HTTPConnection(where.netloc, timeout=60)
        self._headers = {**_NEWEST, 'X-Auth-Token': token}

    def send(self, request: Request) -> float:
        began = time.monotonic()
        method, path, body = request
        self._connection.request(method, f'/v1/containers{path}', body, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 202):
            raise SystemExit(f'bench: {method} {path}: {answer.status} {text[:300]!r}')
        return time.monotonic() - began


def _measure(name: str, token: str, count: int,
             make: collections.abc.Callable[[int], Request]) -> None:
    """Latency and rate of as many requests, and the statements of a few that come alone."""
    clients = [_Client(token) for _ in range(CLIENTS)]

    def work(number: int) -> list[float]:
        return [clients[number].send(make(at)) for at in range(number, count, CLIENTS)]
    for client in clients:
        client.send(make(0))
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        samples = sum(pool.map(work, range(CLIENTS)), [])
    rate = count / (time.monotonic() - began)
    figures.report(name, samples, f'   {rate:6.0f} requests/s   '
                   f'{_statements(clients[0], make):4.1f} statements')


def _statements(client: _Client, make: collections.abc.Callable[[int], Request]) -> float:
    """SQL statements of a request, without those of the services at rest."""
    with observers.Statements() as statements:
        rates = statements.at_rest(5)
        began = time.monotonic()
        with statements.counting():
            for number in range(_ALONE):
                client.send(make(number))
        return statements.beyond(rates, time.monotonic() - began).total() / _ALONE


def measure(count: int) -> None:
    """Print all figures.

    :param count: requests for one container; other kinds get fewer
    """
    zun = cloud.Zun()
    member, admin = zun.token('demo', 'demo'), zun.token('admin', 'admin')
    print(f'{CLIENTS} clients at a time; {ROWS} containers, of which the project owns {OWNED}')
    remove()
    with rows(zun.project) as mine:
        _measure('GET one', member, count, lambda at: ('GET', f'/{mine[at % OWNED]}', None))
        _measure(f'GET list, {OWNED} of {ROWS}', member, count // 5,
                 lambda _: ('GET', '?limit=1000', None))
        _measure(f'GET list, 1000 of {ROWS}', admin, count // 20,
                 lambda _: ('GET', '?limit=1000&all_projects=true', None))
        _with_nobody_behind(lambda: _measure('POST', member, count // 4, _create))


def _create(_at: int) -> Request:
    body = {'name': f'{_NAME}-{uuid.uuid4().hex}', 'image': 'busybox', 'command': ['true'],
            'cpu': 0.1, 'memory': '64'}
    return 'POST', '', json.dumps(body).encode()


def _with_nobody_behind(function: collections.abc.Callable[[], None]) -> None:
    """Call it while no scheduler takes up what it makes, which is deleted before one does."""
    subprocess.run([_LAB, 'zun', 'stop', 'scheduler'], check=True, stdout=subprocess.DEVNULL)
    try:
        function()
    finally:
        remove()
        subprocess.run([_LAB, 'zun', 'start', 'scheduler'], check=True,
                       stdout=subprocess.DEVNULL)
