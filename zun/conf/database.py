# SPDX-License-Identifier: Apache-2.0
"""Options of the database: those of oslo.db."""

from oslo_config import cfg
from oslo_db import options

GROUP = cfg.OptGroup('database', title='Database')

OPTS: list[cfg.Opt] = options.database_opts
