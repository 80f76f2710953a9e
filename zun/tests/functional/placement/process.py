# SPDX-License-Identifier: Apache-2.0
"""A real Placement as a process of its own, with several workers, on a MariaDB.

``ZUN_TEST_GUNICORN`` is a gunicorn in whose environment Placement is installed; without it the one
beside this Python is taken.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import uuid

import fixtures
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
import requests
import sqlalchemy as sa

from zun.placement import client
from zun.placement import ledger

_CONF = """
[placement_database]
connection = {database}
max_pool_size = 20
[api]
auth_strategy = noauth2
[oslo_policy]
enforce_new_defaults = true
"""
_START_SECONDS = 60


def gunicorn():
    """Path of the server, or None."""
    beside = pathlib.Path(sys.executable).parent
    return os.environ.get('ZUN_TEST_GUNICORN') or shutil.which('gunicorn', path=str(beside))


class Placement(fixtures.Fixture):
    """
    :param server: URL of an account of a MariaDB that may create databases
    :ivar port: it listens on 127.0.0.1
    """

    def __init__(self, server, workers=2, threads=10):
        super().__init__()
        self._server = server
        self._workers = workers
        self._threads = threads

    def _setUp(self):  # noqa: N802
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (directory / 'placement.conf').write_text(_CONF.format(database=self._database()))
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        environment = {**os.environ, 'OS_PLACEMENT_CONFIG_DIR': str(directory)}
        manage = pathlib.Path(gunicorn()).with_name('placement-manage')
        # Several workers that make the schema at once get into each other's way.
        subprocess.run([manage, '--config-dir', directory, 'db', 'sync'], env=environment,
                       check=True, capture_output=True)
        with open(directory / 'log', 'w') as log:
            process = subprocess.Popen(
                [gunicorn(), '-b', f'127.0.0.1:{self.port}', '-w', str(self._workers),
                 '--threads', str(self._threads), 'placement.wsgi.api:application'],
                env=environment, stdout=log, stderr=log)
        self.addCleanup(self._stop, process)
        self._wait(process, directory / 'log')

    def _database(self):
        name = f'placement_test_{uuid.uuid4().hex[:12]}'
        self._execute(f'CREATE DATABASE {name} CHARACTER SET utf8mb4')
        self.addCleanup(self._execute, f'DROP DATABASE {name}')
        return sa.make_url(self._server).set(database=name).render_as_string(
            hide_password=False)

    def _execute(self, statement):
        admin = sa.create_engine(self._server, isolation_level='AUTOCOMMIT')
        with admin.connect() as connection:
            connection.execute(sa.text(statement))
        admin.dispose()

    def _wait(self, process, log):
        """Every worker answers, and writes: standard traits are made at the start."""
        deadline = time.monotonic() + _START_SECONDS
        good = 0
        while good < 10 * self._workers:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f'Placement does not start:\n{log.read_text()}')
            try:
                client.ensure_trait(self.connection(), ledger.DISABLED_TRAIT)
                good += 1
            except Exception:  # noqa: BLE001 - whatever it is, it is not up yet
                good = 0
                time.sleep(0.2)

    @staticmethod
    def _stop(process):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def connection(self):
        """A connection of its own, with the role service."""
        transport = requests.Session()
        transport.mount('http://', requests.adapters.HTTPAdapter(pool_maxsize=64))
        session = ks_session.Session(
            auth=token_endpoint.Token(f'http://127.0.0.1:{self.port}', 'zun:service'),
            session=transport, additional_headers={'X-Roles': 'service'}, timeout=60)
        return client.Connection(ks_adapter.Adapter(
            session, service_type='placement', raise_exc=False, connect_retries=0))
