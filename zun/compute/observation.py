# SPDX-License-Identifier: Apache-2.0
"""The row follows the engine: the one place where an Observed is written into a container."""

import dataclasses
import datetime
import re
import typing as ty

from zun import objects
from zun.common import exception
from zun.common import states
from zun.container import driver as container_driver

_ENGINE_ID = re.compile(r'\b(?:sha256:)?[0-9a-f]{64}\b')
_UNTIDY = re.compile(r'\s+')
_LONGEST_REASON = 1000


def _seconds(time: datetime.datetime | None) -> datetime.datetime | None:
    """Whole seconds, as every database keeps them, so that an equal time is no change."""
    return time and time.replace(microsecond=0)


def apply(container: 'objects.Container', observed: container_driver.Observed,
          otherwise: str | None = None) -> bool:
    """Set what the engine's view changes, in memory.

    :param otherwise: the status when the engine's view leaves it open
    :returns: whether anything changed
    """
    status = observed.status or otherwise
    values: dict[str, ty.Any] = {
        'container_id': observed.engine_id, 'exit_code': observed.exit_code,
        'health': observed.health if observed.running else None,
        'started_at': _seconds(observed.started_at),
        'finished_at': _seconds(observed.finished_at),
        'ports': list(observed.ports), 'runtime': observed.runtime,
        'effective_command': list(observed.command),
        'effective_entrypoint': list(observed.entrypoint)}
    if status is not None:
        values |= {'status': status, 'status_reason': observed.status_reason}
    if not container.hostname:
        values['hostname'] = observed.hostname
    changed = {name: value for name, value in values.items()
               if not container.obj_attr_is_set(name) or getattr(container, name) != value}
    if not changed:
        return False
    for name, value in changed.items():
        setattr(container, name, value)
    # The age in it goes stale: not worth a write by itself.
    container.status_detail = observed.status_detail
    return True


def follow(container: 'objects.Container', observed: container_driver.Observed,
           otherwise: str | None = None) -> bool:
    """Set what changed without an operation of ours.

    A container in Error stays there, with its reason, unless it runs. Why an operation failed is
    told until the status changes.

    :param otherwise: as in :func:`apply`
    """
    if container.status == states.ERROR and not observed.running:
        return False
    if observed.status == container.status and observed.status_reason is None:
        observed = dataclasses.replace(observed, status_reason=container.status_reason)
    return apply(container, observed, otherwise)


def reason(what: str, error: BaseException) -> str:
    """One line for the user: what failed and why, without ids of the engine.

    >>> reason('Start', exception.Conflict('no such file'))
    'Start failed: no such file'
    """
    if isinstance(error, exception.ZunException):
        text = error.message
    else:
        text = 'internal error, see the log of the compute service'
    text = _ENGINE_ID.sub('', text)
    return _UNTIDY.sub(' ', f'{what} failed: {text}').strip()[:_LONGEST_REASON]
