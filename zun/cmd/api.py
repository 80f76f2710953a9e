# SPDX-License-Identifier: Apache-2.0
"""zun-api: the REST API under its own HTTP server."""

from oslo_concurrency import processutils

from zun.cmd import program
import zun.conf
from zun.wsgi import server

CONF = zun.conf.CONF


def main() -> None:
    program.configure('zun-api')
    workers = CONF.api.workers or processutils.get_worker_count()
    program.serve('zun-api', lambda: server.ApiService(shared_port=workers > 1), workers)


if __name__ == '__main__':
    main()
