# SPDX-License-Identifier: Apache-2.0
from collections.abc import Collection
import random

from zun.common import context as zun_context
from zun.scheduler import driver
from zun.scheduler import host_state
from zun.scheduler import request


class ChanceScheduler(driver.SchedulerDriver):
    """Any host that is up and enabled; nothing is claimed."""

    def choose(self, context: zun_context.RequestContext, wanted: request.Request,
               refused: Collection[str] = (), repeated: bool = False) -> driver.Choice:
        hosts = [host for host in driver.left(host_state.read(), wanted, refused) if host.usable]
        random.shuffle(hosts)
        return driver.Choice(hosts, [f'{len(hosts)} up'])
