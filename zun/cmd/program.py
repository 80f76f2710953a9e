# SPDX-License-Identifier: Apache-2.0
"""How every program of Zun begins and ends."""

import collections.abc
import sys
import typing as ty

from oslo_config import cfg
from oslo_log import log as logging
from oslo_service import service

from zun.common import config
from zun.common import exception
import zun.conf
from zun.db import engine

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Exit codes of the programs.
FAILED = 1
MISUSED = 2


def configure(name: str, needs_database: bool = True) -> None:
    """Read the configuration, set up the log and check what nothing works without.

    Ends the process with one line on stderr when that fails.
    """
    try:
        config.parse_args(sys.argv[1:], program=name)
        config.setup_logging(name)
        if needs_database:
            engine.check()
    except cfg.Error as error:
        raise SystemExit(f'{name}: {error}') from None
    except exception.ZunException as error:
        raise SystemExit(f'{name}: {error.message}') from None


def serve(name: str, build: collections.abc.Callable[[], ty.Any],
          workers: int = 1) -> ty.NoReturn:
    """Run a service until a signal ends it.

    :param build: makes the oslo.service; all that must not be shared by workers is made in the
        service's own start()
    """
    try:
        launcher = service.launch(CONF, build(), workers=workers, restart_method='mutate')
    except exception.ZunException as error:
        raise SystemExit(f'{name}: {error.message}') from None
    sys.exit(launcher.wait())
