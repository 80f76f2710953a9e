# SPDX-License-Identifier: Apache-2.0
"""zun-scheduler: finds hosts. Any number of them may run."""

from zun.cmd import program
from zun.network import driver as network_driver
from zun.placement import ledger
from zun.rpc import compute
from zun.scheduler import manager
from zun.scheduler import service


def build() -> service.SchedulerService:
    """The service with its ledger and its way to the nodes."""
    books = ledger.load()
    finder = manager.Manager(books, compute.Client(), network_driver.load().disclaim)
    return service.SchedulerService(finder, books)


def main() -> None:
    program.configure('zun-scheduler')
    program.serve('zun-scheduler', build)


if __name__ == '__main__':
    main()
