# SPDX-License-Identifier: Apache-2.0
"""Database and bus fail, or are away for a while; two agents have one name.

The servers are those of a lab: the tests stop and start them.
"""

import contextlib
import os
import subprocess
import sys
import time

from oslo_concurrency import lockutils
from oslo_db import exception as db_exc
import sqlalchemy as sa

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import heartbeat
from zun.db import engine
from zun.rpc import compute as rpc_compute
from zun.rpc import transport
from zun.tests.fault import harness
from zun.tests.functional import database
from zun.tests.functional import engine as real
from zun.tests.functional.lab import base as lab_base

_BUS = 'LAB_TRANSPORT_URL'
_AWAY_SECONDS = 10 if harness.SHORT else 60
#: Each connection's fifth write of a row ends as the victim of a deadlock.
_DEADLOCK = """CREATE TRIGGER deadlock_{table}_{verb} BEFORE {verb} ON {table} FOR EACH ROW
BEGIN
  SET @writes = COALESCE(@writes, 0) + 1;
  IF @writes MOD 5 = 0 THEN
    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found';
  END IF;
END"""
_TABLES = ('container', 'container_request', 'container_actions', 'local_allocation')


class ClusterTestCase(harness.FaultTestCase):
    """An agent in a process of its own, on a database server and a bus."""

    def setUp(self):
        for variable in (database.SERVERS['mysql'], _BUS, 'LAB_DIR'):
            if variable not in os.environ:
                self.skipTest(f'{variable} is not set: run tools/lab up')
        alone = contextlib.ExitStack()
        self.addCleanup(alone.close)
        alone.enter_context(lockutils.external_lock('fault', lock_path=os.environ['LAB_DIR']))
        super().setUp()
        self.addCleanup(transport.close)
        transport.close()
        self.CONF.set_override('transport_url', os.environ[_BUS])
        self.configure(transport_url=os.environ[_BUS])
        self.client = rpc_compute.Client()

    @staticmethod
    def database():
        return database.Database(os.environ[database.SERVERS['mysql']])

    def serve(self):
        process = self.start(serve=True)
        self.eventually('the heartbeat', self.beats)
        return process

    def beats(self):
        found = objects.ZunService.list_by_binary(self.admin, heartbeat.BINARY)
        return found[0].report_count if found else 0

    def eventually(self, what, check, timeout=60):
        """As wait_for, with a database that may be away."""
        def tolerant():
            try:
                return check()
            except db_exc.DBError:
                return False
        try:
            return real.wait_for(what, tolerant, timeout)
        except AssertionError as error:
            raise AssertionError(f'{error}\n{self.log()}') from None

    def wait_status(self, container, status, timeout=60):
        def reached():
            row = self.row(container)
            if row is None or status is None:
                return row is None and status is None
            return ((row.status, row.task_state) == (status, None)
                    and self.asked(container).operation is None)
        self.eventually(f'{container.uuid} to be {status}', reached, timeout)

    def send(self, container, operation, status=None, **args):
        context = self.accept(container, operation, status, **args)
        try:
            getattr(self.client, f'container_{operation}')(
                context, harness.HOST, container.uuid, **args)
        except exception.BusUnavailable:
            return False
        return True

    def create(self):
        container = self.placed()
        self.client.container_create(self.context, harness.HOST, container.uuid, 0)
        return container


class DeadlockTest(ClusterTestCase):
    def test_now_and_then(self):
        self.serve()
        with engine.get_engine().begin() as connection:
            for table in _TABLES:
                for verb in ('UPDATE', 'INSERT'):
                    connection.execute(sa.text(_DEADLOCK.format(table=table, verb=verb)))
        container = self.create()
        self.wait_status(container, states.RUNNING)
        for operation, accepted, args, after in (
                ('stop', None, {'timeout': 5}, states.STOPPED),
                ('start', None, {}, states.RUNNING),
                ('reboot', states.RESTARTING, {'timeout': 5}, states.RUNNING),
                ('rebuild', states.REBUILDING, {'run': True}, states.RUNNING)):
            self.send(container, operation, accepted, **args)
            self.wait_status(container, after)
            self.assert_owned(container, after)
            self.note(operation, 'deadlocks of the database', after)
        self.send(container, 'delete', states.DELETING, force=False, stop=True)
        self.wait_status(container, None)
        self.assert_gone(container)
        self.note('delete', 'deadlocks of the database', 'gone')


