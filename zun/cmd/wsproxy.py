# SPDX-License-Identifier: Apache-2.0
"""zun-wsproxy: consoles over WebSockets."""

from zun.cmd import program
from zun.console import service


def main() -> None:
    program.configure('zun-wsproxy')
    program.serve('zun-wsproxy', service.ProxyService)


if __name__ == '__main__':
    main()
