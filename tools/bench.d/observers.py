# SPDX-License-Identifier: Apache-2.0
"""What one create costs the neighbours: statements, messages, Placement calls.

Each observer counts only inside ``counting()``.
"""

import collections
import contextlib
import os
import re
import threading
import time

import kombu
import pymysql
from sqlalchemy.engine import url as sa_url

_CONTROL = ('COMMIT', 'ROLLBACK', 'BEGIN', 'SET ', 'SELECT 1', 'START TRANSACTION')
#: Seconds for stragglers: a status can be visible before the last message of a create is done.
_SETTLE = 0.5


class _Counter:
    def __init__(self) -> None:
        self.total = 0

    @contextlib.contextmanager
    def counting(self):
        before = self._mark()
        yield
        time.sleep(_SETTLE)
        self._add(before)


def _kind(statement: str) -> str:
    """Verb and tables of a statement."""
    tables = re.findall(r'\b(?:FROM|UPDATE|INTO|JOIN)\s+`?(\w+)', statement, re.IGNORECASE)
    return f'{statement.split()[0].upper()} {", ".join(dict.fromkeys(tables))}'


class Statements(_Counter):
    """MariaDB's general log, of one of its users."""

    def __init__(self, user: str = 'zun') -> None:
        super().__init__()
        self._user = user
        self.by_kind: collections.Counter[str] = collections.Counter()

    def __enter__(self):
        address = sa_url.make_url(os.environ['LAB_DB_URL'])
        self._connection = pymysql.connect(
            unix_socket=f'{os.environ["LAB_DIR"]}/run/mysql.sock', user='root', autocommit=True)
        self._run("SET GLOBAL log_output = 'TABLE'")
        self._run('TRUNCATE mysql.general_log')
        self._run('SET GLOBAL general_log = ON')
        assert address.host
        return self

    def __exit__(self, *error):
        self._run('SET GLOBAL general_log = OFF')
        self._connection.close()

    def _run(self, statement: str):
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def at_rest(self, seconds: float = 15) -> dict[str, float]:
        """Statements a second of each kind while nothing is asked for."""
        with self.counting():
            time.sleep(seconds)
        rates = {kind: times / (seconds + _SETTLE) for kind, times in self.by_kind.items()}
        self.total = 0
        self.by_kind.clear()
        return rates

    def beyond(self, rates: dict[str, float], seconds: float) -> collections.Counter[str]:
        """How many of each kind there were beyond those that come at rest in so many seconds."""
        return collections.Counter({
            kind: times - rates.get(kind, 0) * seconds for kind, times in self.by_kind.items()
            if times > rates.get(kind, 0) * seconds})

    def _mark(self):
        self._run('TRUNCATE mysql.general_log')

    def _add(self, _before):
        rows = self._run("SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE "
                         "command_type IN ('Query', 'Execute') AND "
                         f"user_host LIKE '{self._user}[%'")
        found = [text for (text,) in rows if not text.upper().startswith(_CONTROL)]
        self.total += len(found)
        self.by_kind.update(_kind(text) for text in found)


class PlacementCalls(_Counter):
    """Lines of Placement's access log about allocations."""

    def __enter__(self):
        self._path = f'{os.environ["LAB_DIR"]}/log/placement-access.log'
        return self

    def __exit__(self, *error):
        pass

    def _mark(self):
        return os.path.getsize(self._path)

    def _add(self, before):
        with open(self._path) as log:
            log.seek(before)
            self.total += sum('allocation' in line for line in log)


class Messages(_Counter):
    """RabbitMQ's trace of everything published on the exchange zun."""

    def __init__(self) -> None:
        super().__init__()
        self.size = self.with_token = 0
        self._seen: list[bytes] = []
        self._stop = threading.Event()

    def __enter__(self):
        self._trace('trace_on')
        self._connection = kombu.Connection(os.environ['LAB_TRANSPORT_URL'].replace('rabbit', 'amqp', 1))
        exchange = kombu.Exchange('amq.rabbitmq.trace', type='topic', durable=True, passive=True)
        self._queue = kombu.Queue('', exchange, routing_key='publish.zun', exclusive=True)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._consume, daemon=True)
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join(5)
        self._connection.release()
        self._trace('trace_off')

    @staticmethod
    def _trace(verb: str) -> None:
        lab = os.path.join(os.path.dirname(__file__), '..', 'lab')
        if os.spawnlp(os.P_WAIT, lab, lab, 'mqctl', '-q', verb):
            raise SystemExit(f'bench: rabbitmqctl {verb} failed')

    def _consume(self) -> None:
        with self._connection.Consumer(self._queue, callbacks=[self._take], no_ack=True,
                                       accept=None):
            self._ready.set()
            while not self._stop.is_set():
                with contextlib.suppress(TimeoutError):
                    self._connection.drain_events(timeout=0.2)

    def _take(self, _body, message) -> None:
        self._seen.append(bytes(message.body, 'utf-8') if isinstance(message.body, str)
                          else message.body)

    def _mark(self):
        return len(self._seen)

    def _add(self, before):
        fresh = self._seen[before:]
        self.total += len(fresh)
        self.size += sum(map(len, fresh))
        self.with_token += sum(b'auth_token' in body or b'gAAAA' in body for body in fresh)
