# SPDX-License-Identifier: Apache-2.0
"""Limits of projects and classes."""

from zun.api.schemas import schema
from zun.api.schemas import types

_LIMIT = types.integer(-1, '^-?[0-9]+$', maximum=2147483647)

UPDATE = schema.Schema(
    'quota_update',
    schema.Field('containers', _LIMIT, 'Containers; -1: no limit.'),
    schema.Field('cpu', _LIMIT, 'vCPUs; -1: no limit.'),
    schema.Field('memory', _LIMIT, 'MiB of memory; -1: no limit.'),
    schema.Field('disk', _LIMIT, 'GiB of disk; -1: no limit.'))
