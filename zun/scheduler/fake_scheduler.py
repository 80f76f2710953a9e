# SPDX-License-Identifier: Apache-2.0
from collections.abc import Collection

from zun.common import context as zun_context
from zun.scheduler import driver
from zun.scheduler import host_state
from zun.scheduler import request


class FakeScheduler(driver.SchedulerDriver):
    """The first host by name, alive or not; nothing is claimed. For tests."""

    def choose(self, context: zun_context.RequestContext, wanted: request.Request,
               refused: Collection[str] = (), repeated: bool = False) -> driver.Choice:
        hosts = sorted(driver.left(host_state.read(), wanted, refused),
                       key=lambda host: host.hostname)
        return driver.Choice(hosts, [f'{len(hosts)} known'])
