# SPDX-License-Identifier: Apache-2.0
"""What the API needs of the other layers, put together."""

import os
import typing as ty

from oslo_config import cfg
from paste import deploy

from zun.common import config
from zun.common import exception
from zun.common import pools
import zun.conf
from zun.control import clients
from zun.network import driver as network_driver
from zun.placement import ledger
from zun.rpc import compute
from zun.rpc import scheduler
from zun.scheduler import dispatch
from zun.scheduler import manager

CONF = zun.conf.CONF

#: Requests that may wait for a thread of this process; the others wait in the database.
_SCHEDULE_BACKLOG = 200


def connect() -> dispatch.Dispatcher:
    """Build the clients of the control layer; the dispatcher has to be started and stopped."""
    books = ledger.load()
    nodes = compute.Client()
    network = network_driver.load()
    dispatcher = dispatch.Dispatcher(
        CONF.scheduler.mode, scheduler.Client(),
        lambda: manager.Manager(books, nodes, network.disclaim),
        pools.Pool('scheduler', CONF.scheduler.workers, _SCHEDULE_BACKLOG))
    clients.use(clients.Clients(compute=nodes, scheduler=dispatcher, network=network,
                                ledger=books))
    return dispatcher


def application() -> ty.Any:
    """The WSGI application of the paste file.

    :raises ConfigInvalid: there is no paste file
    """
    path = CONF.find_file(CONF.api.api_paste_config) or _packaged()
    if path is None:
        raise exception.ConfigInvalid(
            error_msg=f'[api]/api_paste_config: no file {CONF.api.api_paste_config!r}')
    return deploy.loadapp(f'config:{path}', name='main')


def _packaged() -> str | None:
    """The paste file of the source tree, for installations without /etc/zun."""
    path = os.path.join(os.path.dirname(__file__), '..', '..', 'etc', 'zun',
                        os.path.basename(CONF.api.api_paste_config))
    return os.path.abspath(path) if os.path.exists(path) else None


def configured(argv: list[str]) -> None:
    """Read the configuration inside somebody else's server process."""
    try:
        config.parse_args(argv, program='zun-api')
    except cfg.Error as error:
        raise SystemExit(f'zun-api: {error}') from None
    config.setup_logging('zun-api')
