# SPDX-License-Identifier: Apache-2.0
"""Users of the simulated cloud: what zun-api does for POST /v1/containers, without HTTP."""

import concurrent.futures
import time

import cloud
from nodes import NoNetwork

from zun.common import context as zun_context
from zun.control import clients
from zun.control import containers
from zun.placement import ledger
from zun.rpc import compute as rpc_compute
from zun.rpc import scheduler as rpc_scheduler

_PROJECT = 'sim-load'
_VALUES = {'image': 'busybox', 'command': ['sleep', '60'], 'cpu': cloud.CPU,
           'memory': cloud.MEMORY, 'run': True}
_PATIENCE = 600.0


def connect() -> ledger.Ledger:
    """Become an API process; its ledger."""
    books = ledger.load()
    clients.use(clients.Clients(
        compute=rpc_compute.Client(), scheduler=rpc_scheduler.Client(), network=NoNetwork(),
        ledger=books, volumes=None, images=None))
    return books


def create(_number: int = 0, **values: object) -> str:
    """One container; its uuid, at once."""
    context = zun_context.RequestContext(
        user_id='sim', project_id=_PROJECT, roles=['member'], overwrite=False)
    return containers.create(context, {**_VALUES, **values}).uuid


def settled(uuids: list[str], running: bool) -> None:
    """Wait until all are running, or at least have a host.

    :raises SystemExit: one failed, or time is up
    """
    good = "status = 'Running'" if running else 'host IS NOT NULL'
    end = time.monotonic() + _PATIENCE
    names = ', '.join(f"'{uuid}'" for uuid in uuids)
    while True:
        done, failed = cloud.execute(
            f"SELECT COALESCE(SUM({good}), 0), COALESCE(SUM(status = 'Error'), 0) FROM container "
            f'WHERE uuid IN ({names})', cloud.DATABASE)[0]
        if failed:
            reason = cloud.execute("SELECT status_reason FROM container WHERE status = 'Error' "
                                   f'AND uuid IN ({names})', cloud.DATABASE)
            raise SystemExit(f'simulate: {int(failed)} containers failed: {reason[0][0]}')
        if int(done) == len(uuids):
            return
        if time.monotonic() > end:
            raise SystemExit(f'simulate: {len(uuids) - int(done)} containers are not done')
        time.sleep(0.1)


def ended(uuids: list[str]) -> None:
    """Wait until none is being made any more, well or badly."""
    end = time.monotonic() + _PATIENCE
    names = ', '.join(f"'{uuid}'" for uuid in uuids)
    while cloud.execute(f"SELECT COUNT(*) FROM container WHERE (status = 'Creating' OR task_state "
                        f'IS NOT NULL) AND uuid IN ({names})', cloud.DATABASE)[0][0]:
        if time.monotonic() > end:
            raise SystemExit('simulate: containers are being made for ever')
        time.sleep(0.2)


def one_by_one(count: int, running: bool) -> list[str]:
    """Each after the end of the one before."""
    made = []
    for _ in range(count):
        made.append(create())
        settled(made[-1:], running)
    return made


def at_once(count: int, users: int, running: bool) -> tuple[list[str], float]:
    """So many users create without waiting; the seconds until all is done."""
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(users) as pool:
        made = list(pool.map(create, range(count)))
    settled(made, running)
    return made, time.monotonic() - begun
