# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud: names of its hosts, its database, its containers.

Container ``n`` lives on host ``n // PER_HOST``. Hosts beyond the size of a cloud have rows of
containers only, as hosts have that were switched off.
"""

import contextlib
import dataclasses
import os
import pathlib
import subprocess
import uuid

import sqlalchemy as sa

from zun.db import models

DATABASE = 'zun_sim'
VHOST = 'sim'
PREFIX = 'sim-'
#: Containers that each host has from the start.
PER_HOST = 100
#: Of each of them.
CPU, MEMORY = 0.1, 64
#: What each host has: room for many more.
HOST_CPUS, HOST_MEMORY, HOST_DISK = 64, 1 << 18, 1000
#: Parts of the cloud that are counted apart, each a user of the database.
ROLES = ('api', 'scheduler', 'nodes')
#: Projects among which the containers are divided.
PROJECTS = 100
_CHUNK = 5000
_SPACE = uuid.UUID('6f0a6b57-5f0d-4d53-8a0e-3f5a5c6d7e8f')
REPO = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Host:
    """
    :ivar uuid: of its compute_node row and of its provider
    """

    number: int

    @property
    def name(self) -> str:
        return f'{PREFIX}{self.number:04d}'

    @property
    def uuid(self) -> str:
        return str(uuid.uuid5(_SPACE, self.name))


def hosts(first: int, last: int) -> list[Host]:
    """From the first to before the last."""
    return [Host(number) for number in range(first, last)]


def container_uuid(number: int) -> str:
    return str(uuid.uuid5(_SPACE, f'container {number}'))


def lab(*verb: str) -> None:
    """Run a verb of tools/lab."""
    subprocess.run([REPO / 'tools' / 'lab', *verb], check=True, stdout=subprocess.DEVNULL)


def root(database: str = '') -> sa.Engine:
    """The database server with all rights, not counted as any role."""
    socket = f'{os.environ["LAB_DIR"]}/run/mysql.sock'
    return sa.create_engine(f'mysql+pymysql://root@/{database}?unix_socket={socket}',
                            isolation_level='AUTOCOMMIT', pool_size=2)


def execute(statement: str, database: str = '', **values: object) -> list[tuple]:
    """One statement with all rights."""
    engine = root(database)
    with engine.connect() as connection:
        result = connection.execute(sa.text(statement), values)
        found = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return found


def user(role: str) -> str:
    return f'sim_{role}'


def prepare() -> None:
    """An empty database with a user for each role, and a virtual host of the bus."""
    execute(f'DROP DATABASE IF EXISTS {DATABASE}')
    execute(f'CREATE DATABASE {DATABASE}')
    password = os.environ['LAB_PASSWORD']
    for role in ROLES:
        execute(f"CREATE USER IF NOT EXISTS '{user(role)}'@'%' IDENTIFIED BY '{password}'")
        execute(f"GRANT ALL ON {DATABASE}.* TO '{user(role)}'@'%'")
    with contextlib.suppress(subprocess.CalledProcessError):
        lab('mqctl', '-q', 'delete_vhost', VHOST)
    lab('mqctl', '-q', 'add_vhost', VHOST)
    lab('mqctl', '-q', 'set_permissions', '-p', VHOST, 'lab', '.*', '.*', '.*')


def add_containers(first: int, last: int) -> None:
    """Rows of containers that run, with their requests and their first actions."""
    engine = root(DATABASE)
    for start in range(first, last, _CHUNK):
        numbers = range(start, min(start + _CHUNK, last))
        with engine.begin() as connection:
            connection.execute(sa.insert(models.container), [{
                'uuid': container_uuid(n), 'name': f'sim-container-{n}', 'image': 'busybox',
                'project_id': f'project-{n % PROJECTS}', 'user_id': f'user-{n % PROJECTS}',
                'status': 'Running', 'host': Host(n // PER_HOST).name, 'cpu': CPU,
                'memory': str(MEMORY), 'container_type': models.CONTAINER,
                'container_id': container_uuid(n)} for n in numbers])
            connection.execute(sa.insert(models.container_request), [{
                'container_uuid': container_uuid(n), 'generation': 1, 'claimed': True, 'run': True}
                for n in numbers])
            connection.execute(sa.text(
                'INSERT INTO container_actions (action, container_uuid, request_id, start_time, '
                "finish_time, created_at) SELECT 'create', uuid, CONCAT('req-', uuid), "
                'UTC_TIMESTAMP(), UTC_TIMESTAMP(), UTC_TIMESTAMP() FROM container '
                'WHERE uuid IN :uuids').bindparams(sa.bindparam('uuids', expanding=True)),
                {'uuids': [container_uuid(n) for n in numbers]})
            connection.execute(sa.text(
                'INSERT INTO container_actions_events (event, action_id, start_time, finish_time, '
                "result, created_at) SELECT 'compute__do_container_create', id, start_time, "
                "finish_time, 'Success', created_at FROM container_actions "
                'WHERE container_uuid IN :uuids').bindparams(
                    sa.bindparam('uuids', expanding=True)),
                {'uuids': [container_uuid(n) for n in numbers]})
    with engine.begin() as connection:
        for table in ('container', 'container_request', 'container_actions',
                      'container_actions_events'):
            connection.execute(sa.text(f'ANALYZE TABLE {table}'))
    engine.dispose()


def add_hosts(added: list[Host]) -> None:
    """Rows of hosts and of their services, as if they had reported just now."""
    engine = root(DATABASE)
    with engine.begin() as connection:
        connection.execute(sa.insert(models.compute_node), [{
            'uuid': host.uuid, 'rp_uuid': host.uuid, 'hostname': host.name, 'cpus': HOST_CPUS,
            'mem_total': HOST_MEMORY, 'mem_free': HOST_MEMORY, 'mem_available': HOST_MEMORY,
            'mem_used': PER_HOST * MEMORY, 'cpu_used': PER_HOST * CPU, 'disk_total': HOST_DISK,
            'running_containers': PER_HOST, 'total_containers': PER_HOST,
            'disk_quota_supported': True, 'runtimes': ['runc'], 'labels': {}}
            for host in added])
        connection.execute(sa.text(
            'INSERT INTO zun_service (host, `binary`, disabled, forced_down, report_count, '
            'last_seen_up, created_at, availability_zone) VALUES (:host, \'zun-compute\', 0, 0, '
            '1, UTC_TIMESTAMP(), UTC_TIMESTAMP(), \'nova\')'),
            [{'host': host.name} for host in added])
        connection.execute(sa.text('ANALYZE TABLE compute_node, zun_service'))
    engine.dispose()


def finish() -> None:
    """What hosts without an agent were given counts as running: no reaper has to see to it."""
    execute("UPDATE container SET status = 'Running' WHERE status = 'Creating'", DATABASE)


def keep_alive() -> None:
    """The heartbeats of all hosts; those that live report by themselves, too."""
    execute('UPDATE zun_service SET last_seen_up = UTC_TIMESTAMP()', DATABASE)
