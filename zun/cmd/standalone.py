# SPDX-License-Identifier: Apache-2.0
"""zun-standalone: API, scheduler and compute in one process, for a laptop, a demo and tests."""

from oslo_service import service

from zun.cmd import program
from zun.cmd import scheduler
from zun.compute import service as compute
import zun.conf
from zun.console import service as console
from zun.wsgi import server

CONF = zun.conf.CONF


class StandaloneService(service.ServiceBase):
    """The services of one process: started in order, stopped in reverse."""

    def __init__(self) -> None:
        self._parts: list[service.ServiceBase] = [scheduler.build(), compute.ComputeService(),
                       server.ApiService(),
                       console.ProxyService()]

    def start(self) -> None:
        for part in self._parts:
            part.start()

    def stop(self) -> None:
        for part in reversed(self._parts):
            part.stop()

    def wait(self) -> None:
        for part in self._parts:
            part.wait()

    def reset(self) -> None:
        for part in self._parts:
            part.reset()


def main() -> None:
    program.configure('zun-standalone')
    program.serve('zun-standalone', StandaloneService)


if __name__ == '__main__':
    main()
