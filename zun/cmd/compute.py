# SPDX-License-Identifier: Apache-2.0
"""zun-compute: the agent of one host."""

from zun.cmd import program
from zun.compute import service


def main() -> None:
    program.configure('zun-compute')
    program.serve('zun-compute', service.ComputeService)


if __name__ == '__main__':
    main()
