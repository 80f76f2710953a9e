# SPDX-License-Identifier: Apache-2.0
"""The engine's containers by name: made once, renamed, removed for good."""

import time
import typing as ty

from zun.common import exception
from zun.common import pools
import zun.conf
from zun.container import driver
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import networks
from zun.container.docker import spec
from zun.container.docker import state

CONF = zun.conf.CONF
_REMOVE_TRIES = 4


def path(name: str, verb: str = '') -> str:
    """Path of a call on the container of that name."""
    return f'/containers/{client.quote(name)}{verb}'


def inspect(engine: client.Client, name: str) -> dict[str, ty.Any]:
    return engine.request('GET', path(name, '/json')).json()


def exists(engine: client.Client, name: str) -> bool:
    try:
        inspect(engine, name)
    except errors.Refusal as refusal:
        if refusal.is_gone(name):
            return False
        raise
    return True


def create(engine: client.Client, workload: driver.Workload, body: spec.Parameters) -> None:
    """Make it and connect its networks.

    What bears the name already comes from an earlier try, whose answer got lost, or is a leftover:
    the operation that it was made for tells.

    :raises ImageNotFound: the image went away
    """
    name = state.engine_name(workload.container.uuid)
    _make(engine, name, workload, body)
    for attachment in spec.further_networks(workload):
        networks.connect(engine, name, attachment)


def _make(engine: client.Client, name: str, workload: driver.Workload,
          body: spec.Parameters) -> None:
    limit = CONF.docker.create_timeout
    end, attempt = time.monotonic() + limit, 0
    while True:
        try:
            engine.request('POST', '/containers/create', params={'name': name}, json=body,
                           timeout=limit)
            return
        except errors.Refusal as refusal:
            if refusal.status == 404 and 'no such image' in refusal.message.lower():
                raise exception.ImageNotFound(image=workload.container.image) from refusal
            if not refusal.name_in_use or time.monotonic() > end:
                raise
        except exception.EngineUnavailable:
            if _was_made(engine, name, workload):
                return
            raise
        operation = _operation(engine, name)
        if operation is None:  # it is being made or removed at this moment
            time.sleep(pools.backoff(attempt, 0.02, 1.0))
            attempt += 1
        elif operation and operation == workload.operation:
            return
        else:
            remove(engine, name)


def _was_made(engine: client.Client, name: str, workload: driver.Workload) -> bool:
    """Whether the engine has done what its answer was lost of."""
    try:
        return bool(workload.operation) and _operation(engine, name) == workload.operation
    except (exception.EngineUnavailable, errors.Refusal):
        return False


def _operation(engine: client.Client, name: str) -> str | None:
    """What it was made for; empty when nobody noted it, None when there is none of that name."""
    try:
        labels = inspect(engine, name)['Config'].get('Labels') or {}
    except errors.Refusal as refusal:
        if refusal.is_gone(name):
            return None
        raise
    return labels.get(state.LABEL_OPERATION, '')


def remove(engine: client.Client, name: str) -> None:
    """Kill and remove it with its anonymous volumes, and wait until it is gone.

    One that is not there is success, and so is one that somebody else removes.

    :raises EngineUnavailable: it is still there
    """
    for attempt in range(_REMOVE_TRIES):
        try:
            engine.request('DELETE', path(name), params={'force': '1', 'v': '1'})
            return
        except errors.Refusal as refusal:
            if refusal.is_gone(name):
                return
            if refusal.in_removal:
                _wait_gone(engine, name)
                return
            if refusal.status < 500 or attempt + 1 == _REMOVE_TRIES:
                raise
        time.sleep(pools.backoff(attempt, 0.5, 4.0))


def _wait_gone(engine: client.Client, name: str) -> None:
    limit = CONF.docker.default_timeout
    end, attempt = time.monotonic() + limit, 0
    while exists(engine, name):
        if time.monotonic() > end:
            raise exception.EngineUnavailable(
                f'The container engine has been removing container {name} for {limit} seconds.')
        time.sleep(pools.backoff(attempt, 0.02, 1.0))
        attempt += 1


def rename(engine: client.Client, name: str, new_name: str) -> bool:
    """False when there is none of that name.

    :raises Refusal: the new name is taken
    """
    try:
        engine.request('POST', path(name, '/rename'), params={'name': new_name})
    except errors.Refusal as refusal:
        if refusal.is_gone(name):
            return False
        raise
    return True
