# SPDX-License-Identifier: Apache-2.0
"""A zun-compute in a process of its own, to be killed: it works until nothing is open, then ends.

    python -m zun.tests.functional.compute.agent CONFIG-FILE
"""

import sys
import time

from oslo_messaging import conffixture

from zun import objects
from zun.common import config
from zun.common import context as zun_context
from zun.compute import service
import zun.conf
from zun.tests.functional.compute import base

CONF = zun.conf.CONF


def main() -> None:
    config.parse_args([], program='zun-compute', default_config_files=[sys.argv[1]])
    config.setup_logging('zun-compute')
    conffixture.ConfFixture(CONF).setUp()
    CONF.set_override('transport_url', 'fake:/')
    agent = service.ComputeService(base.Scheduler())
    agent.start()
    agent.ready.wait()
    admin = zun_context.get_admin_context()
    while objects.ContainerRequest.list_open_by_host(admin, CONF.host):
        time.sleep(0.05)
    agent.stop()


if __name__ == '__main__':
    main()