class DatabaseRestartTest(ClusterTestCase):
    @harness.long
    def test_during_creates_and_deletes(self):
        self.serve()
        doomed = [self.create() for _ in range(3)]
        for container in doomed:
            self.wait_status(container, states.RUNNING)
        made = [self.create() for _ in range(8)]
        for container in doomed:
            self.send(container, 'delete', states.DELETING, force=False, stop=True)
        self.addCleanup(lab_base.lab, 'up', 'db')
        lab_base.lab('down', 'db')
        time.sleep(2)  # so long it is away
        lab_base.lab('up', 'db')
        for container in made:
            self.wait_status(container, states.RUNNING, 90)
            self.assert_owned(container, states.RUNNING)
        for container in doomed:
            self.wait_status(container, None, 90)
            self.assert_gone(container)
        before = self.beats()
        self.eventually('the heartbeat', lambda: self.beats() > before)
        self.note('create, delete', 'database restarted', 'Running, gone')


class BusRestartTest(ClusterTestCase):
    def test_away_for_a_while(self):
        self.serve()
        container, stopped = self.create(), self.create()
        for made in (container, stopped):
            self.wait_status(made, states.RUNNING)
        self.addCleanup(lab_base.lab, 'up', 'mq')
        lab_base.lab('down', 'mq')
        gone = time.monotonic()
        self.accept(stopped, 'stop', timeout=5)
        self.wait_status(stopped, states.STOPPED, 30)  # what is recorded needs no bus
        before = self.beats()
        self.eventually('the heartbeat', lambda: self.beats() > before, 5)
        real.wait_for('the time', lambda: time.monotonic() - gone > _AWAY_SECONDS, 90)
        self.assert_owned(container, states.RUNNING)
        lab_base.lab('up', 'mq')
        self.eventually('an answer', lambda: self.answers(container), 40)
        self.eventually('the message', lambda: self.send(container, 'stop', timeout=5), 60)
        self.wait_status(container, states.STOPPED)
        self.assert_owned(container, states.STOPPED)
        self.note('stop', f'bus away for {_AWAY_SECONDS} s', states.STOPPED)

    def answers(self, container):
        try:
            self.client.container_update(self.context, harness.HOST, container.uuid,
                                         {'name': 'renamed'})
        except exception.ZunException:
            return False
        return self.row(container).name == 'renamed'


class TwoAgentsTest(harness.FaultTestCase):
    def command(self):
        return [sys.executable, '-m', 'zun.cmd.compute', '--config-file', str(self.file)]

    def environment(self):
        return {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}

    def test_the_second_refuses(self):
        self.configure(transport_url='kombu+memory://')
        with open(self.log_file, 'ab') as log:
            first = subprocess.Popen(self.command(), env=self.environment(), stdout=log,
                                     stderr=log)
        self.addCleanup(first.wait, 20)
        self.addCleanup(first.kill)
        real.wait_for('the first', lambda: objects.ZunService.list_by_binary(
            self.admin, heartbeat.BINARY), 30)
        second = subprocess.run(self.command(), env=self.environment(), capture_output=True,
                                text=True, timeout=30, check=False)
        self.assertEqual(1, second.returncode, second.stderr)
        self.assertIn(f'Another zun-compute runs for host {harness.HOST}', second.stderr)
        self.assertIsNone(first.poll())
        first.terminate()
        self.assertEqual(0, first.wait(20), self.log())
        self.note('start', 'a second agent of the name', 'it ends with 1 and says why')
