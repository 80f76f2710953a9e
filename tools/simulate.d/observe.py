# SPDX-License-Identifier: Apache-2.0
"""What the cloud costs its neighbours: rows and statements, messages, calls of Placement."""

import collections
import contextlib
import json
import os
import pathlib
import re
import threading
import time

import cloud
import kombu

#: What the database server counts for each user -> our name.
_COUNTED = {'ROWS_READ': 'rows_read', 'ROWS_INSERTED': 'rows_inserted',
            'ROWS_UPDATED': 'rows_updated', 'SELECT_COMMANDS': 'selects',
            'UPDATE_COMMANDS': 'writes', 'CPU_TIME * 1000': 'cpu_ms'}
_CONTROL = ('COMMIT', 'ROLLBACK', 'BEGIN', 'SET ', 'SELECT 1', 'START TRANSACTION')

Counts = dict[str, dict[str, int]]


def counts() -> Counts:
    """role -> what the server has counted for it so far."""
    found = cloud.execute(f'SELECT USER, {", ".join(_COUNTED)} FROM '
                          "information_schema.USER_STATISTICS WHERE USER LIKE 'sim\\_%'")
    by_user = {row[0]: dict(zip(_COUNTED.values(), map(int, row[1:]), strict=True))
               for row in found}
    nothing = dict.fromkeys(_COUNTED.values(), 0)
    return {role: by_user.get(cloud.user(role), nothing) for role in cloud.ROLES}


def since(before: Counts) -> Counts:
    """What has been counted since."""
    return {role: {name: value - before[role][name] for name, value in now.items()}
            for role, now in counts().items()}


def start_counting() -> None:
    cloud.execute('SET GLOBAL userstat = ON')


def wait_quiet(role: str, per_second: float, seconds: float = 6.0, most: float = 300.0) -> None:
    """Until a role has fewer statements in a second than that, over some seconds."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        before = counts()
        time.sleep(seconds)
        found = since(before)[role]
        if (found['selects'] + found['writes']) / seconds <= per_second:
            return
    raise SystemExit(f'simulate: {role} does not come to rest')


class Statements:
    """Statements one by one, by the server's log: too slow for anything but counting.

    :ivar by_role: role -> kind of statement -> number
    """

    def __enter__(self):
        self.by_role = {role: collections.Counter() for role in cloud.ROLES}
        cloud.execute("SET GLOBAL log_output = 'TABLE'")
        cloud.execute('TRUNCATE mysql.general_log')
        cloud.execute('SET GLOBAL general_log = ON')
        return self

    def __exit__(self, *error):
        cloud.execute('SET GLOBAL general_log = OFF')
        found = cloud.execute(
            'SELECT user_host, CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE '
            "command_type IN ('Query', 'Execute') AND user_host LIKE 'sim\\_%'")
        for host, text in found:
            if not text.upper().startswith(_CONTROL):
                self.by_role[host.partition('[')[0].removeprefix('sim_')][_kind(text)] += 1
        cloud.execute('TRUNCATE mysql.general_log')


def _kind(statement: str) -> str:
    """Verb and tables."""
    tables = re.findall(r'\b(?:FROM|UPDATE|INTO|JOIN)\s+`?(\w+)', statement, re.IGNORECASE)
    return f'{statement.split()[0].upper()} {", ".join(dict.fromkeys(tables))}'


def cpu_ms(*roots: int) -> int:
    """Milliseconds of CPU that processes and all below them have used."""
    parents, used = {}, {}
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / 'stat').read_text().rpartition(')')[2].split()
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = int(fields[11]) + int(fields[12])
    family = set(roots)
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    ticks = sum(used.get(pid, 0) for pid in family)
    return ticks * 1000 // os.sysconf('SC_CLK_TCK')


def pid_of(server: str) -> int:
    """A server of the lab."""
    return int(pathlib.Path(f'{os.environ["LAB_DIR"]}/run/{server}.pid').read_text())


class PlacementCalls:
    """Lines of Placement's access log about candidates and allocations, of the time in the context.

    :ivar total: their number
    :ivar milliseconds: that Placement took for all of them
    """

    def __enter__(self):
        self._path = f'{os.environ["LAB_DIR"]}/log/placement-access.log'
        self._before = os.path.getsize(self._path)
        return self

    def __exit__(self, *error):
        time.sleep(0.2)
        with open(self._path) as log:
            log.seek(self._before)
            times = [float(line.split()[-1].removesuffix('us')) / 1000 for line in log
                     if '/allocation' in line]
        self.total, self.milliseconds = len(times), sum(times)


class Tap:
    """Reads a copy of every message of the simulated bus.

    :ivar asked: container uuid -> when a scheduler was asked for a host
    :ivar sent: container uuid -> when it was sent to its host
    :ivar messages: number of all messages
    """

    def __enter__(self):
        self.asked: dict[str, float] = {}
        self.sent: dict[str, float] = {}
        self.messages = 0
        self._stop = threading.Event()
        url = os.environ['LAB_TRANSPORT_URL'].replace('rabbit', 'amqp', 1).rstrip('/')
        self._connection = kombu.Connection(f'{url}/{cloud.VHOST}')
        exchange = kombu.Exchange('zun', type='topic', passive=True, durable=False)
        self._queue = kombu.Queue('', exchange, routing_key='#', exclusive=True)
        ready = threading.Event()
        self._thread = threading.Thread(target=self._consume, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join(5)
        self._connection.release()

    def _consume(self, ready: threading.Event) -> None:
        with self._connection.Consumer(self._queue, callbacks=[self._take], no_ack=True,
                                       accept=None):
            ready.set()
            while not self._stop.is_set():
                with contextlib.suppress(TimeoutError):
                    self._connection.drain_events(timeout=0.2)

    def _take(self, body, _message) -> None:
        now = time.monotonic()
        self.messages += 1
        body = json.loads(body) if isinstance(body, (str, bytes)) else body
        call = json.loads(body.get('oslo.message', '{}'))
        uuid = call.get('args', {}).get('container_uuid')
        if call.get('method') == 'schedule_container':
            self.asked.setdefault(uuid, now)
        elif call.get('method') == 'container_create':
            self.sent.setdefault(uuid, now)

    def latencies(self, uuids: list[str]) -> list[float]:
        """Seconds from one message to the other."""
        return [self.sent[uuid] - self.asked[uuid] for uuid in uuids
                if uuid in self.sent and uuid in self.asked]
