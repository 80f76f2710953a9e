# SPDX-License-Identifier: Apache-2.0
"""zun-compute in a process of its own, to be killed.

It is forked from a process that has imported everything, so that a test can afford many of them.
"""

import multiprocessing
from multiprocessing import util
import os
import signal
import threading
import time
import typing as ty

from oslo_messaging import conffixture

from zun import objects
from zun.common import config
from zun.common import context as zun_context
from zun.common import exception
from zun.common import failpoints
from zun.compute import manager
from zun.compute import service
from zun.compute import sweep
import zun.conf
from zun.network import embedded
from zun.tests.fault import shelf
from zun.tests.functional.compute import base

CONF = zun.conf.CONF

#: Names of node methods with their arguments, as they come by message.
Calls = ty.Sequence[tuple[str, dict[str, ty.Any]]]

_forks = multiprocessing.get_context('forkserver')
_forks.set_forkserver_preload([__name__])
util.get_temp_dir()  # now: that of a test goes with the test


def start(config_file: str, log_file: str, fail_point: str | None = None, calls: Calls = (),
          serve: bool = False) -> ty.Any:
    """A new agent, as a process of multiprocessing.

    :param fail_point: where it ends itself as SIGKILL would end it
    :param calls: made when it is ready, instead of by messages
    :param serve: it works until SIGTERM; otherwise until nothing is open
    """
    process = _forks.Process(target=_main,
                             args=(config_file, log_file, fail_point, calls, serve), daemon=True)
    process.start()
    return process


def _main(config_file: str, log_file: str, fail_point: str | None, calls: Calls,
          serve: bool) -> None:
    if fail_point:
        os.environ[failpoints.VARIABLE] = fail_point
    with open(log_file, 'a') as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    config.parse_args([], program='zun-compute', default_config_files=[config_file])
    config.setup_logging('zun-compute')
    # These networks know no groups; what surrounds the call is the same for all.
    embedded.EmbeddedDriver.set_security_groups = lambda *_: None
    if serve:
        _serve()
    else:
        conffixture.ConfFixture(CONF).setUp()
        CONF.set_override('transport_url', 'fake:/')
        _work(calls)


def _start(scheduler: base.Scheduler | None) -> service.ComputeService:
    made = service.ComputeService(scheduler)
    made.start()
    made.node.store = shelf.Shelf(CONF.state_path)
    return made


def _serve() -> None:
    sweep.INTERVAL = 2.0
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    agent = _start(None)
    ended.wait()
    agent.stop()


def _work(calls: Calls) -> None:
    agent = _start(base.Scheduler())
    agent.ready.wait()
    context = zun_context.RequestContext(user_id='user', project_id='project')
    for method, args in calls:
        try:
            getattr(manager.Manager(agent.node), method)(context, **args)
        except exception.ZunException as error:
            print(f'{method}: {error.message}')  # noqa: T201 - the log of this process
    while _busy(agent.node):
        time.sleep(0.02)
    agent.stop()


def _busy(node: ty.Any) -> bool:
    """Whether anything is open or runs; work moves between the pools."""
    admin = zun_context.get_admin_context()
    if objects.ContainerRequest.list_open_by_host(admin, CONF.host):
        return True
    return any(pool.depth for pool in (node.pulls, node.lifecycle, node.pulls))
