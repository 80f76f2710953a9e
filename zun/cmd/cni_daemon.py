# SPDX-License-Identifier: Apache-2.0
"""zun-cni-daemon: where zun-cni finds this host."""

from zun.cmd import program
from zun.cni import daemon


def main() -> None:
    program.configure('zun-cni-daemon', needs_database=False)
    program.serve('zun-cni-daemon', daemon.CniService)


if __name__ == '__main__':
    main()
