# SPDX-License-Identifier: Apache-2.0
"""zun-scheduler: finds hosts. Any number of them may run."""

from zun.cmd import program
from zun.network import driver as network_driver
from zun.placement import ledger
from zun.rpc import compute
from zun.scheduler import manager
from zun.scheduler import service


def _parts() -> service.Parts:
    books = ledger.load()
    return manager.Manager(books, compute.Client(), network_driver.load().disclaim), books


def build() -> service.SchedulerService:
    """The service, whose way to the ledger and to the nodes is made when it starts."""
    return service.SchedulerService(_parts)


def main() -> None:
    program.configure('zun-scheduler')
    program.serve('zun-scheduler', build)


if __name__ == '__main__':
    main()
