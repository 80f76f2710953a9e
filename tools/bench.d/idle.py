# SPDX-License-Identifier: Apache-2.0
"""What a node with many containers costs that is asked for nothing.

It is a zun-compute of its own, whose host only these containers ask for, and which has a database
user of its own, by whom its statements are told from others'.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cloud
import docker
import observers
import pymysql
from sqlalchemy.engine import url as sa_url

HOST = USER = 'benchidle'
SECONDS = 120
#: For what follows the creates: reports of resources, the first rounds of everything.
_SETTLE = 45
_START = 120
_AT_ONCE = 8
_CPU, _MEMORY = 0.5, 150
_FOREVER = ['sleep', '1000000']
_LABEL = f'org.openstack.zun.host={HOST}'
_TICKS = os.sysconf('SC_CLK_TCK')
_MINE = {'zun_service': f"host = '{HOST}'", 'compute_node': f"hostname = '{HOST}'",
         'embedded_network': f"network_uuid IN (SELECT uuid FROM network WHERE host = '{HOST}')",
         'network': f"host = '{HOST}'"}
_CONFIG = """[DEFAULT]
host = {host}
state_path = {directory}
log_dir =
log_file = {log}
[compute]
cpu_allocation_ratio = 1000
ram_allocation_ratio = 1000
[database]
connection = {database}
"""


def measure(count: int) -> None:
    """Print CPU, memory and statements of the agent.

    :param count: containers
    """
    zun = cloud.Zun('admin', 'admin')
    with tempfile.TemporaryDirectory(prefix='zun-bench-') as directory, \
            _database() as database:
        try:
            _user(database)
            agent = _start(directory, database)
            try:
                with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
                    list(pool.map(lambda _: _create(zun), range(count)))
                zun.wait_all_running()
                time.sleep(_SETTLE)
                _report(agent.pid, count)
            finally:
                zun.delete(*_all(database), how='force=true')
                agent.terminate()
                agent.wait(60)
        finally:
            _clean(zun, database)


def _create(zun: cloud.Zun) -> str:
    return zun.create(command=_FOREVER, host=HOST, memory='16', image_pull_policy='ifnotpresent')


def _database() -> pymysql.Connection:
    return pymysql.connect(unix_socket=f'{os.environ["LAB_DIR"]}/run/mysql.sock', user='root',
                           database='zun', autocommit=True)


def _run(database: pymysql.Connection, statement: str) -> tuple:
    with database.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def _user(database: pymysql.Connection) -> None:
    for statement in (f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{USER}'",
                      f"GRANT ALL ON zun.* TO '{USER}'@'%'"):
        _run(database, statement)


def _start(directory: str, database: pymysql.Connection) -> subprocess.Popen:
    """The agent, once its host is known to all."""
    address = sa_url.make_url(os.environ['LAB_DB_URL'])
    own, log = f'{directory}/node.conf', f'{directory}/node.log'
    pathlib.Path(own).write_text(_CONFIG.format(
        host=HOST, directory=directory, log=log, database=address.set(
            username=USER, password=USER, database='zun').render_as_string(False)))
    agent = subprocess.Popen([
        pathlib.Path(sys.executable).with_name('zun-compute'),
        '--config-file', os.environ['LAB_ZUN_CONF'], '--config-file', own])
    end = time.monotonic() + _START
    while not _run(database, f"SELECT 1 FROM zun_service, compute_node WHERE host = '{HOST}' "
                             f"AND hostname = '{HOST}' AND rp_uuid IS NOT NULL"):
        if agent.poll() is not None or time.monotonic() > end:
            agent.kill()
            raise SystemExit(f'bench: no agent: {pathlib.Path(log).read_text()[-2000:]}')
        time.sleep(0.2)
    return agent


def _all(database: pymysql.Connection) -> list[str]:
    return [uuid for (uuid,) in _run(
        database, f"SELECT uuid FROM container WHERE host = '{HOST}'")]


def _report(pid: int, count: int) -> None:
    with observers.Statements(USER) as statements:
        before, began = _cpu(pid), time.monotonic()
        with statements.counting():
            time.sleep(SECONDS)
        passed = time.monotonic() - began
        cpu, minutes = (_cpu(pid) - before) / passed * 100, passed / 60
    resident, memory = (sum(_memory(each, kind) for each in _tree(pid)) for kind in ('Rss', 'Pss'))
    met = 'met' if cpu < _CPU and memory < _MEMORY else 'MISSED'
    print(f'idle with {count} containers, {passed:.0f} s: {cpu:.2f} % of a core '
          f'(target < {_CPU}), {memory:.0f} MB (target < {_MEMORY}): {met}; '
          f'RSS {resident:.0f} MB with what its processes share counted for each')
    print(f'SQL statements a minute {statements.total / minutes:.1f}')
    for text, times in statements.by_kind.most_common():
        print(f'  {times / minutes:5.1f}  {text}')


def _tree(pid: int) -> list[int]:
    """A process and those it started."""
    children = [int(each) for each in os.listdir('/proc') if each.isdigit()
                and _stat(int(each))[1:2] == [str(pid)]]
    return [pid, *(each for child in children for each in _tree(child))]


def _stat(pid: int) -> list[str]:
    """State, parent and so on; empty when it has ended."""
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    except OSError:
        return []


def _cpu(pid: int) -> float:
    """Seconds that they have used."""
    return sum(int(ticks) for each in _tree(pid) for ticks in _stat(each)[11:13]) / _TICKS


def _memory(pid: int, kind: str) -> float:
    """MB of a process: Rss, or Pss, in which shared pages are divided."""
    lines = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(f'{kind}:')) * 1024 / 1e6


def _clean(zun: cloud.Zun, database: pymysql.Connection) -> None:
    """Forget the host."""
    for table, where in _MINE.items():
        _run(database, f'DELETE FROM {table} WHERE {where}')
    _run(database, f"DROP USER IF EXISTS '{USER}'@'%'")
    zun.forget_provider(HOST)
    engine = docker.DockerClient(os.environ['LAB_DOCKER_HOST'])
    for network in engine.networks.list(filters={'label': _LABEL}):
        network.reload()
        for name in network.attrs['Containers'] or {}:
            network.disconnect(name, force=True)
        network.remove()
